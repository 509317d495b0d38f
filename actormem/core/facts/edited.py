"""What the value of a fact is once its text was edited. Pure."""

import re
from typing import Final

from actormem.core.facts.extraction import extract
from actormem.core.facts.sameness import loose, within
from actormem.core.values import Item

__all__ = ["edited_value"]

VALUE_CHARS_MAX: Final = 120  # where nothing tells the value in a text it is the beginning of it
FIRST_PERSON: Final = (
    (re.compile(r"\bthe user's\b", re.IGNORECASE), "my"),
    (re.compile(r"\bthe user is\b", re.IGNORECASE), "I am"),
    (re.compile(r"\bthe user has\b", re.IGNORECASE), "I have"),
    (re.compile(r"\bthe user\b", re.IGNORECASE), "I"),
    (re.compile("用户"), "我"),
)


def edited_value(item: Item, text: str) -> str:
    """The value of an item whose text is to be this one.

    Returns:
        The old value where the text still says it; else what stands in its place in a text that is otherwise the
        same; else what the rules find for the attribute; else the text, shortened.
    """
    if not item.value:
        return ""
    if item.value == item.text:
        return text
    if item.value in text and within(loose(item.value), loose(text)):
        return item.value
    return _in_place(item, text) or _by_rules(item, text) or text[:VALUE_CHARS_MAX].strip()


def _in_place(item: Item, text: str) -> str:
    before, found, after = item.text.partition(item.value)
    same = found and text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)
    return text[len(before) : len(text) - len(after)].strip() if same and before + after else ""


def _by_rules(item: Item, text: str) -> str:
    words = text
    for pattern, own in FIRST_PERSON:
        words = pattern.sub(own, words)
    values = [one.value for one in extract(words) if one.attribute == item.attribute and not one.negated]
    return next((value for value in values if value in text), "")
