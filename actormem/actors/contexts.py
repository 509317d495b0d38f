"""Building one context: gate, recall, note, fit, trace. Nothing here waits for a disk or an LLM."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from actormem.actors.compacting import Compactor
from actormem.actors.messages import Recalled, RecallItems
from actormem.actors.recalling import NOTHING, recall
from actormem.actors.services import Services
from actormem.core.context.assembly import (
    Context,
    Part,
    assemble,
    common_tokens,
    note,
    recall_ceiling,
    rendered,
    sections,
)
from actormem.core.context.notes import Line, changed_line, hit_line, words_of
from actormem.core.context.trace import Included, LeftOut, Step, Trace
from actormem.core.entities import EntityRow
from actormem.core.facts.attributes import attribute_names
from actormem.core.recall.gate import Gate, gate
from actormem.core.recall.partition import FLOOR
from actormem.core.session.decide import Draft, fit
from actormem.core.session.working import Entry, Working
from actormem.core.values import SessionKey
from actormem.kernel import Clock
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
        new = entry is not None and (bool(query) or draft.state.noted != entry.sequence)
        if new:
            assert entry is not None
            asked = Gate(True, "asked for", query) if query else _gate(draft.state, entry)
            with steps.step("recall"):
                recalled, degraded = await self._recall(draft.state, asked, again=bool(query))
        lines = _lines(draft.state, asked.query, recalled) if new else []
        reserve = recall_ceiling(draft.state) // 2 if lines else 0
        epoch = draft.state.epoch_count
        with steps.step("fit"):
            if not query:
                self._compactor.swap(draft, tokenizer, between_turns=False, reserve=reserve)
            fit(draft, tokenizer, self._services.clock.now_ms(), reserve=reserve)
        if entry is not None and (query or draft.state.noted != entry.sequence):
            with steps.step("note"):
                if draft.state.epoch_count != epoch:  # what is out of sight has changed
                    lines = _lines(draft.state, asked.query, recalled) if new else []
                draft.emit(note(draft.state, lines, tokenizer))
        with steps.step("assemble"):
            parts = assemble(draft.state)
            messages = rendered(parts)
        trace = self._trace(draft.state, parts, tokenizer, asked, recalled, degraded, steps)
        if not query:
            self._before, self._epoch_before = parts, draft.state.epoch_count
            self._tools_before = draft.state.settings.tools
        return Context(messages=messages, trace=trace)

    async def _recall(self, state: Working, asked: Gate, *, again: bool) -> tuple[Recalled, tuple[str, ...]]:
        if not asked.open and not state.shown:
            return NOTHING, ()
        options = self._services.options
        query = RecallItems(
            query=asked.query,
            vectors=None,
            limit=options.turn_hits,
            session_id=self._key.session_id,
            visible=frozenset(one.message.id for one in state.view),
            shown=state.shown,
            min_score=FLOOR,
            include_shown=again,
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
    ) -> Trace:
        new_epoch = state.epoch_count != self._epoch_before
        included = [hit for hit in recalled.hits if hit.item.id in state.shown]
        return Trace(
            turn_id=state.turn_id,
            tokens=state.tokens,
            budget_tokens=state.settings.budget.context,
            full_tokens=state.fixed_tokens - state.head_tokens + state.history_tokens,
            exact=tokenizer.exact,
            tokenizer=tokenizer.name,
            sections=sections(parts, state),
            included=tuple(
                Included(id=hit.item.id, kind=hit.item.kind, score=hit.score, why=_why(hit.why))
                for hit in included
            ),
            left_out=(*_left_out_items(state, recalled), *_left_out_messages(state)),
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


def _gate(state: Working, entry: Entry) -> Gate:
    earlier = [one for one in state.entries if one.message.role == "user" and one.sequence < entry.sequence]
    return gate(entry.message.text, before=earlier[-1].message.text if earlier else "")


def _lines(state: Working, query: str, recalled: Recalled) -> list[Line]:
    """What the note of the newest user message should say, the most certain help first.

    Corrections of what was shown; facts whose attribute the message names; exact values it names; other memories.
    """
    entry = state.newest_user
    assert entry is not None
    words = words_of(entry.message)
    lines = [changed_line(one.item, one.replacement, words) for one in recalled.changed]
    told = {id for line in lines for id, _ in line.marks}
    asked = query or entry.message.text
    names = attribute_names(asked)
    hits = [hit.item for hit in recalled.hits if hit.item.id not in told]
    lines += [hit_line(item) for item in hits if item.attribute in names]
    lines += _value_lines(state, query, entry.message.text)
    return lines + [hit_line(item) for item in hits if item.attribute not in names]


def _value_lines(state: Working, query: str, said: str) -> list[Line]:
    """Exact values the message names that the context shows nowhere, before those of what the query adds to it."""
    visible = {one.sequence for one in state.view if one.tokens == one.whole_tokens}
    shown = [state.head, *(block.wire for block in state.blocks)]
    found: dict[str, EntityRow] = {}
    for text in dict.fromkeys((said, query)):
        for row in state.entities.find(text) if text else ():
            if row.last_sequence not in visible and not any(row.entity.value in wire for wire in shown):
                found.setdefault(row.entity.value, row)
    return [_value_line(row) for row in list(found.values())[:VALUE_ROWS]]


def _value_line(row: EntityRow) -> Line:
    return Line(text=f"- {row.entity.key}: {row.entity.value}", by_user=row.from_user)


def _left_out_items(state: Working, recalled: Recalled) -> list[LeftOut]:
    return [
        LeftOut(hit.item.id, "no room in the note") for hit in recalled.hits if hit.item.id not in state.shown
    ]


def _left_out_messages(state: Working) -> list[LeftOut]:
    found: list[LeftOut] = []
    for block in state.blocks:
        found.append(LeftOut(f"#{block.first}–#{block.last}", f"summarised ({block.method})"))
    if state.out:
        found.append(
            LeftOut(f"#{min(state.out)}–#{max(state.out)}", f"{len(state.out)} messages over the budget")
        )
    found += [
        LeftOut(f"#{one.sequence}", f"shortened from {one.whole_tokens} to {one.tokens} tokens")
        for one in state.view
        if one.tokens < one.whole_tokens
    ]
    return found


def _why(why: Mapping[str, float]) -> str:
    shares = sorted(((share, arm) for arm, share in why.items()), reverse=True)
    return ", ".join(f"{arm} {share:.2f}" for share, arm in shares[:3] if share > 0)
