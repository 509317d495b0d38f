"""Building one context: gate, recall, note, fit, trace. Nothing here waits for a disk or an LLM."""

from collections.abc import Generator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from actormem.actors.compacting import Compactor
from actormem.actors.expanding import recall_expanded
from actormem.actors.memory_messages import Recalled, RecallItems
from actormem.actors.noting import (
    Said,
    explained,
    gate_of,
    reserve_of,
    said,
    value_lines,
    wants_profile,
    without_note,
)
from actormem.actors.recalling import NOTHING, Answer
from actormem.actors.services import Services
from actormem.actors.usage import TurnUsage
from actormem.core.context.assembly import (
    Context,
    Part,
    assemble_noted,
    common_tokens,
    note,
    note_alone,
    rendered,
    sections,
    total_tokens,
)
from actormem.core.context.breakpoints import cache_breakpoints
from actormem.core.context.notes import (
    GONE_VERSION,
    Line,
    untold,
)
from actormem.core.context.shares import SOURCE_HITS
from actormem.core.context.trace import Included, LeftOut, Step, Trace
from actormem.core.entities.index import ValueIndex
from actormem.core.knowledge.bases import base_owner
from actormem.core.policy import policy_of
from actormem.core.recall.gate import Gate
from actormem.core.recall.partition import FLOOR
from actormem.core.session.decide import Draft, fit, fit_joined, renew
from actormem.core.session.working import Working
from actormem.core.values import SessionKey
from actormem.kernel import Clock
from actormem.ports import Tokenizer

__all__ = ["ContextMaker"]

NO_EPOCH = -1  # of contexts that were sent before the session was erased
UNTOLD = "a correction that has no room in a note"  # without the old notes it need not be said
NO_GATE = Gate(False, "no new user message", "")
RecalledItems: TypeAlias = tuple[tuple[Included, ...], tuple[LeftOut, ...]]
NO_ROOM = "no room in the note"
NO_ITEMS: RecalledItems = ((), ())


class ContextMaker:
    """Builds the contexts of one session, and remembers the last one to tell what stayed the same.

    Attributes:
        newest: Trace of the last context that was not made for a query of its own, or None.
        usage: What the open turn's notes showed.
    """

    def __init__(self, key: SessionKey, services: Services, compactor: Compactor) -> None:
        self._key = key
        self._compactor = compactor
        self._services = services
        self.newest: Trace | None = None
        self._noted = (0, NO_ITEMS)  # the user message whose note is decided, and what recall gave for it
        self._before: tuple[Part, ...] = ()
        self._epoch_before = 0
        self._tools_before = ""
        self._counted_by: Tokenizer | None = None
        self._values = ValueIndex()
        self._valued: tuple[Working | None, str, list[Line]] = (None, "", [])
        self.usage = TurnUsage(key, services)

    def loaded(self, state: Working) -> None:
        """Go on after a wake: what was sent is known as far as the last note, and stands in this epoch if any does."""
        self._epoch_before = state.epoch_count if state.noted else max(0, state.epoch_count - 1)
        self._before, self._tools_before = assemble_noted(state), state.settings.tools

    def erased(self) -> None:
        """Begin again: nothing of what was sent stands any more."""
        self._before, self._epoch_before, self._tools_before = (), NO_EPOCH, ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the newest context is made of."""
        return self._before

    async def make(self, draft: Draft, tokenizer: Tokenizer, query: str = "") -> Context:
        """The context of the draft's state; what must be recorded of it is decided in the draft.

        Args:
            query: Recall for this, for a note of this context alone: the draft is then to be thrown away.
        """
        steps = Stopwatch(self._services.clock)
        entry = draft.state.newest_user
        asked, answer = NO_GATE, NOTHING
        if query:
            draft = Draft(without_note(draft.state))
        new = bool(query) or (entry is not None and draft.state.noted != entry.sequence)
        if new:
            asked = gate_of(draft.state, entry, query)
            with steps.step("recall"):
                answer = await self._recall(draft.state, asked)
            asked = explained(asked, answer.recalled, answer.degraded)
        telling = self._said(draft.state, query or asked.query, answer.recalled, tokenizer) if new else Said()
        reserve = reserve_of(draft.state, telling, tokenizer) if new else 0
        epoch = draft.state.epoch_count
        with steps.step("fit"):
            if not query:
                self._compactor.swap(draft, tokenizer, between_turns=False, reserve=reserve)
            fit(draft, tokenizer, self._services.clock.now_ms(), reserve=reserve)
        shown: frozenset[str] = frozenset()
        alone: Part | None = None
        if entry is not None and (query or draft.state.noted != entry.sequence):
            whole = not epoch and not draft.state.out  # the session's beginning, with all of it in view
            same = whole or draft.state.epoch_count == epoch
            written = note(draft.state, telling.lines, tokenizer, profile=telling.profile) if same else None
            if written is not None and untold(telling.lines, written.items):
                renew(draft, UNTOLD, tokenizer, self._services.clock.now_ms(), reserve=reserve)
                written = None
            if written is None and new:  # what is out of sight has changed
                with steps.step("recall"):
                    answer = await self._recall(draft.state, asked, answer)
                telling = self._said(draft.state, query or asked.query, answer.recalled, tokenizer)
            with steps.step("note"):
                written = written or note(draft.state, telling.lines, tokenizer, profile=telling.profile)
                draft.emit(written)
                shown = frozenset(id for id, version in written.items if version != GONE_VERSION)
        elif query and entry is None:
            with steps.step("note"):
                alone, shown = note_alone(draft.state, telling.lines, query, tokenizer)
        with steps.step("assemble"):
            parts = fit_joined(draft, tokenizer, self._services.clock.now_ms(), self._known(tokenizer))
            parts = (*parts, alone) if alone else parts
            messages = rendered(parts)
            breakpoints = cache_breakpoints(parts, self._before, messages)
        items = _recalled_items(shown, answer.recalled) if new else NO_ITEMS
        if new and not query:
            self._count(draft.state, asked, shown, answer.recalled)
        if not new and draft.state.turn_id and self._noted[0] == draft.state.noted:  # its note stands
            items = _still_shown(draft.state, self._noted[1])
        trace = self._trace(draft.state, parts, tokenizer, asked, items, answer.degraded, steps)
        self._valued = (None, "", [])
        if not query:
            self._keep(draft.state, parts, tokenizer)
            self.newest, self._noted = trace, (draft.state.noted, items)
        return Context(messages=messages, trace=trace, cache_breakpoints=breakpoints)

    def _keep(self, state: Working, parts: tuple[Part, ...], tokenizer: Tokenizer) -> None:
        self._before, self._epoch_before = parts, state.epoch_count
        self._tools_before, self._counted_by = state.settings.tools, tokenizer

    def _count(self, state: Working, asked: Gate, shown: AbstractSet[str], recalled: Recalled) -> None:
        settings = state.settings
        recalls = policy_of(settings.policy).recalls and settings.budget.recall_tokens
        self._services.counters.gate_skips += bool(recalls and not asked.open)
        self.usage.noted(shown, [hit.item for hit in recalled.hits if hit.item.id in shown])

    def _said(self, state: Working, query: str, recalled: Recalled, tokenizer: Tokenizer) -> Said:
        values = partial(self._value_lines, state, query)
        return said(state, query, recalled, values, tokenizer, self._services.words)

    def _value_lines(self, state: Working, query: str) -> list[Line]:
        """The same as a moment ago for the same state."""
        before, asked, lines = self._valued
        if before is not state or asked != query:
            lines = value_lines(state, query, self._values)
            self._valued = state, query, lines
        return lines

    def _known(self, tokenizer: Tokenizer) -> dict[str, int]:
        """Tokens of the messages of the context before, where the same vocabulary counted them."""
        return {part.wire: part.tokens for part in self._before} if tokenizer is self._counted_by else {}

    async def _recall(self, state: Working, asked: Gate, before: Answer = NOTHING) -> Answer:
        """What long-term memory has to say; it is not asked where it could say nothing."""
        profile = wants_profile(state)
        said_before = len(state.view) > 1 or state.blocks  # words that may state what is no longer so
        if not policy_of(state.settings.policy).recalls:
            return NOTHING
        if not (asked.open or state.shown or profile or said_before):
            return NOTHING
        options = self._services.options
        limit = state.settings.budget.repeat_after_tokens
        newest = state.newest_user
        said_ms = newest.message.time_ms if newest else 0
        offset_minutes = newest.message.offset_minutes if newest else None
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
            blocks=frozenset(block.last for block in state.blocks if block.wire),
            profile=profile,
            scope=state.settings.scope,
            asked_ms=said_ms,
            offset_minutes=offset_minutes,
            source_max=SOURCE_HITS,
        )
        owner = self._key.owner
        named = (base_owner(owner.tenant, name) for name in state.settings.knowledge)
        bases = tuple(base for base in named if base not in self._services.forgetting)
        deadline_s = options.recall_deadline_s
        meanwhile = partial(self._value_lines, state, asked.query)
        answer = await recall_expanded(
            self._services, owner, query, deadline_s, before=before, bases=bases, meanwhile=meanwhile
        )
        await self._services.give_way()  # many deadlines may have ended together
        return answer

    def _trace(
        self,
        state: Working,
        parts: tuple[Part, ...],
        tokenizer: Tokenizer,
        asked: Gate,
        items: RecalledItems,
        degraded: tuple[str, ...],
        steps: "Stopwatch",
    ) -> Trace:
        new_epoch = state.epoch_count != self._epoch_before
        return Trace(
            turn_id=state.turn_id,
            tokens=total_tokens(parts, state.settings),
            budget_tokens=state.settings.budget.context,
            full_tokens=state.fixed_tokens - state.head_tokens + state.history_tokens,
            exact=tokenizer.exact,
            tokenizer=tokenizer.name,
            sections=sections(parts, state),
            included=items[0],
            left_out=(*items[1], *_left_out_messages(state)),
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


def _still_shown(state: Working, items: RecalledItems) -> RecalledItems:
    """The same, once the note may have given way to the turn's own messages."""
    included, left_out = items
    gone = tuple(LeftOut(one.id, NO_ROOM) for one in included if one.id not in state.shown)
    return (tuple(one for one in included if one.id in state.shown), (*left_out, *gone))


def _recalled_items(shown: AbstractSet[str], recalled: Recalled) -> RecalledItems:
    """What of the hits the note shows, and what it has no room for."""
    hits = [hit for hit in recalled.hits if hit.item.id in shown]
    return (
        tuple(
            Included(id=hit.item.id, kind=hit.item.kind, score=hit.score, why=_why(hit.why)) for hit in hits
        ),
        tuple(LeftOut(hit.item.id, NO_ROOM) for hit in recalled.hits if hit.item.id not in shown),
    )


def _left_out_messages(state: Working) -> list[LeftOut]:
    found: list[LeftOut] = []
    for block in state.dropped:
        found.append(LeftOut(f"#{block.first}–#{block.last}", "no room for their summary"))
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
