"""Reads how the speaker wants to be served: reached by which channel, parcels left where.

Law of the file: one sentence gives at most one fact of a matter. Where it takes one way back and names
another, the fact is the new way; words that were read are blanked, so that nothing is made of them twice.
"""

import re
from typing import Final

import msgspec

from actormem.core.facts.reading import Reading, keep, span
from actormem.core.facts.rules import Wish
from actormem.core.facts.sameness import sense
from actormem.core.facts.sentences import BLANK, Sentence, blank

__all__ = ["wished"]

CLAUSE_CHARS_MAX: Final = 160  # longer is a story
CLAUSES_MAX: Final = 40  # of one sentence; a longer one is a list, not a wish
JOINING: Final = re.compile(r"(?:and|but|so|then)\s+|所以|但是?|不过", re.IGNORECASE)
PLAIN: Final = (("有什么", "有任何"), ("就可以", "就能行"))  # words of a question that ask nothing here

Clause = tuple[int, int]


def wished(reading: Reading, sentence: Sentence, wish: Wish) -> Sentence:
    """Adds the fact of a wish, if there is one; gives the sentence without the words it was read from."""
    words = sentence.text
    plain = words
    for asking, other in PLAIN:
        plain = plain.replace(asking, other)
    until = reading.language.asks_from(plain, sentence.asks)
    if not sentence.asks and wish.general.match(words.lstrip()):  # `when something goes wrong` asks nothing
        until = len(words)
    clauses = [clause for clause in cut(reading, words) if clause[1] <= until]
    before = any(one.negated and one.attribute == wish.keep.attribute for one in reading.facts)
    standing = before or wish.standing.search(words) is not None
    refused = match_in(wish, (wish.refused,), words, clauses)
    shapes = [wish.wanted]
    shapes += [wish.likely] if standing or refused else []
    shapes += [wish.beside] if refused else []
    wanted = match_in(wish, shapes, words, clauses)
    if refused and wanted and meaning(wish, refused) == meaning(wish, wanted):
        wanted = None
    if wanted is None and (refused is None or not for_good(wish, refused)):
        return sentence
    start, end = reach(wish, words, clauses, [one for one in (refused, wanted) if one])
    if settled(reading, sentence, wish, refused, wanted, (start, end)):
        return msgspec.structs.replace(sentence, text=blank(words, start, end))
    return sentence


def cut(reading: Reading, words: str) -> list[Clause]:
    """The clauses of a sentence, by their places, without blanks around them."""
    found: list[Clause] = []
    start = 0
    for stop in (*reading.language.clauses.finditer(words), None):
        end = stop.start() if stop else len(words)
        part = words[start:end]
        if part.strip() and BLANK not in part and len(part) <= CLAUSE_CHARS_MAX:
            found.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
        if stop is None or len(found) == CLAUSES_MAX:
            break
        start = stop.end()
    return found


def match_in(
    wish: Wish,
    shapes: list[re.Pattern[str]] | tuple[re.Pattern[str], ...],
    words: str,
    clauses: list[Clause],
) -> re.Match[str] | None:
    """The first clause that fits a shape and is no request of the moment."""
    for place, clause in enumerate(clauses):
        match = next((found for shape in shapes if (found := shape.fullmatch(words, *clause))), None)
        if match and (wish.firm.search(match[0]) or not near_once(wish, words, clauses, place)):
            return match
    return None


def for_good(wish: Wish, refused: re.Match[str]) -> bool:
    """Whether a refusal says by itself that a way is no longer wanted."""
    return (wish.firm.search(refused[0]) or wish.mine.search(refused[0])) is not None


def meaning(wish: Wish, match: re.Match[str]) -> str:
    begin, end = span(match)
    return sense(wish.keep.attribute, match.string[begin:end])


def near_once(wish: Wish, words: str, clauses: list[Clause], place: int) -> bool:
    """Whether the clause before or after names the one occasion that is meant."""
    for beside in (place - 1, place + 1):
        if 0 <= beside < len(clauses):
            clause = words[slice(*clauses[beside])]
            if wish.once.search(clause) and not wish.general.match(clause):
                return True
    return False


def reach(wish: Wish, words: str, clauses: list[Clause], matches: list[re.Match[str]]) -> Clause:
    """From where to where the wish goes, with the general condition before it."""
    start, end = min(one.start() for one in matches), max(one.end() for one in matches)
    before = [clause for clause in clauses if clause[1] <= start]
    if before and wish.general.match(words[slice(*before[-1])]):
        start = before[-1][0]
    joined = JOINING.match(words, start)
    return (joined.end() if joined else start), end


def settled(
    reading: Reading,
    sentence: Sentence,
    wish: Wish,
    refused: re.Match[str] | None,
    wanted: re.Match[str] | None,
    place: Clause,
) -> bool:
    """Adds the fact; within one message a wish stands before what it replaces. False where none is made."""
    rule, match = (wish.keep, wanted) if wanted else (wish.close, refused)
    assert match is not None, "neither a wish nor a refusal"
    begin, stop = span(match)
    value = sentence.text[begin:stop]
    meant = sense(rule.attribute, value)
    alike = [one for one in reading.facts if one.attribute == rule.attribute and one.subject == "user"]
    if wanted is None:
        if not meant:
            return False
        if any(not one.negated and sense(one.attribute, one.value) != meant for one in alike):
            return True
    else:
        reading.facts[:] = [one for one in reading.facts if one not in alike or not one.negated]
    start, end = place
    told = reading.original[sentence.start + start : sentence.start + end].strip(" ,.，。")
    before = len(reading.facts)
    keep(reading, sentence, rule, start, begin, end, (value,), ("user", reading.language.own), told)
    reading.facts[before:] = [msgspec.structs.replace(one, explicit=True) for one in reading.facts[before:]]
    return True
