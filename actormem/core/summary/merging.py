"""One summary out of two: the lines of an earlier one and the lines of what was said since.

The law of the file: nothing is written anew. A line goes when a newer one says otherwise (same key, other
value), when its question was answered, or when another line says as much.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from actormem.core.entities.keys import ONE_VALUED
from actormem.core.recall.words import Words
from actormem.core.summary.cues import ADDS, CHANGES
from actormem.core.summary.known_values import FindEntities
from actormem.core.summary.outline import Line
from actormem.core.summary.salience import asks, clauses
from actormem.core.summary.spoken import ARROW
from actormem.core.values import Entity

__all__ = ["merged"]

LINES_MIN, LINES_MAX = 50, 400  # looked at for repetition, depending on the room there is
COVERED_SHARE: Final = 0.8  # of a line's terms in a weightier line: it says the same again
ANSWERED_SHARE: Final = 0.6  # of a question's terms in a later statement: it is the answer

# Kinds of which a key the text names may change its value. Orders, hashes, links and files live side by side.
ONE_VALUE_KINDS: Final = frozenset(
    ("amount", "quantity", "percent", "phone", "email", "address", "date", "time", "duration", "name")
)

Key = tuple[str, str, str]
Value = tuple[str, str]


def merged(
    old: Sequence[Line], new: Sequence[Line], *, lines_max: int, find: FindEntities
) -> tuple[list[Line], frozenset[Value]]:
    """The lines of both that still hold, oldest first; and what newer ones replaced, by kind and normal form.

    Args:
        old: Lines of the earlier summary.
        new: Lines of what was said since, in order.
        lines_max: How many lines there may be room for; the heaviest 50 to 400 are looked at.

    Cost:
        O(characters), and the lines looked at are compared by the terms they share.
    """
    words = Words()
    stated = [(line.speaker, frozenset(words.terms(line.text))) for line in new if line.section != "open"]
    resolved = [line for line in old if line.section != "open" or not is_answered(line, stated, words)]
    current, replaced = without_contradicted(without_said_again([*resolved, *new]), find)
    kept = heaviest(current, min(max(lines_max, LINES_MIN), LINES_MAX))
    return without_repeated(kept, words, find), replaced


def is_answered(line: Line, stated: Sequence[tuple[str, frozenset[str]]], words: Words) -> bool:
    """Whether what another speaker stated since takes up most words of a question."""
    terms = frozenset(words.terms(line.text))
    needed = ANSWERED_SHARE * len(terms)
    return any(speaker != line.speaker and len(terms & said) >= needed for speaker, said in stated)


def without_said_again(lines: Sequence[Line]) -> list[Line]:
    """The lines with the same words only once, and of the same tool call only the newest outcome."""
    newest = {said_by(line): position for position, line in enumerate(lines)}
    return [lines[position] for position in sorted(newest.values())]


def said_by(line: Line) -> tuple[str, str]:
    """Who says what; a tool: what it was asked."""
    return (line.speaker, line.text.partition(ARROW)[0] if line.speaker == "tool" else line.text)


def keyed(line: Line, entities: Sequence[Entity]) -> list[tuple[Key, Entity]]:
    """What a line says of things that have one value at a time, by speaker, kind and the thing's own name."""
    speaker = line.speaker or "user"
    return [
        ((speaker, entity.kind, entity.key), entity)
        for entity in entities
        if entity.key in ONE_VALUED or (entity.kind in ONE_VALUE_KINDS and entity.key != entity.kind)
    ]


def takes_the_place(line: Line, key: str) -> bool:
    """Whether a line's value for a key holds instead of earlier ones: by the key's nature, or as it says."""
    if CHANGES.search(line.text):
        return True
    return key in ONE_VALUED and not ADDS.search(line.text)


def without_contradicted(lines: Sequence[Line], find: FindEntities) -> tuple[list[Line], frozenset[Value]]:
    """The lines without the clauses whose value a later line of the same user replaced, and those values.

    What an assistant offers and a tool finds are several prices and dates of several things: they stand.
    """
    current: dict[int, Line] = dict(enumerate(lines))
    holders: dict[Key, dict[int, Entity]] = {}
    replaced: set[Value] = set()
    for position, line in enumerate(lines):
        if line.section == "open" or line.speaker in ("assistant", "tool") or asks(line.text):
            continue
        said = keyed(line, find(line.text))
        for key, entity in said:
            stated = {other.normal for name, other in said if name == key}
            earlier = holders.setdefault(key, {})
            for place, other in list(earlier.items()):
                if place != position and other.normal not in stated and takes_the_place(line, entity.key):
                    replace_line(current, place, without_value(current.get(place), other))
                    replaced.add((other.kind, other.normal))
                    del earlier[place]
            earlier[position] = entity
    return [current[position] for position in sorted(current)], frozenset(replaced)


def replace_line(current: dict[int, Line], place: int, line: Line | None) -> None:
    if line is None:
        current.pop(place, None)
    else:
        current[place] = line


def without_value(line: Line | None, entity: Entity) -> Line | None:
    """The line without the clauses that hold the value; None where no words are left."""
    if line is None:
        return None
    left = "".join(clause for clause in clauses(line.text) if entity.value not in clause).strip(" ，,；;、…")
    return msgspec.structs.replace(line, text=left) if left else None


def by_weight(lines: Sequence[Line]) -> list[int]:
    """The places of the lines, the heaviest first, of equals the newest."""
    return sorted(range(len(lines)), key=lambda position: (-lines[position].weight, -position))


def heaviest(lines: Sequence[Line], lines_max: int) -> list[Line]:
    return [lines[position] for position in sorted(by_weight(lines)[:lines_max])]


def without_repeated(lines: Sequence[Line], words: Words, find: FindEntities) -> list[Line]:
    """The lines without those whose words and values a weightier line has."""
    ranked = by_weight(lines)
    kept: list[int] = []
    values: dict[int, frozenset[str]] = {}
    holders: dict[str, list[int]] = {}
    for position in ranked:
        terms = frozenset(words.terms(lines[position].text))
        held = frozenset(entity.normal for entity in find(lines[position].text))
        by_tool = lines[position].speaker == "tool"  # fields of a result do not stand for what was said
        shared = Counter(
            place
            for term in terms
            for place in holders.get(term, ())
            if (lines[place].speaker == "tool") == by_tool
        )
        covered = any(
            count >= COVERED_SHARE * len(terms) and held <= values[place] for place, count in shared.items()
        )
        if covered or not terms:
            continue
        kept.append(position)
        values[position] = held
        for term in terms:
            holders.setdefault(term, []).append(position)
    return [lines[position] for position in sorted(kept)]
