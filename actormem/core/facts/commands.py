"""Reads commands: to remember something, to do something from now on, to correct what was said.

Law of the file: a command that speaks of other people's memories, or asks for a question back, is not kept.
"""

import re
from typing import Final

import msgspec

from actormem.core.facts import attributes
from actormem.core.facts.corrections import correct
from actormem.core.facts.reading import RULE_CONFIDENCE, Reading, span, statement
from actormem.core.facts.sentences import BLANK, OTHERS, Sentence
from actormem.core.values import Fact

__all__ = ["command"]

COMMAND_IMPORTANCE: Final = 0.9
STATES: Final = re.compile(
    r"(?:my|our|i)\b.*\b(?:is|are|am|was|have|has)\b|我.*(?:是|在|有|对)", re.IGNORECASE
)


def command(reading: Reading, sentence: Sentence, start: int, lead: int) -> int:
    """Reads a command, a standing instruction or a correction; gives where it ends, or `start`.

    Args:
        lead: Where the words before it begin (`sorry, …`): a correction may begin with them.
    """
    language, words = reading.language, sentence.text
    for pattern, act in ((language.remember, remember), (language.henceforth, henceforth)):
        if (match := pattern.match(words, start)) and act(reading, sentence, match):
            return match.end()
    if reading.last or reading.facts or reading.stated:
        for begin in (lead, start) if lead < start else (start,):
            if (match := language.correction.match(words, begin)) and correct(reading, sentence, match):
                return match.end()
    return start


def inner(reading: Reading, sentence: Sentence, start: int, end: int) -> bool:
    """Reads the words of a command as statements; they are then explicit."""
    before = len(reading.facts)
    part = Sentence(sentence.start + start, sentence.text[start:end], asks=False)
    position, carried = 0, None
    for begin in reading.language.starts.finditer(part.text):
        if begin.end() >= position:
            stop, carried = statement(reading, part, begin, carried)
            position = max(position, stop)
    for index in range(before, len(reading.facts)):
        fact = reading.facts[index]
        reading.facts[index] = msgspec.structs.replace(
            fact, explicit=True, importance=max(fact.importance, COMMAND_IMPORTANCE)
        )
    return len(reading.facts) > before


def remember(reading: Reading, sentence: Sentence, match: re.Match[str]) -> bool:
    start, end = span(match)
    language = reading.language
    if inner(reading, sentence, start, end):
        return True
    if match.groupdict().get("soft"):
        return False
    kept = language.body(sentence.text[start:end])
    asks = sentence.asks and not STATES.match(kept)
    if not kept or asks or OTHERS.search(kept) or BLANK in kept:
        return False
    order(reading, sentence, match, kept, "note", language.note)
    return True


def henceforth(reading: Reading, sentence: Sentence, match: re.Match[str]) -> bool:
    start, end = span(match)
    language = reading.language
    plain = match.start("plain") >= 0
    if sentence.asks or (
        plain and sentence.text[: match.start()].strip(" ,*-\u2022").casefold() not in ("", "please", "请")
    ):
        return False
    if inner(reading, sentence, start, end):
        return True
    kept = language.body(sentence.text[start:end])
    if not kept or OTHERS.search(kept) or BLANK in kept:
        return False
    if language.pointing.search(kept):
        return False
    attribute = next((name for name, habit in language.habits if habit.search(kept)), "")
    order(reading, sentence, match, kept, attribute or "instruction", language.instruction)
    return True


def order(
    reading: Reading, sentence: Sentence, match: re.Match[str], kept: str, attribute: str, text: str
) -> None:
    """Keeps the words of a command as they are."""
    place = sentence.text.index(kept, match.start()) + sentence.start
    value = reading.original[place : place + len(kept)]
    reading.add(
        Fact(
            subject="user",
            attribute=attribute,
            cardinality=attributes.cardinality(attribute),
            value=value,
            text=text.format(value=value),
            quote=reading.original[sentence.start + match.start() : sentence.start + match.end()].strip(),
            kind=attributes.kind(attribute),
            importance=COMMAND_IMPORTANCE,
            confidence=RULE_CONFIDENCE,
            explicit=True,
        )
    )
