"""Building one context: gate, recall, note, fit, trace. Nothing here waits for a disk or an LLM."""

from collections.abc import Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from actormem.actors.compacting import Compactor
from actormem.actors.messages import Recalled, RecallItems
from actormem.actors.noting import Said, explained, gate_of, reserve_of, wants_profile, without_note
from actormem.actors.recalling import NOTHING, recall
from actormem.actors.services import Services
from actormem.core.context.assembly import (
    Context,
    Part,
    assemble,
    common_tokens,
    note,
    note_alone,
    rendered,
    sections,
)
from actormem.core.context.notes import GONE_VERSION, Line, changed_line, hit_line, words_of
from actormem.core.context.trace import Included, LeftOut, Step, Trace
from actormem.core.entities import EntityRow
from actormem.core.facts.attributes import attribute_names
from actormem.core.policy import policy_of
from actormem.core.recall.gate import Gate
from actormem.core.recall.partition import FLOOR
from actormem.core.session.decide import Draft, fit
from actormem.core.session.working import Working
from actormem.core.text import language
from actormem.core.values import SessionKey
from actormem.kernel import Clock
from actormem.limits import PRIMING_TOKENS
from actormem.ports import Tokenizer

__all__ = ["ContextMaker"]

VALUE_ROWS = 4  # exact values a note brings back for a message that names them
NO_GATE = Gate(False, "no new user message", "")


class ContextMaker:
    """Builds the contexts of one session, and remembers the last one to tell what stayed the same."""

    def __init__(self, key: SessionKey, services: Services, compactor: Compactor) -> None:
        self._key = key
        self._compactor = compactor
        self._services = services
        self._before: tuple[Part, ...] = ()
        self._epoch_before = 0
        self._tools_before = ""

    async def make(self, draft: Draft, tokenizer: Tokenizer, query: str = "") -> Context:
        """The context of the draft's state; what must be recorded of it is decided in the draft.

        Args:
            query: Recall for this, for a note of this context alone: the draft is then to be thrown away.
        """
        steps = Stopwatch(self._services.clock)
        entry = draft.state.newest_user
        asked, recalled, degraded = NO_GATE, NOTHING, ()
        if query:
            draft.state = without_note(draft.state)
        new = bool(query) or (entry is not None and draft.state.noted != entry.sequence)
        if new:
            asked = gate_of(draft.state, entry, query)
            with steps.step("recall"):
                recalled, degraded = await self._recall(draft.state, asked, again=bool(query))
            asked = explained(asked, recalled, degraded)
        said = _said(draft.state, query or asked.query, recalled) if new else Said()
        reserve = reserve_of(draft.state, said, tokenizer) if new else 0
        epoch = draft.state.epoch_count
        with steps.step("fit"):
            if not query:
                self._compactor.swap(draft, tokenizer, between_turns=False, reserve=reserve)
            fit(draft, tokenizer, self._services.clock.now_ms(), reserve=reserve)
        shown: tuple[tuple[str, int], ...] = ()
        alone: Part | None = None
        with steps.step("note"):
            if new and draft.state.epoch_count != epoch:  # what is out of sight has changed
                said = _said(draft.state, query or asked.query, recalled)
            if entry is not None and (query or draft.state.noted != entry.sequence):
                written = note(draft.state, said.lines, tokenizer, profile=said.profile)
                draft.emit(written)
                shown = written.items
            elif query and entry is None:
                alone, shown = note_alone(draft.state, said.lines, query, tokenizer) or (None, ())
        with steps.step("assemble"):
            parts = (*assemble(draft.state), *((alone,) if alone else ()))
            messages = rendered(parts)
        trace = self._trace(draft.state, parts, tokenizer, asked, recalled, degraded, steps, shown)
        if not query:
            self._before, self._epoch_before = parts, draft.state.epoch_count
            self._tools_before = draft.state.settings.tools
        return Context(messages=messages, trace=trace)

    async def _recall(self, state: Working, asked: Gate, *, again: bool) -> tuple[Recalled, tuple[str, ...]]:
        """What long-term memory has to say; it is not asked where it could say nothing."""
        profile = wants_profile(state)
        if not policy_of(state.settings.policy).recalls or not (asked.open or state.shown or profile):
            return NOTHING, ()
        options = self._services.options
        limit = state.settings.budget.repeat_after_tokens
        query = RecallItems(
            query=asked.query,
            vectors=None,
            limit=options.turn_hits,
            session_id=self._key.session_id,
            visible=frozenset(one.message.id for one in state.view),
            shown=state.shown,
            repeatable=frozenset(
                id for id, at in state.shown_at.items() if state.history_tokens - at > limit
            ),
            min_score=FLOOR,
            include_shown=again,
            profile=profile,
        )
        return await recall(self._services, self._key.owner, query, options.recall_deadline_s)

    def _trace(
        self,
        state: Working,
        parts: tuple[Part, ...],
        tokenizer: Tokenizer,
        asked: Gate,
        recalled: Recalled,
        degraded: tuple[str, ...],
        steps: "Stopwatch",
        shown: Sequence[tuple[str, int]],
    ) -> Trace:
        new_epoch = state.epoch_count != self._epoch_before
        ids = {id for id, version in shown if version != GONE_VERSION}
        included = [hit for hit in recalled.hits if hit.item.id in ids]
        return Trace(
            turn_id=state.turn_id,
            tokens=sum(part.tokens for part in parts) + PRIMING_TOKENS + state.settings.tools_tokens,
            budget_tokens=state.settings.budget.context,
            full_tokens=state.fixed_tokens - state.head_tokens + state.history_tokens,
            exact=tokenizer.exact,
            tokenizer=tokenizer.name,
            sections=sections(parts, state),
            included=tuple(
                Included(id=hit.item.id, kind=hit.item.kind, score=hit.score, why=_why(hit.why))
                for hit in included
            ),
            left_out=(*_left_out_items(ids, recalled), *_left_out_messages(state)),
            gate=asked.reason,
            degraded=degraded,
            steps=tuple(steps.steps),
            epoch=state.epoch_count,
            epoch_end=state.epoch_reason if new_epoch and self._epoch_before else "",
            stable_prefix_tokens=self._stable_tokens(state, parts),
        )

    def _stable_tokens(self, state: Working, parts: tuple[Part, ...]) -> int:
        """What stands at the beginning of the request before too: the tools, then messages in order."""
        if not self._before or self._tools_before != state.settings.tools:
            return 0
        return state.settings.tools_tokens + common_tokens(self._before, parts)


class Stopwatch:
    """Milliseconds by step."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.steps: list[Step] = []

    @contextmanager
    def step(self, name: str) -> Generator[None]:
        """Time what happens inside."""
        began_s = self._clock.monotonic_s()
        yield
        self.steps.append(Step(name, (self._clock.monotonic_s() - began_s) * 1000))


def _said(state: Working, query: str, recalled: Recalled) -> Said:
    """What a note should say, the most certain help first.

    Corrections of what was shown; facts whose attribute the message names; exact values it names; other memories.
    """
    entry = state.newest_user
    words = words_of(entry.message) if entry is not None else language(query)
    lines = [changed_line(one.item, one.replacement, words) for one in recalled.changed]
    told = {id for line in lines for id, _ in line.marks}
    asked = query or (entry.message.text if entry is not None else "")
    names = attribute_names(asked)
    hits = [hit.item for hit in recalled.hits if hit.item.id not in told]
    lines += [hit_line(item) for item in hits if item.attribute in names]
    if policy_of(state.settings.policy).shows_values:
        lines += _value_lines(state, asked)
    lines += [hit_line(item) for item in hits if item.attribute not in names]
    if state.profiled or recalled.profile is None:
        return Said(lines)
    return Said(lines, [hit_line(item) for item in recalled.profile if item.id not in told])


def _value_lines(state: Working, query: str) -> list[Line]:
    """Exact values the message names that the context shows nowhere."""
    visible = {one.sequence for one in state.view if one.tokens == one.whole_tokens}
    rows = [row for row in state.entities.find(query) if row.last_sequence not in visible]
    shown = [state.head, *(block.wire for block in state.blocks)]
    rows = [row for row in rows if not any(row.entity.value in wire for wire in shown)]
    return [_value_line(row) for row in rows[:VALUE_ROWS]]


def _value_line(row: EntityRow) -> Line:
    return Line(text=f"- {row.entity.key}: {row.entity.value}", by_user=row.from_user)


def _left_out_items(shown: AbstractSet[str], recalled: Recalled) -> list[LeftOut]:
    return [LeftOut(hit.item.id, "no room in the note") for hit in recalled.hits if hit.item.id not in shown]


def _left_out_messages(state: Working) -> list[LeftOut]:
    found: list[LeftOut] = []
    for block in state.blocks:
        found.append(LeftOut(f"#{block.first}–#{block.last}", f"summarised ({block.method})"))
    if state.out:
        found.append(
            LeftOut(f"#{min(state.out)}–#{max(state.out)}", f"{len(state.out)} messages over the budget")
        )
    gone = state.message_count - len(state.entries)
    if gone and state.entries and not policy_of(state.settings.policy).summarises:
        first = state.entries[0].sequence
        found.insert(0, LeftOut(f"#1–#{first - 1}", f"{gone} messages, the policy {state.settings.policy}"))
    found += [
        LeftOut(f"#{one.sequence}", f"shortened from {one.whole_tokens} to {one.tokens} tokens")
        for one in state.view
        if one.tokens < one.whole_tokens
    ]
    return found


def _why(why: Mapping[str, float]) -> str:
    shares = sorted(((share, arm) for arm, share in why.items()), reverse=True)
    return ", ".join(f"{arm} {share:.2f}" for share, arm in shares[:3] if share > 0)
