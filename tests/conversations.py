"""Wild conversations, driven through `decide` as a session does it, and what every context must keep.

Law of the file: the checks know the wire and nothing of how a context is made. They count for themselves.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st

from actormem.actors.rewinding import way_back
from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.budget import Budget
from actormem.core.context.assembly import Part, assemble, note, rendered
from actormem.core.context.blocks import Plan, plan_compaction
from actormem.core.context.layout import Layout
from actormem.core.context.notes import Line
from actormem.core.policy import PolicyName
from actormem.core.session import events as ev
from actormem.core.session.decide import Draft, add_message, after_redaction, configure, fit, swap_block
from actormem.core.session.replay import replay, survivors
from actormem.core.session.working import Working
from actormem.core.wire import message_tokens, parse_message
from actormem.errors import BudgetError
from actormem.testing import strategies
from actormem.testing.corpus import GIANT

NOW_MS = 1_900_000_000_000
NONCE = "5eed5eed"
TOOLS = json.dumps([{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}])
CUT = "left out here by memory"
BARE_CUT = "[…]"  # where there is no room for more
IMAGE_TOKENS = 1_445  # the most a picture of unknown size costs in gpt-4o: 8 tiles of 170, and 85

TOKENIZERS = {"gpt-4o": ToktokTokenizer("o200k_base"), "gpt-4": ToktokTokenizer("cl100k_base")}

texts = strategies.texts(long=False)
contents = st.none() | strategies.contents()
call_ids = strategies.tool_calls(max_size=1).map(lambda calls: calls[0]["id"])
groups = st.tuples(
    st.just("group"),
    strategies.tool_calls().map(
        lambda calls: [(call["id"], call["function"]["arguments"]) for call in calls]
    ),
    contents,
    st.lists(contents, max_size=3),
)
budgets = strategies.budgets()
settings = st.tuples(
    st.just("configure"),
    budgets,
    st.sampled_from(("", "Answer in French.", "你是商店的助手。" * 6)),
    st.sampled_from(("", "", TOOLS)),
    st.sampled_from(("gpt-4o", "gpt-4")),
)
summaries = st.one_of(texts, st.just("用户要退货；订单 KX-48210-77。"), st.just(GIANT))
lines = st.lists(
    st.builds(
        lambda text, number, by_user: Line(
            text=f"- [m{number} 2031-03-09] {text}", marks=((f"m{number}", 1),), by_user=by_user
        ),
        st.sampled_from(("杭州市文三路 12 号", "The user likes tea.", "</memory-5eed5eed>", "长" * 200)),
        st.integers(1, 9),
        st.booleans(),
    ),
    max_size=4,
)
steps = st.one_of(
    st.tuples(st.just("message"), st.sampled_from(("user", "user", "assistant", "system")), contents),
    st.tuples(st.just("message"), st.just("user"), texts),
    groups,
    st.tuples(st.just("late"), call_ids, contents),
    st.tuples(st.just("plan")),
    st.tuples(st.just("swap"), summaries),
    st.tuples(st.just("swap"), summaries),
    settings,
    st.tuples(st.just("redaction")),
    st.tuples(st.just("rewind"), st.integers(0, 12)),
)
conversations = st.tuples(settings, st.lists(st.tuples(steps, lines), min_size=8, max_size=30))


class Driver:
    """One conversation: takes steps, makes a context after each, and checks it against the one before."""

    def __init__(self, policy: PolicyName = "auto", layout: Layout | None = None) -> None:
        self.state = Working()
        self.policy: PolicyName = policy
        self.layout = layout or Layout()
        self.events: list[ev.SessionEvent] = []
        self.lines: Sequence[Line] = ()
        self.contexts = 0
        self._model = "gpt-4o"
        self._plan: Plan | None = None
        self._user: dict[str, Any] | None = None
        self._before: list[str] = []
        self._epoch = 0

    @property
    def counter(self) -> ToktokTokenizer:
        return TOKENIZERS[self._model]

    def take(self, step: tuple[Any, ...], lines: Sequence[Line] = ()) -> None:
        """Take one step, and check a context after each message of it."""
        self.lines = lines
        match step:
            case ("configure", budget, system, tools, model):
                self._configure(budget, system, tools, model)
            case ("message", role, content):
                self._add({"role": role, "content": content})
            case ("group", calls, content, results):
                self._group(calls, content, results)
            case ("late", call_id, content):
                self._add({"role": "tool", "tool_call_id": call_id, "content": content})
            case ("plan",):
                self._plan = self._plan or plan_compaction(self.state)
            case ("swap", summary):
                self._swap(summary)
            case ("redaction",):
                self._decide(lambda draft: after_redaction(draft, self.counter, NOW_MS))
            case ("rewind", back):
                self._rewind(back)
            case _:
                raise AssertionError(step)
        self._context()

    def _configure(self, budget: Budget, system: str, tools: str, model: str) -> None:
        wanted = ev.Configured(
            model=model,
            budget=budget,
            timezone="",
            policy=self.policy,
            nonce=NONCE,
            system_tokens=0,
            tools_tokens=0,
            layout=self.layout,
            time_ms=NOW_MS,
            text=json.dumps({"system": system, "tools": tools}),
        )
        before = self.state
        try:
            self._decide(lambda draft: configure(draft, wanted, TOKENIZERS[model]))
        except BudgetError as error:
            refused = error.needed_tokens > error.budget_tokens == budget.context and self.state is before
            if not refused:
                raise
            return
        self._model = model

    def _group(self, calls: Sequence[tuple[str, str]], content: Any, results: Sequence[Any]) -> None:
        wire_calls = [
            {"id": id, "type": "function", "function": {"name": "find", "arguments": given}}
            for id, given in calls
        ]
        self._add({"role": "assistant", "content": content, "tool_calls": wire_calls})
        for (id, _), result in zip(calls, results, strict=False):
            self._context()
            self._add({"role": "tool", "tool_call_id": id, "content": result})

    def _add(self, wire: dict[str, Any]) -> None:
        message = msgspec.structs.replace(parse_message(wire), time_ms=NOW_MS)
        tokens = message_tokens(message, self.counter.count)
        self._decide(lambda draft: add_message(draft, message, tokens, self.counter))
        if wire["role"] == "user":
            self._user = json.loads(message.wire)

    def _swap(self, summary: str) -> None:
        plan, self._plan = self._plan or plan_compaction(self.state), None
        if plan is not None and any(entry.sequence == plan.last for entry in self.state.entries):
            self._decide(lambda draft: swap_block(draft, plan, summary, "model", self.counter, NOW_MS))

    def _rewind(self, back: int) -> None:
        placed = list(enumerate(self.events, 1))
        stay = survivors(placed)
        said = [sequence for sequence, event in stay if isinstance(event, ev.MessageAdded)]
        if not said:
            return
        first = said[max(0, len(said) - 1 - back)]
        event = ev.Rewound(
            first=first, sequence=len(placed) + 1, epoch_count=self.state.epoch_count, time_ms=NOW_MS
        )
        leaving = [event for sequence, event in stay if sequence >= first]
        draft = way_back(replay(Working(), placed[: first - 1]), leaving, event, self.counter)
        self.events += draft.events
        self.state = draft.state
        self._plan = None
        users = [entry.message for entry in self.state.entries if entry.message.role == "user"]
        self._user = json.loads(users[-1].wire) if users else None

    def _decide(self, decision: Callable[[Draft], object]) -> None:
        draft = Draft(self.state)
        decision(draft)
        if draft.events:
            self.events += draft.events
            self.state = draft.state

    def _context(self) -> None:
        def made(draft: Draft) -> None:
            entry = draft.state.newest_user
            new = entry is not None and draft.state.noted != entry.sequence
            reserve = draft.state.settings.budget.recall_tokens if new and self.lines else 0
            fit(draft, self.counter, NOW_MS, reserve=reserve)
            if entry is None or entry.sequence in draft.state.out:
                return
            if draft.state.noted != entry.sequence:  # asked again: fitting may have begun a new epoch
                draft.emit(note(draft.state, self.lines, self.counter))

        self._decide(made)
        self.contexts += 1
        self._check()

    def _parts(self) -> Sequence[Part]:
        return assemble(self.state)

    def _check(self) -> None:
        settings = self.state.settings
        parts = self._parts()
        messages = json.loads(json.dumps(rendered(parts)))
        counted = wire_tokens(messages, settings.tools, self.counter.count)
        assert counted <= settings.budget.context, "over the budget"
        assert counted <= self.state.tokens <= settings.budget.context
        fixed = self.state.tokens - sum(part.tokens for part in parts)
        assert fixed == 3 + settings.tools_tokens, "tokens are not the sum of the parts"
        check_groups(messages, self.state.open_calls)
        if self._user is not None:
            assert any(stands_for(message, self._user) for message in messages), "no newest user message"
        shown = [json.dumps(message) for message in messages]
        if self._epoch == self.state.epoch_count:
            assert shown[: len(self._before)] == self._before, "the prefix of an epoch changed"
        self._before, self._epoch = shown, self.state.epoch_count


def wire_tokens(messages: Sequence[Mapping[str, Any]], tools: str, count: Callable[[str], int]) -> int:
    """Tokens of a request, by the rule that OpenAI's cookbook gives: counted here, from the wire alone."""
    total = 3 + (count(tools) if tools else 0)
    for message in messages:
        total += 3 + count(message["role"])
        content = message.get("content")
        if isinstance(content, str):
            total += count(content)
        for part in content if isinstance(content, list) else ():
            total += IMAGE_TOKENS if part["type"] == "image_url" else count(part["text"])
        if message.get("name"):
            total += 1 + count(message["name"])
        if message.get("tool_call_id"):
            total += count(message["tool_call_id"])
        for call in message.get("tool_calls") or ():
            total += count(call["id"])
            total += count(call["function"]["name"]) + count(call["function"]["arguments"])
    return total


def check_groups(messages: Sequence[Mapping[str, Any]], open_calls: Sequence[str]) -> None:
    """Every call has its results right behind it, every result its call; only the last group may be open."""
    missing: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in missing, "a result without its call"
            missing.remove(message["tool_call_id"])
        else:
            assert not missing, "a call without its result"
            missing = [call["id"] for call in message.get("tool_calls") or ()]
    assert not set(missing) - set(open_calls), "a closed call without its result"


def stands_for(shown: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether a message of a context is this one: as it was given (a note may follow), or visibly cut."""
    if shown["role"] != given["role"]:
        return False
    old, new = words(given.get("content")), words(shown.get("content"))
    if CUT in new:
        return old.startswith(new.split(" [… ")[0]) or new.startswith(old)
    if new.startswith(BARE_CUT):
        return True
    return new.startswith(old)


def words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if "text" in part)
    return content or ""


def replayed(events: Sequence[ev.SessionEvent], *, without: frozenset[int] = frozenset()) -> Working:
    """The state after the events as the record gives them back, the words of some of them erased."""
    found: list[ev.SessionEvent] = []
    for place, event in enumerate(events):
        body, text = ev.encode_event(event)
        found.append(ev.decode_event(body, None if place in without else text))
    return replay(Working(), enumerate(found, 1))
