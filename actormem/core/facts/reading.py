"""Reads one statement: its subject, the rule that fits, the facts that follow from it.

Law of the file: values and quotes are cut from the message as it was written, by their place in it.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import msgspec

from actormem.core.facts import attributes
from actormem.core.facts.chinese import CHINESE
from actormem.core.facts.rules import Language, Rule
from actormem.core.facts.sentences import Sentence
from actormem.core.values import Cardinality, Fact

__all__ = [
    "OTHER_CONFIDENCE",
    "RULE_CONFIDENCE",
    "Reading",
    "Stated",
    "by_attribute",
    "keep",
    "one_of_several",
    "sort",
    "span",
    "statement",
]

RULE_CONFIDENCE: Final = 0.9
OTHER_CONFIDENCE: Final = 0.8
UNIQUE_WORDS: Final = """
    wife husband partner girlfriend boyfriend spouse mother father boss mother-in-law father-in-law baby
    parents
"""
UNIQUE: Final = frozenset(UNIQUE_WORDS.split())  # of others one has several: a second `friend` is another one
SWITCH: Final = re.compile(
    r"(?P<self>\bI(?:'ve| have)?(?: just| recently)? (?:switched|changed)(?: over)? from "
    r"(?P<old>[^,;:()\x00]{1,60}?) to (?P<new>[^,;:()\x00]{1,60}))"
    r"|(?P<zh>我?(?:已经)?(?:把)?从(?P<before>[^,。\x00]{1,20}?)(?:换成|改成|换到|改用|换为|"
    r"转到)了?(?P<after>[^,。;\x00]{1,20}))",
    re.IGNORECASE,
)
MOMENTS: Final = re.compile(
    r"\b(?:today|tomorrow|tonight|next|this|coming|weekend|Monday|Tuesday|Wednesday|Thursday|Friday|"
    r"Saturday|Sunday)\b|今|明|后天|下周|下个?月|周|星期",
    re.IGNORECASE,
)
GOES_ON: Final = re.compile(r"(?:live|lives|work|works)\b")  # `I am 35, live in Porto, …`
JOINED: Final = re.compile(r"\b(?:and|but)\s", re.IGNORECASE)
DAY: Final = re.compile(r"\s(?:on|in|last|this|since|for|at|because|so)\s", re.IGNORECASE)


class Stated(msgspec.Struct, frozen=True):
    """What the user stated of himself and a correction may speak of; the value is empty where it is not known."""

    attribute: str
    value: str
    cardinality: Cardinality


class Reading(msgspec.Struct):
    """What is known while one message is read, in one language after the other. Lives for one call."""

    original: str
    language: Language
    time_ms: int
    offset_minutes: int
    facts: list[Fact] = []
    last: str = ""  # attribute that a correction speaks of
    stated: tuple[Stated, ...] = ()  # in the user's message before, in order
    clauses: int = 0  # with a subject, read so far
    bare: tuple[Rule, ...] = ()  # rules without a subject that this sentence may have

    def add(self, fact: Fact) -> None:
        """Takes in a fact that was not found yet."""
        same = (fact.subject, fact.attribute, fact.value, fact.negated)
        if all((one.subject, one.attribute, one.value, one.negated) != same for one in self.facts):
            self.facts.append(fact)
            if fact.cardinality == "one" and fact.subject == "user":
                self.last = fact.attribute


def statement(
    reading: Reading, sentence: Sentence, begin: re.Match[str], carried: tuple[str, str] | None
) -> tuple[int, tuple[str, str] | None]:
    """Reads one statement; gives where it ends and the subject that a following clause may go on with."""
    language, words, start = reading.language, sentence.text, begin.end()
    if (switch := SWITCH.match(words, start)) and (end := switched(reading, sentence, switch)):
        return end, ("user", language.own)
    subject = language.subject.match(words, start)
    who: tuple[str, str] | None = carried
    tries: list[tuple[int, tuple[Rule, ...]]] = [(start, reading.bare)]
    if begin["lead"]:
        tries.append((begin.start("lead"), reading.bare))
    if subject:
        reading.clauses += 1
        who = person(language, subject)
        after = subject.end()
        own = subject.groupdict()
        if language is CHINESE:
            tries += [(after, language.predicates), (after, language.nouns)]
        elif own["self"] is not None:
            tries += [(subject.start("self") + 1, language.predicates), (after, language.predicates)]
        elif own["relation"] is not None and own["owns"] is None:
            tries += [(after, language.predicates)]
        else:
            tries += [(after, language.nouns)]
            if own["owns"] is not None:
                tries += [(subject.start("owns"), language.predicates)]
    elif carried and (language is CHINESE or (JOINED.search(begin[0]) or GOES_ON.match(words, start))):
        adverbs = language.adverbs.match(words, start if language is CHINESE else max(start - 1, 0))
        tries.append((adverbs.end() if adverbs else start, language.predicates))
    tried: set[tuple[int, int]] = set()
    for position, rules in tries:
        if (position, id(rules)) in tried:  # the hash of fifty rules costs too much
            continue
        tried.add((position, id(rules)))
        for rule in rules:
            match = rule.pattern.match(words, position)
            speaker = who or ("user", language.own)
            if match and (end := take(reading, sentence, rule, start, match, speaker)):
                if rule.attribute == "employer" and not rule.negated:
                    end = goes_on(reading, sentence, language.behind_employer, start, end, speaker)
                return end, speaker
    return start, who


def goes_on(
    reading: Reading, sentence: Sentence, rules: tuple[Rule, ...], start: int, end: int, who: tuple[str, str]
) -> int:
    """Reads what stands right behind a statement, of the same subject; gives where that ends."""
    for rule in rules:
        match = rule.pattern.match(sentence.text, end)
        if match:
            return max(end, take(reading, sentence, rule, start, match, who))
    return end


def person(language: Language, subject: re.Match[str]) -> tuple[str, str]:
    """The subject's name in facts and in texts."""
    relation, name = subject["relation"], subject["name"] or ""
    if not relation:
        return "user", language.own
    plain = relation.casefold()
    key = language.relations.get(plain, plain)
    return f"{key} {name}".rstrip(), language.other(relation, name)


def one_of_several(subject: str) -> bool:
    """Whether the subject is a person of whom the user has more than one, with no name."""
    return subject != "user" and " " not in subject and subject not in UNIQUE


def span(match: re.Match[str]) -> tuple[int, int]:
    """Where the value stands: the alternatives of a pattern name it differently."""
    for name in ("value", "more", "plain", "last"):
        if name in match.re.groupindex and match.start(name) >= 0:
            return match.span(name)
    return match.end(), match.end()


def by_attribute(language: Language, attribute: str) -> Rule | None:
    """The first rule that states a value of the attribute, or None."""
    rules = (*language.nouns, *language.predicates, *language.bare)
    return next((rule for rule in rules if rule.attribute == attribute and not rule.negated), None)


def take(
    reading: Reading, sentence: Sentence, rule: Rule, start: int, match: re.Match[str], who: tuple[str, str]
) -> int:
    """Adds the facts of a match; gives where it ends, 0 where the words are no such value."""
    begin, end = span(match)
    values = rule.read(sentence.text[begin:end])
    if not values:
        return 0
    thing = match.groupdict().get("thing") or ""
    tail = match.end() if match.end() > end else 0
    return keep(reading, sentence, rule, start, begin, tail, values, who, thing)


def keep(
    reading: Reading,
    sentence: Sentence,
    rule: Rule,
    start: int,
    begin: int,
    tail: int,
    values: tuple[str, ...],
    who: tuple[str, str],
    thing: str = "",
) -> int:
    """Adds one fact a value, found from `begin` on; gives where the words they came from end."""
    words = sentence.text
    places: list[tuple[int, int]] = []
    end = begin
    for value in values:
        place = words.index(value, end)
        end = place + len(value)
        places.append((place, end))
    end = max(end, tail)
    quote = reading.original[sentence.start + start : sentence.start + end].strip()
    for place, after in places:
        value = reading.original[sentence.start + place : sentence.start + after]
        attribute, text = sort(reading.language, rule, value, thing)
        several = one_of_several(who[0])
        reading.add(
            Fact(
                subject=who[0],
                attribute=attribute,
                cardinality="many" if several else attributes.cardinality(attribute),
                value=value,
                text=text.format(who=who[1], value=value, thing=thing) + said(reading, attribute, quote),
                quote=quote,
                kind=attributes.kind(attribute),
                importance=attributes.importance(attribute),
                confidence=RULE_CONFIDENCE if who[0] == "user" else OTHER_CONFIDENCE,
                negated=rule.negated,
            )
        )
    return end


def sort(language: Language, rule: Rule, value: str, thing: str) -> tuple[str, str]:
    """The attribute and the text of a value: some preferences are more than a taste."""
    if rule.attribute == "favorite":
        return attributes.favorite(thing), rule.text
    if rule.attribute == "number":
        return attributes.number(thing), rule.text
    if rule.attribute in ("likes", "preference", "uses"):
        for name, shape in language.sorts:
            if shape.search(value):
                return name, rule.text if rule.negated else language.preferred
    return rule.attribute, rule.text


def said(reading: Reading, attribute: str, quote: str) -> str:
    """When it was said, where the words speak of a day seen from then."""
    if attribute != "plan" or not reading.time_ms or not MOMENTS.search(quote):
        return ""
    zone = timezone(timedelta(minutes=reading.offset_minutes))
    day = datetime.fromtimestamp(reading.time_ms / 1000, UTC).astimezone(zone).date().isoformat()
    return f"(说于{day})" if reading.language is CHINESE else f" (said on {day})"


def switched(reading: Reading, sentence: Sentence, switch: re.Match[str]) -> int:
    """Reads `switched from A to B`: A is closed, B is new. Gives where it ends, or 0."""
    old, new = ("old", "new") if switch["self"] else ("before", "after")
    rules = reading.language.predicates
    use = next(rule for rule in rules if rule.attribute == "uses" and not rule.negated)
    close = next(rule for rule in rules if rule.attribute == "uses" and rule.negated)
    read = next(rule for rule in rules if rule.attribute == "likes").read
    before, after = read(switch[old])[:1], read(DAY.split(switch[new])[0])[:1]
    if not before or not after:
        return 0
    who = ("user", reading.language.own)
    keep(reading, sentence, close, switch.start(), switch.start(old), switch.end(), before, who)
    return keep(reading, sentence, use, switch.start(), switch.start(new), 0, after, who)
