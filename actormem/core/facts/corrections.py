"""Reads corrections: `不对，是…`, `no, it's …`, `I meant …`, of this message or of the user's message before it.

Law of the file: a correction has the shape of what it corrects, or names it (`it's 950, not 900`). So `no, it's fine`
corrects nothing. The old value of a `many` attribute is taken back; that of a `one` attribute ends by itself.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from actormem.core.facts import attributes
from actormem.core.facts.chinese import CHINESE
from actormem.core.facts.reading import Reading, Stated, by_attribute, keep, sort, span
from actormem.core.facts.rules import Rule
from actormem.core.facts.sameness import loose, within
from actormem.core.facts.sentences import Sentence
from actormem.core.values import Fact

__all__ = ["correct", "corrects", "marked"]

PIECES: Final = """
    no, no. nope sorry oops wait actually correction mistake wrong right, quite, meant scratch misspoke typo
    不对 不是 错了 更正 纠正 抱歉 不好意思 对不起 哦不 等等 其实 口误 笔误 换成 换为 改成 改为
"""
CUES: Final = ("no ", "my bad", "i mean", "make it", "make that", *PIECES.split())
SURE: Final = re.compile(
    r"\b(?:meant|mean|mistake|my bad|correction|wrong|should be|misspoke|typo|scratch)\b"
    r"|错|误|更正|纠正|意思|我是说|想说|应该",
    re.IGNORECASE,
)
HEAD: Final = re.compile(
    r"[\s,]*(?:(?:no|nope|sorry|oops|wait|actually|correction|my mistake|my bad|scratch that|typo)\b"
    r"|(?:that's|i was) wrong\b|不对|不是|我?(?:刚才|刚刚)?[说写打记搞弄填输]?错了|口误|笔误|更正|纠正|抱歉|不好意思|"
    r"对不起|哦不|其实)",
    re.IGNORECASE,
)
NOT_TAIL: Final = re.compile(
    r",? (?:and |)(?:not|rather than|instead of) (?P<old>[^,]{1,60})$|,(?:而)?不是(?P<was>[^,]{1,30})$",
    re.IGNORECASE,
)
HAN: Final = re.compile(r"[\u3400-\u9fff]")
TALK: Final = re.compile(r"[的了你您我他她它这那哪没吗呢吧很太就都说问要想]|不(?!锈)|一样|问题|情况")
ASIDE: Final = re.compile(
    r"(?:to|the|my|your|our|that|this|those|about|it|you|he|she|they|we|is|was|what|how|why|when|where|if|only|just|"
    r"no|not|yes|ok|okay|fine|for|in|on|at|from|with)\b",
    re.IGNORECASE,
)
DAYS: Final = re.compile(
    r"(?:today|tomorrow|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|[今明后]天|周[一二三四五六日末]|星期",
    re.IGNORECASE,
)
FIGURES: Final = re.compile(r"\d+(?:\.\d+)?")
PLAIN_CHARS_MAX: Final = 12  # of a Chinese value without a figure: longer is a sentence
TAKEN_BACK: Final = ("{who} took back: {value}", "{who}收回了：{value}")


def corrects(text: str) -> bool:
    """Whether a message may hold a correction: then what was stated before it is worth looking up."""
    low = text.lower()
    return any(cue in low for cue in CUES)


def correct(reading: Reading, sentence: Sentence, match: re.Match[str]) -> bool:
    """Reads a correction as a new value of what was spoken of last and has its shape."""
    start, end = span(match)
    old = next((match[name] for name in ("old", "was") if match.groupdict().get(name)), "")
    words = sentence.text[start:end]
    if tail := NOT_TAIL.search(words):
        old, words = tail["old"] or tail["was"], words[: tail.start()]
    for stated in _spoken_of(reading, words, old):
        rule, thing = _rule(reading, stated.attribute)
        values = rule.read(words) if rule is not None else ()
        named = bool(old) and _names(old, stated.value)
        if not values or not (
            named or _fits(stated.value, values[0], words, sure=bool(SURE.search(match[0])))
        ):
            continue
        assert rule is not None
        if stated.value.isdigit() and (figure := FIGURES.match(values[0])):
            values = (figure[0],)
        if sort(reading.language, rule, values[0], thing)[0] != stated.attribute:
            continue
        before = len(reading.facts)
        keep(reading, sentence, rule, match.start(), start, 0, values, ("user", reading.language.own), thing)
        made = [msgspec.structs.replace(one, correction=True) for one in reading.facts[before:]]
        reading.facts[before:] = [*_closing(reading, stated, made), *made]
        return True
    return False


def marked(reading: Reading, sentence: Sentence, before: int) -> None:
    """Marks the facts of a sentence that begins as a correction (`no, I live in …`) and gives another value of what
    was stated before it.

    Args:
        before: How many facts there were before the sentence.
    """
    if len(reading.facts) == before or not HEAD.match(sentence.text):
        return
    earlier = [Stated(one.attribute, one.value, one.cardinality) for one in reading.facts[:before]]
    known = {one.attribute: one.value for one in (*reading.stated, *earlier)}
    for place, one in enumerate(reading.facts[before:], before):
        another = one.attribute in known and loose(known[one.attribute]) != loose(one.value)
        if another and one.subject == "user" and one.cardinality == "one" and not one.negated:
            reading.facts[place] = msgspec.structs.replace(one, correction=True)


def _spoken_of(reading: Reading, words: str, old: str) -> list[Stated]:
    """What may be meant, the likeliest first: what is named, then what has the same shape, then what came last."""
    here = [
        Stated(one.attribute, one.value, one.cardinality)
        for one in reversed(reading.facts)
        if one.subject == "user" and not one.negated
    ]
    asked = [Stated(reading.last, "", "one")] if reading.last else []
    found = _once([*here, *asked, *reversed(reading.stated)])
    if old:
        found = [one for one in found if not one.value or _names(old, one.value)]
    return sorted(found, key=lambda one: bool(one.value) and _shape(one.value) != _shape(words))


def _once(found: Iterable[Stated]) -> list[Stated]:
    """The first of each attribute; what an earlier one of it was does not matter any more."""
    kept: dict[str, Stated] = {}
    for one in found:
        if not (kept.get(one.attribute) or Stated("", "", "one")).value:
            kept[one.attribute] = one
    return list(kept.values())


def _rule(reading: Reading, attribute: str) -> tuple[Rule | None, str]:
    """A rule that reads values of the attribute, and the thing it is about: of a favourite, which one."""
    language = reading.language
    if attribute.startswith(attributes.FAVORITE):
        thing = attribute.removeprefix(attributes.FAVORITE)
        own = (zh for zh, en in attributes.THINGS.items() if en == thing and HAN.match(zh))
        return by_attribute(language, "favorite"), next(own, thing) if language is CHINESE else thing
    rule = by_attribute(language, attribute)
    if rule is None and any(name == attribute for name, _ in language.sorts):
        rule = by_attribute(language, "preference")
    return rule, ""


def _names(old: str, value: str) -> bool:
    one, other = loose(old), loose(value)
    return bool(value) and (one == other or within(one, other) or within(other, one))


def _shape(value: str) -> tuple[bool, bool]:
    return any(map(str.isdigit, value)), "@" in value


def _fits(old: str, new: str, words: str, *, sure: bool) -> bool:
    """Whether the new value can stand for the old one, which may be unknown."""
    shape = _shape(new)
    if old and shape != _shape(old):
        return False
    if any(shape):
        return True
    if DAYS.match(new):
        return False
    if HAN.search(new):
        return len(words.strip()) <= PLAIN_CHARS_MAX and not TALK.search(words.rstrip(" 吧。"))
    if ASIDE.match(words.strip()):
        return False
    return sure or (new[:1].isupper() and (not old or old[:1].isupper() or bool(HAN.search(old))))


def _closing(reading: Reading, stated: Stated, made: list[Fact]) -> list[Fact]:
    """What takes back the old value where it would live on beside the new one."""
    kept = {loose(one.value) for one in made}
    if not made or not stated.value or made[0].cardinality == "one" or loose(stated.value) in kept:
        return []
    language = reading.language
    rules = (*language.nouns, *language.predicates, *language.bare)
    close = next((rule for rule in rules if rule.attribute == stated.attribute and rule.negated), None)
    text = close.text if close is not None else TAKEN_BACK[language is CHINESE]
    text = text.format(who=language.own, value=stated.value, thing="")
    return [msgspec.structs.replace(made[0], value=stated.value, text=text, negated=True)]
