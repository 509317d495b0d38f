"""Finds the facts worth remembering in one user message, by rules, offline, in English and Chinese.

Only what the speaker states in his own name counts: no question, no supposition, no report, no quotation, no
pasted text. Callers pass user messages only; system text, notes and summaries never come here.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from actormem.core.facts import attributes
from actormem.core.facts.chinese import CHINESE
from actormem.core.facts.commands import command
from actormem.core.facts.corrections import marked
from actormem.core.facts.english import ENGLISH
from actormem.core.facts.reading import Reading, Stated, by_attribute, keep, statement
from actormem.core.facts.sentences import SCAN_CHARS_MAX, Sentence, own_words, sentences, told, widths
from actormem.core.facts.wishes import wished
from actormem.core.hidden import Seen, seen
from actormem.core.values import Fact

__all__ = ["FACTS_MAX", "extract"]

FACTS_MAX: Final = 20  # a message that states more is a form or a paste, and better read by a model
CLAUSES_MAX: Final = 128  # with a subject; each costs up to 0.1 ms: the loop is never held for long
ANSWER_CHARS_MAX: Final = 120  # an answer to a question is short
PREVIOUS_CHARS: Final = 2_000  # the question stands at the end of the message before
ANSWER_CONFIDENCE: Final = 0.7
LANGUAGES: Final = (CHINESE, ENGLISH)
REFUSAL: Final = re.compile(
    r"(?:no|none|nope|nothing|not|never|skip|why|what|how|i\b|i'd|you|thanks|thank|ok|okay|yes|yeah|"
    r"sure|please|maybe|later|same|idk|don't|that|it|hi|hello)\b"
    r"|不|没|无|算了|为什么|什么|怎么|你|谢|好|是的?$|嗯|对|随便|都行|可以|先|请|我|跳过",
    re.IGNORECASE,
)
CHANNELS: Final = "contact_preference"
NUMBERED: Final = re.compile(r"\d{5}|@")
QUESTION_END: Final = re.compile(r"(?<=[。!?！？])\s*|(?<=\.)\s+|\n")
SURE_WORDS: Final = """
    name phone email budget birthday age address shipping_address size shoe_size allergy language payment seat
    diet hometown contact_preference
"""
SURE: Final = frozenset(
    SURE_WORDS.split()
)  # what an answer may set: values that show by their shape what they are
PLACEY: Final = re.compile(
    r"\d|[省市区县镇乡村路街道巷号楼室栋]|\b(?:street|st|road|rd|avenue|ave|lane|drive|boulevard|apt)\b|"
    r"^[A-Z]",
    re.IGNORECASE,
)


def extract(
    text: str,
    *,
    previous: str = "",
    stated: Sequence[Stated] = (),
    time_ms: int = 0,
    offset_minutes: int = 0,
) -> tuple[Fact, ...]:
    """The facts of one user message.

    Args:
        text: The message; only the first 16,384 characters are read.
        previous: The assistant's message before it: a short answer to its question counts.
        stated: What the user's message before it stated: a correction may speak of it; see `corrects`.
        time_ms: When it was said, UTC milliseconds; 0 where it is not known. Dates what says `tomorrow`.
        offset_minutes: Offset of the speaker's clock from UTC, in minutes.

    Returns:
        At most 20 facts, in the order of their sentences. `value` and `quote` are exact pieces of `text`; a
        value without characters that are hidden in it.

    Cost:
        O(n); below 0.3 ms for a message of a few sentences.
    """
    view = seen(text)
    if view.places is not None:
        if not own_words(widths(text[:SCAN_CHARS_MAX])):
            return ()  # it hides an injected instruction
        facts = extract(
            view.text, previous=previous, stated=stated, time_ms=time_ms, offset_minutes=offset_minutes
        )
        return tuple(as_it_stands(fact, view, text) for fact in facts)
    last = asked(previous, text)
    reading = Reading(text, CHINESE, time_ms, offset_minutes, last=last, stated=tuple(stated))
    message = f" {widths(text[:SCAN_CHARS_MAX]).lower()} "
    wishes = [
        (language, wish)
        for language in LANGUAGES
        for wish in language.wishes
        if any(piece in message for piece in wish.gate)
    ]
    for sentence in sentences(text):
        low = f" {sentence.text.lower()} "
        heard = [language for language in LANGUAGES if any(piece in low for piece in language.gate)]
        wishing = [one for one in wishes if any(piece in low for piece in one[1].gate)]
        if (heard or wishing) and not told(sentence.text):
            rest, before = sentence, len(reading.facts)
            for reading.language, wish in wishing:
                rest = wished(reading, rest, wish)
            for reading.language in heard:
                read_sentence(reading, rest)
            marked(reading, sentence, before)
        if len(reading.facts) >= FACTS_MAX or reading.clauses >= CLAUSES_MAX:
            break
    if not reading.facts and previous:
        return answers(text, previous)
    return tuple(reading.facts[:FACTS_MAX])


def as_it_stands(fact: Fact, view: Seen, text: str) -> Fact:
    """The fact with its quote as it stands in the text, hidden characters and all."""
    place = view.text.find(fact.quote) if fact.quote else -1
    if place < 0:
        return fact
    start, end = view.span(place, place + len(fact.quote))
    return msgspec.structs.replace(fact, quote=text[start:end])


def read_sentence(reading: Reading, sentence: Sentence) -> None:
    language = reading.language
    words = sentence.text
    low = words.lower()
    reading.bare = tuple(
        rule for rule in language.bare if not rule.gate or any(piece in low for piece in rule.gate)
    )
    until = language.asks_from(words, sentence.asks)
    position = 0
    carried: tuple[str, str] | None = None
    for begin in language.starts.finditer(words):
        start = begin.end()
        if start < position:
            continue
        if (end := command(reading, sentence, start, begin.start("lead"))) > start:
            return
        if begin.start() >= until and until < len(words) and start >= until:
            return
        end, carried = statement(reading, sentence, begin, carried)
        position = max(position, end)
        if len(reading.facts) >= FACTS_MAX or reading.clauses >= CLAUSES_MAX:
            return


def asked(previous: str, text: str) -> str:
    """The one attribute of which the assistant spoke last, or an empty string."""
    lines = [line for line in QUESTION_END.split(previous[-PREVIOUS_CHARS:]) if line.strip()]
    named = [name for name in attributes.attribute_names(lines[-1] if lines else "") if name in SURE]
    if CHANNELS in named:  # asked along with what it chooses between: an answer shows which is meant
        named = [name for name in named if name != CHANNELS] if NUMBERED.search(text) else [CHANNELS]
    return named[0] if len(named) == 1 or set(named) == {"address", "shipping_address"} else ""


def answers(text: str, previous: str) -> tuple[Fact, ...]:
    """The fact in a bare answer to the assistant's question, where its shape shows what it is."""
    words = sentences(text)
    question = widths(previous).rstrip()
    attribute = asked(previous, text)
    if (
        len(words) != 1
        or words[0].asks
        or not attribute
        or len(text) > ANSWER_CHARS_MAX
        or not question.endswith("?")
    ):
        return ()
    if not re.search(r"\b(?:you|your)\b|你|您", question, re.IGNORECASE) or REFUSAL.match(
        words[0].text.strip()
    ):
        return ()
    language = CHINESE if CHINESE.letters.search(text) or (CHINESE.letters.search(previous)) else ENGLISH
    rule = by_attribute(language, attribute)
    if rule is None or (attribute.endswith("address") and not PLACEY.search(text)):
        return ()
    reading = Reading(text, language, 0, 0)
    values = rule.read(words[0].text)
    if not values or (attribute == "age" and values[0] != words[0].text.strip(" .岁")):
        return ()
    keep(reading, words[0], rule, 0, 0, 0, values, ("user", language.own))
    return tuple(msgspec.structs.replace(fact, confidence=ANSWER_CONFIDENCE) for fact in reading.facts)
