"""What a context's note is made of: whether to ask long-term memory, what for, and how much room it may want.

Law of the file: everything here is decided from the session's state; nothing waits and nothing is recorded.
"""

from collections.abc import Callable, Sequence
from itertools import islice

import msgspec

from actormem.actors.memory_messages import Recalled, Shown
from actormem.core.context.assembly import recall_ceiling
from actormem.core.context.fitting import over_budget
from actormem.core.context.notes import (
    OLD_CHARACTERS,
    Line,
    changed_line,
    gone_line,
    hit_line,
    in_short,
    with_outdated,
    words_of,
)
from actormem.core.context.shares import in_shares
from actormem.core.context.shorten import Counter
from actormem.core.context.tasks import FRAME_TOKENS, task_change, within
from actormem.core.entities import EntityRow
from actormem.core.entities.index import ValueIndex
from actormem.core.policy import policy_of
from actormem.core.recall.gate import BEFORE_MAX, Gate, gate
from actormem.core.recall.words import Words
from actormem.core.session.working import Entry, Working
from actormem.core.summary.excerpt import Asked
from actormem.core.text import language, one_line
from actormem.core.values import Hit

__all__ = [
    "Said",
    "explained",
    "gate_of",
    "reserve_of",
    "said",
    "value_lines",
    "wants_profile",
    "without_note",
]

VALUE_ROWS = 4  # exact values a note brings back for a message that names them


class Said(msgspec.Struct, frozen=True):
    """Lines of a note, best first; and of its profile, None where it was not asked for or did not come."""

    lines: Sequence[Line] = ()
    profile: Sequence[Line] | None = None


def gate_of(state: Working, entry: Entry | None, query: str) -> Gate:
    """Whether to recall for the newest user message, or for what was asked."""
    settings = state.settings
    if not policy_of(settings.policy).recalls:
        return Gate(False, f"the policy {settings.policy}", "")
    if query:
        return Gate(True, "asked for", query)
    if not settings.budget.recall_tokens:
        return Gate(False, "no share for memories", "")
    assert entry is not None
    before: list[str] = []
    reply = ""
    for one in reversed(state.entries):
        if one.sequence >= entry.sequence:
            continue
        if one.message.role == "assistant" and not before and not reply:
            reply = one.message.text
        elif one.message.role == "user":
            before.insert(0, one.message.text)
            if len(before) > BEFORE_MAX:  # one more than is used: small talk between is passed over
                break
    return gate(entry.message.text, before=before, reply=reply)


def explained(asked: Gate, recalled: Recalled, degraded: Sequence[str]) -> Gate:
    """The gate's answer, with what came of it where nothing did."""
    if not asked.open or recalled.hits or degraded or not recalled.considered_count:
        return asked
    came = f"none of {recalled.considered_count} memories is relevant and not in sight"
    return msgspec.structs.replace(asked, reason=f"{asked.reason}; {came}")


def wants_profile(state: Working) -> bool:
    """Whether this note may be the first of an epoch, of the one there is or of one that fitting will begin."""
    budget = state.settings.budget
    if not budget.profile_tokens:
        return False
    return not state.profiled or over_budget(state, budget.recall_tokens + budget.task_tokens)


def said(
    state: Working,
    query: str,
    recalled: Recalled,
    values: Callable[[], Sequence[Line]],
    counter: Counter,
    vocabulary: Words,
) -> Said:
    """What a note should say, the most certain help first.

    Corrections of what was shown; facts whose attribute the message names; exact values it names; other memories.

    Args:
        values: The lines of exact values, as `value_lines` gives them.
        vocabulary: For the loop's thread.
    """
    entry = state.newest_user
    words = words_of(entry.message) if entry is not None else language(query)
    lines = _corrections(recalled.changed, words)
    lines += [gone_line(id, words) for id in recalled.gone]
    told = {id for line in lines for id, _ in line.marks}
    asked = query or (entry.message.text if entry is not None else "")
    room = state.settings.budget.recall_tokens
    hits = [hit for hit in recalled.hits if hit.item.id not in told]
    names = recalled.attributes
    query_words = Asked(asked, vocabulary)
    shares = in_shares(
        hits,
        lambda hit, characters: _hit_line(hit, query_words, words, room, characters),
        share_tokens=recall_ceiling(state),
        count=counter.count,
    )
    found = list(zip(hits, shares, strict=True))
    lines += [line for hit, line in found if hit.item.attribute in names]
    lines += values()
    lines += [line for hit, line in found if hit.item.attribute not in names]
    if state.profiled or recalled.profile is None:
        return Said(lines)
    return Said(lines, [hit_line(item) for item in recalled.profile if item.id not in told])


def _hit_line(hit: Hit, asked: Asked, words: str, note_tokens: int, characters: int) -> Line:
    short = in_short(hit.item, asked, note_tokens, characters)
    return with_outdated(hit_line(short, hit.before, characters), hit.outdated, words)


def _corrections(changed: Sequence[Shown], words: str) -> list[Line]:
    """A line for each thing that holds instead, with all it takes the place of; one for each that ended for nothing.

    Where earlier notes are corrected they may not stand without it; what the user said stands in any case.
    """
    groups: dict[str, list[Shown]] = {}
    for one in changed:
        groups.setdefault(one.replacement.id if one.replacement else f"without {one.item.id}", []).append(one)
    lines: list[Line] = []
    for group in groups.values():
        old = [one_line(one.words or one.item.value or one.item.text, OLD_CHARACTERS) for one in group]
        every = [
            changed_line(one.item, one.replacement, words, said=said)
            for one, said in zip(group, old, strict=True)
        ]
        joined = (", " if words == "en" else "、").join(dict.fromkeys(old))
        line = changed_line(group[0].item, group[0].replacement, words, said=joined)
        lines.append(
            msgspec.structs.replace(
                line,
                marks=tuple(dict.fromkeys(mark for one in every for mark in one.marks)),
                by_user=all(one.by_user for one in every),
                takes_back=not all(one.words for one in group),
            )
        )
    return lines


def value_lines(state: Working, query: str, values: ValueIndex) -> list[Line]:
    """Exact values named that the context shows nowhere: by the message before those of what the query adds to it."""
    if not policy_of(state.settings.policy).shows_values:
        return []
    entry = state.newest_user
    asked = (entry.message.text if entry is not None else "", query)
    visible = {one.sequence for one in state.view if one.tokens == one.whole_tokens}
    wires = "\n".join([state.head, *(block.wire for block in state.blocks)])
    unseen: dict[str, EntityRow] = {}
    for text in filter(None, dict.fromkeys(asked)):
        for row in values.find(state.entities, text):
            if row.last_sequence not in visible and row.entity.value not in wires:
                unseen.setdefault(row.entity.value, row)
    return [_value_line(row) for row in islice(unseen.values(), VALUE_ROWS)]


def _value_line(row: EntityRow) -> Line:
    return Line(text=f"- {row.entity.key}: {row.entity.value}", by_user=row.from_user)


def reserve_of(state: Working, said: Said, counter: Counter) -> int:
    """Tokens that a note should find room for."""
    budget = state.settings.budget
    told = within([line.text for line in said.profile or ()], budget.profile_tokens, counter)[1]
    told += within(task_change(state, counter), budget.task_tokens, counter)[1]
    if said.lines:
        return recall_ceiling(state) // 2 + told
    return told + FRAME_TOKENS if told else 0


def without_note(state: Working) -> Working:
    """The state as if nothing had been added to the newest user message, for a context of its own."""
    note = state.notes.get(state.noted)
    newest = state.newest_user
    if note is None or newest is None or newest.sequence != state.noted:
        return state
    notes = {sequence: one for sequence, one in state.notes.items() if sequence != state.noted}
    return msgspec.structs.replace(
        state,
        notes=notes,
        noted=0,
        shown={id: version for one in notes.values() for id, version in one.items},
        profiled=state.profiled and not note.told.profiled,
        task_shown=0 if note.told.task == state.task_shown else state.task_shown,
    )
