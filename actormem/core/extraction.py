"""Finds the facts worth remembering in one user message, by rules, offline, in English and Chinese.

Only what the speaker states in his own name counts: no question, no supposition, no report, no quotation, no pasted text.
Callers pass user messages only; system text, notes and summaries never come here.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import msgspec

from actormem.core import attributes
from actormem.core.rules import Language, Rule
from actormem.core.rules_en import ENGLISH
from actormem.core.rules_zh import CHINESE
from actormem.core.sentences import BLANK, OTHERS, Sentence, sentences, told, widths
from actormem.core.values import Fact

__all__ = ["extract"]

FACTS_MAX: Final = 20  # a message that states more is a form or a paste, and better read by a model
ANSWER_CHARS_MAX: Final = 120  # an answer to a question is short
PREVIOUS_CHARS: Final = 2_000  # the question stands at the end of the message before
RULE_CONFIDENCE: Final = 0.9
ANSWER_CONFIDENCE: Final = 0.7
OTHER_CONFIDENCE: Final = 0.8
COMMAND_IMPORTANCE: Final = 0.9
LANGUAGES: Final = (CHINESE, ENGLISH)
UNIQUE: Final = frozenset(
    "wife husband partner girlfriend boyfriend spouse mother father boss mother-in-law father-in-law baby parents".split()
)  # of others one has several, so that a second `friend` is not the first one changed
SWITCH: Final = re.compile(
    r"(?P<self>\bI(?:'ve| have)?(?: just| recently)? (?:switched|changed)(?: over)? from (?P<old>[^,;:()\x00]{1,60}?) to (?P<new>[^,;:()\x00]{1,60}))"
    r"|(?P<zh>我?(?:已经)?(?:把)?从(?P<before>[^,。\x00]{1,20}?)(?:换成|改成|换到|改用|换为|转到)了?(?P<after>[^,。;\x00]{1,20}))",
    re.IGNORECASE,
)
REFUSAL: Final = re.compile(
    r"(?:no|none|nope|nothing|not|never|skip|why|what|how|i\b|i'd|you|thanks|thank|ok|okay|yes|yeah|sure|please|maybe|later|same|idk|don't|that|it|hi|hello)\b"
    r"|不|没|无|算了|为什么|什么|怎么|你|谢|好|是的?$|嗯|对|随便|都行|可以|先|请|我|跳过",
    re.IGNORECASE,
)
STATES: Final = re.compile(r"(?:my|our|i)\b.*\b(?:is|are|am|was|have|has)\b|我.*(?:是|在|有|对)", re.IGNORECASE)
QUESTION_END: Final = re.compile(r"(?<=[。!?！？])\s*|(?<=\.)\s+|\n")
SURE: Final = frozenset(
    "name phone email budget birthday age address shipping_address size shoe_size allergy language payment seat diet hometown".split()
)  # what an answer may set: values that show by their shape what they are
MOMENTS: Final = re.compile(
    r"\b(?:today|tomorrow|tonight|next|this|coming|weekend|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|今|明|后天|下周|下个?月|周|星期",
    re.IGNORECASE,
)
PLACEY: Final = re.compile(r"\d|[省市区县镇乡村路街道巷号楼室栋]|\b(?:street|st|road|rd|avenue|ave|lane|drive|boulevard|apt)\b|^[A-Z]", re.IGNORECASE)


class Reading(msgspec.Struct):
    """What is known while one message is read. Lives for one call."""

    original: str
    language: Language
    time_ms: int
    offset_minutes: int
    facts: list[Fact] = []
    last: str = ""  # attribute that a correction speaks of

    def add(self, fact: Fact) -> None:
        same = (fact.subject, fact.attribute, fact.value, fact.negated)
        if all((one.subject, one.attribute, one.value, one.negated) != same for one in self.facts):
            self.facts.append(fact)
            if fact.cardinality == "one" and fact.subject == "user":
                self.last = fact.attribute


def extract(text: str, *, previous: str = "", time_ms: int = 0, offset_minutes: int = 0) -> tuple[Fact, ...]:
    """The facts of one user message.

    Args:
        text: The message; only the first 16,384 characters are read.
        previous: The assistant's message before it: a short answer to its question counts.
        time_ms: When it was said, UTC milliseconds; 0 where it is not known. Dates a plan that says `tomorrow`.
        offset_minutes: Offset of the speaker's clock from UTC, in minutes.

    Returns:
        At most 20 facts, in order of appearance. `value` and `quote` are exact pieces of `text`.

    Cost:
        O(n); below 0.3 ms for a message of a few sentences.
    """
    facts: list[Fact] = []
    last = asked(previous)
    for sentence in sentences(text):
        low = f" {sentence.text.lower()} "
        heard = [language for language in LANGUAGES if any(piece in low for piece in language.gate)]
        if heard and not told(sentence.text):
            for language in heard:
                reading = Reading(text, language, time_ms, offset_minutes, facts, last)
                read_sentence(reading, sentence)
                last = reading.last
        if len(facts) >= FACTS_MAX:
            break
    if not facts and previous:
        facts.extend(answers(text, previous))
    return tuple(facts[:FACTS_MAX])


def read_sentence(reading: Reading, sentence: Sentence) -> None:
    language = reading.language
    words = sentence.text
    until = language.asks_from(words, sentence.asks)
    position = 0
    carried: tuple[str, str] | None = None
    for begin in language.starts.finditer(words):
        start = begin.end()
        if start < position:
            continue
        if (end := command(reading, sentence, start)) > start:
            return
        if begin.start() >= until and until < len(words) and start >= until:
            return
        end, carried = statement(reading, sentence, begin, carried)
        position = max(position, end)
        if len(reading.facts) >= FACTS_MAX:
            return


def command(reading: Reading, sentence: Sentence, start: int) -> int:
    """Reads a command to remember, a standing instruction or a correction; gives where it ends, or `start`."""
    language, words = reading.language, sentence.text
    for pattern, act in ((language.remember, remember), (language.henceforth, henceforth)):
        if (match := pattern.match(words, start)) and act(reading, sentence, match):
            return match.end()
    if reading.last and (match := language.correction.match(words, start)) and correct(reading, sentence, match):
        return match.end()
    return start


def span(match: re.Match[str]) -> tuple[int, int]:
    """Where the value stands: the alternatives of a pattern name it differently."""
    for name in ("value", "more", "plain", "last"):
        if name in match.re.groupindex and match.start(name) >= 0:
            return match.span(name)
    return match.end(), match.end()


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
        reading.facts[index] = msgspec.structs.replace(fact, explicit=True, importance=max(fact.importance, COMMAND_IMPORTANCE))
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
    if sentence.asks:
        return False
    if inner(reading, sentence, start, end):
        return True
    kept = language.body(sentence.text[start:end])
    if not kept or OTHERS.search(kept) or BLANK in kept:
        return False
    attribute = next((name for name, sort in language.sorts if name in ("language", "reply_length") and sort.search(kept)), "")
    order(reading, sentence, match, kept, attribute or "instruction", language.instruction)
    return True


def order(reading: Reading, sentence: Sentence, match: re.Match[str], kept: str, attribute: str, text: str) -> None:
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


def correct(reading: Reading, sentence: Sentence, match: re.Match[str]) -> bool:
    """Reads a correction as a new value of what was spoken of last."""
    rule = by_attribute(reading.language, reading.last)
    if rule is None:
        return False
    start, end = span(match)
    values = rule.read(sentence.text[start:end])
    if not values:
        return False
    keep(reading, sentence, rule, match.start(), start, 0, values, ("user", reading.language.own))
    return True


def by_attribute(language: Language, attribute: str) -> Rule | None:
    rules = (*language.nouns, *language.predicates, *language.bare)
    return next((rule for rule in rules if rule.attribute == attribute and not rule.negated), None)


def statement(
    reading: Reading, sentence: Sentence, begin: re.Match[str], carried: tuple[str, str] | None
) -> tuple[int, tuple[str, str] | None]:
    """Reads one statement; gives where it ends and the subject that a following clause may go on with."""
    language, words, start = reading.language, sentence.text, begin.end()
    if (switch := SWITCH.match(words, start)) and (end := switched(reading, sentence, switch)):
        return end, ("user", language.own)
    subject = language.subject.match(words, start)
    who: tuple[str, str] | None = carried
    tries: list[tuple[int, tuple[Rule, ...]]] = [(start, language.bare)]
    if begin["lead"]:
        tries.append((begin.start("lead"), language.bare))
    if subject:
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
    elif carried:
        adverbs = language.adverbs.match(words, start if language is CHINESE else max(start - 1, 0))
        tries.append((adverbs.end() if adverbs else start, language.predicates))
    for position, rules in dict.fromkeys(tries):
        for rule in rules:
            match = rule.pattern.match(words, position)
            if match and (end := take(reading, sentence, rule, start, match, who or ("user", language.own))):
                return end, who or ("user", language.own)
    return start, who


def person(language: Language, subject: re.Match[str]) -> tuple[str, str]:
    """The subject's name in facts and in texts."""
    relation, name = subject["relation"], subject["name"] or ""
    if not relation:
        return "user", language.own
    plain = relation.casefold()
    key = language.relations.get(plain, plain)
    return f"{key} {name}".rstrip(), language.other(relation, name)


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
        several = who[0] != "user" and " " not in who[0] and who[0] not in UNIQUE
        reading.add(
            Fact(
                subject=who[0],
                attribute=attribute,
                cardinality="many" if several else attributes.cardinality(attribute),
                value=value,
                text=text.format(who=who[1], value=value, thing=thing) + said(reading, attribute, value),
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


def said(reading: Reading, attribute: str, value: str) -> str:
    """When it was said, where the value speaks of a day seen from then."""
    if attribute != "plan" or not reading.time_ms or not MOMENTS.search(value):
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
    before, after = read(switch[old])[:1], read(switch[new])[:1]
    if not before or not after:
        return 0
    who = ("user", reading.language.own)
    keep(reading, sentence, close, switch.start(), switch.start(old), switch.end(), before, who)
    return keep(reading, sentence, use, switch.start(), switch.start(new), switch.end(), after, who)


def asked(previous: str) -> str:
    """The one attribute of which the assistant spoke last, or an empty string."""
    lines = [line for line in QUESTION_END.split(previous[-PREVIOUS_CHARS:]) if line.strip()]
    named = [name for name in attributes.attribute_names(lines[-1] if lines else "") if name in SURE]
    return named[0] if len(named) == 1 or set(named) == {"address", "shipping_address"} else ""


def answers(text: str, previous: str) -> tuple[Fact, ...]:
    """The fact in a bare answer to the assistant's question, where its shape shows what it is."""
    words = sentences(text)
    question = widths(previous).rstrip()
    attribute = asked(previous)
    if len(words) != 1 or words[0].asks or not attribute or len(text) > ANSWER_CHARS_MAX or not question.endswith("?"):
        return ()
    if not re.search(r"\b(?:you|your)\b|你|您", question, re.IGNORECASE) or REFUSAL.match(words[0].text.strip()):
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
