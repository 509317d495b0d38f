"""What becomes of a model's reply before it may be remembered.

The law of the file: nothing is believed that its message does not say in these very characters. A fact whose quote
or value is not there is left out and counted; a sentence that says more than its message gives way to the quote.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import msgspec

from actormem.core.entities import find_entities, same_value
from actormem.core.entities.numbers import NUMBER
from actormem.core.facts import attributes
from actormem.core.facts.chinese import RELATIONS
from actormem.core.facts.found import Found, times_of
from actormem.core.facts.reading import MOMENTS, UNIQUE
from actormem.core.facts.request import Said
from actormem.core.facts.sentences import BLANK, OTHERS, SCAN_CHARS_MAX, own_words, sentences, told, widths
from actormem.core.replies import json_of
from actormem.core.summary.known_values import FindEntities, KnownValues, same_characters
from actormem.core.summary.orders import gives_orders, has_role_marks
from actormem.core.text import HAN, language, normal
from actormem.core.values import Fact, ItemKind, Message

__all__ = ["FactsRead", "read_facts"]

FACTS_EACH_MAX: Final = 12  # of one message; more is a paste, or a model that goes on and on
QUOTE_CHARS_MAX: Final = 400
VALUE_CHARS_MAX: Final = 300
TEXT_CHARS_MAX: Final = 400
SUBJECT_CHARS_MAX: Final = 60
CONFIDENCE_MIN: Final = 0.3  # below it the model says itself that it guesses
WHOLE_PART: Final = 0.8  # of a question: a quote that is most of it is the question

ATTRIBUTE: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
NOT_SNAKE: Final = re.compile(r"[^a-z0-9]+")
CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NUMBERS: Final = re.compile(NUMBER, re.IGNORECASE)
LATIN: Final = re.compile(r"[A-Za-z]{2,}")
HAN_PAIR: Final = re.compile(f"{HAN.pattern}{{2,}}")
TIMES: Final = re.compile(
    r"\d|\b(?:until|till|through|since|from|ends?|expires?|week|month|year|spring|summer|autumn|fall|winter)\b"
    r"|到|至|直到|截止|之前|以前|为止|从|起|年|月|天|日|春|夏|秋|冬",
    re.IGNORECASE,
)
TIME_KINDS: Final = frozenset(("date", "time", "duration"))
KINDS: Final[dict[str, ItemKind]] = {"fact": "fact", "preference": "preference", "event": "event"}
RELATION_NAMES: Final = frozenset((*RELATIONS.values(), *UNIQUE, "sister", "brother", "children", "family"))
SPEAKERS: Final = frozenset(("user", "speaker", "me", "i", "self", "the user", "用户", "我"))


class FactsRead(msgspec.Struct, frozen=True):
    """What a reply tells, in its order, and how many of its facts were left out as not proven."""

    found: tuple[Found, ...]
    refused_count: int


class Row(msgspec.Struct):
    """A fact as the model wrote it; what else it wrote is passed over."""

    message: int
    quote: str
    value: str | int | float
    attribute: str
    subject: str = "user"
    text: str = ""
    kind: str = "fact"
    importance: float = 0.5
    confidence: float = 0.8
    negated: bool = False
    valid_from: str | None = None
    valid_until: str | None = None


class Reply(msgspec.Struct):
    """The whole reply; a fact that is of no use must not spoil the others."""

    facts: list[msgspec.Raw]


class Proof:
    """What one message says, against which its facts are held; made once for all of them."""

    def __init__(self, said: Said, find: FindEntities) -> None:
        self.said = said
        self._find = find
        self._wide = widths(said.text)

    @cached_property
    def own(self) -> str:
        """The message with everything blanked that the speaker does not say in his own name."""
        return own_words(self._wide[:SCAN_CHARS_MAX])

    @cached_property
    def known(self) -> KnownValues:
        """The values of the message and of what was said before it."""
        said = self.said
        message = Message(
            role="user", content=said.text, time_ms=said.time_ms, offset_minutes=said.offset_minutes
        )
        return KnownValues([message, said.before], find=self._find)

    @cached_property
    def words(self) -> str:
        """All words of both, for comparing."""
        return normal(f"{self.said.text}\n{self.said.before}")

    @cached_property
    def speaks_of_time(self) -> bool:
        """Whether the message says anything of when."""
        text = self.said.text
        kinds = {entity.kind for entity in self.known.entities}
        return bool(kinds & TIME_KINDS) or bool(MOMENTS.search(text) or TIMES.search(text))

    def quoted(self, words: str) -> str:
        """The words as they stand in the message, in the speaker's own name; empty where they do not."""
        wanted = widths(words.strip())
        place = self._wide.find(wanted) if 0 < len(wanted) <= QUOTE_CHARS_MAX else -1
        while place >= 0:
            end = place + len(wanted)
            if BLANK not in self.own[place:end] and end <= len(self.own) and self._stated(place, end):
                return self.said.text[place:end]
            place = self._wide.find(wanted, place + 1)
        return ""

    def valued(self, value: str, quote: str) -> str:
        """The value as it stands in the quote, whole; numbers are compared as values. Empty where it does not."""
        wanted, wide = widths(value.strip()), widths(quote)
        if not 0 < len(wanted) <= VALUE_CHARS_MAX:
            return ""
        place = wide.find(wanted)
        if place < 0 and len(wide.lower()) == len(wide):
            place = wide.lower().find(wanted.lower())
        if place >= 0:
            piece = quote[place : place + len(wanted)]
            return piece if same_characters(piece, normal(quote)) else ""
        values = [entity.value for entity in self._find(quote)]
        values += [run.group() for run in NUMBERS.finditer(quote)]
        return next((one for one in values if one in quote and same_value(value, one)), "")

    def sentence(self, text: str, value: str, quote: str) -> str:
        """The model's sentence where it says no more than the message; else the quote. Empty for orders."""
        text = " ".join(text.split())
        tongue = language(self.said.text)
        foreign = LATIN if tongue == "zh" else HAN_PAIR
        proven = (
            value in text
            and len(text) <= TEXT_CHARS_MAX
            and tongue in (language(text), language(text.replace(value, "")))
            and all(normal(word) in self.words for word in foreign.findall(text))
            and not gives_orders(text)
            and not has_role_marks(text)
            and not self.known.made_up(text)
        )
        if proven:
            return text
        if gives_orders(quote) or has_role_marks(quote) or OTHERS.search(quote):
            return ""
        return f"用户说：{quote}" if tongue == "zh" else f'The user said: "{quote}"'

    def subject(self, subject: str) -> str:
        """Whom it is about: `user`, a relation, or a name that was said; empty for any other."""
        subject = " ".join(subject.split())
        if subject.casefold() in SPEAKERS:
            return "user"
        if not 0 < len(subject) <= SUBJECT_CHARS_MAX:
            return ""
        relation = max(
            (name for name in RELATION_NAMES if f"{subject.casefold()} ".startswith(f"{name} ")),
            key=len,
            default="",
        )
        name = subject[len(relation) :].strip()
        if name and not same_characters(name, self.words):
            return ""
        return f"{relation} {name}".strip()

    def _stated(self, start: int, end: int) -> bool:
        """Whether the words stand in no supposition, no report and are no question."""
        for one in sentences(self.said.text):
            shared = min(end, one.start + len(one.text)) - max(start, one.start)
            if shared > 0 and (told(one.text) or (one.asks and shared >= WHOLE_PART * len(one.text.strip()))):
                return False
        return True


def read_facts(reply: str, said: Sequence[Said], *, find: FindEntities = find_entities) -> FactsRead | None:
    """The facts of a reply that their messages bear out; None where the reply is not the JSON it should be.

    Args:
        reply: The model's words: a JSON object, perhaps in a fence or behind thoughts.
        said: The messages that were sent; a fact's `message` counts them from 1.
        find: Finds the entities of a text.

    Cost:
        O(characters) of the messages and the reply.
    """
    rows = rows_of(reply)
    if rows is None:
        return None
    proofs: dict[int, Proof] = {}
    counts: dict[int, int] = {}
    found: list[Found] = []
    for raw in rows[: FACTS_EACH_MAX * len(said)]:
        try:
            row = msgspec.json.decode(raw, type=Row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if not 1 <= row.message <= len(said) or counts.get(row.message, 0) >= FACTS_EACH_MAX:
            continue
        if row.message not in proofs:
            proofs[row.message] = Proof(said[row.message - 1], find)
        one = fact_of(row, proofs[row.message])
        if one is not None:
            counts[row.message] = counts.get(row.message, 0) + 1
            found.append(one)
    return FactsRead(tuple(found), len(rows) - len(found))


def rows_of(reply: str) -> list[msgspec.Raw] | None:
    """The facts of the reply, each as its JSON; whatever stands around the object is passed over."""
    body = json_of(reply)
    if not body:
        return None
    try:
        if body.startswith("["):
            return msgspec.json.decode(body, type=list[msgspec.Raw])
        return msgspec.json.decode(body, type=Reply).facts
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


def fact_of(row: Row, proof: Proof) -> Found | None:
    """The fact as its message bears it out, or None."""
    attribute = NOT_SNAKE.sub("_", CAMEL.sub("_", row.attribute).lower()).strip("_")
    quote = proof.quoted(row.quote)
    value = proof.valued(str(row.value), quote) if quote else ""
    subject = proof.subject(row.subject)
    if not value or not subject or not ATTRIBUTE.fullmatch(attribute) or row.confidence < CONFIDENCE_MIN:
        return None
    text = proof.sentence(row.text, value, quote)
    if not text:
        return None
    listed = attribute in attributes.ATTRIBUTES or attribute.startswith(attributes.FAVORITE)
    several = subject != "user" and " " not in subject and subject not in UNIQUE
    weight = min(1.0, max(0.0, row.importance))
    fact = Fact(
        subject=subject,
        attribute=attribute,
        cardinality="many" if several else attributes.cardinality(attribute),
        value=value,
        text=text,
        quote=quote,
        kind=attributes.kind(attribute) if listed else KINDS.get(row.kind, "fact"),
        importance=max(weight, attributes.importance(attribute)) if listed else weight,
        confidence=min(1.0, row.confidence),
        negated=row.negated,
    )
    dated = proof.speaks_of_time
    event_ms, expires_ms = times_of(
        proof.said, fact, row.valid_from if dated else None, row.valid_until if dated else None
    )
    return Found(said=proof.said, fact=fact, event_ms=event_ms, expires_ms=expires_ms)
