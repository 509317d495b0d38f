"""Whatever owners do, and whatever they are called, nothing of one of them is ever told to another.

Every word that an owner brings in carries a canary of his own; every answer, error, log line, figure and prompt is
searched for the canaries of others. The model is a number per owner: his canaries from it on may still be told.
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import actormem
from actormem import ActorMemError, Budget, NotFoundError
from actormem.testing.fakes import Messages
from tests.runtimes import FakeClock, ScriptedLLM, opened, words

T = TypeVar("T")
Owners = tuple[tuple[str, str], ...]
NEIGHBOURS: tuple[Owners, ...] = (
    (("shop", "ann"), ("bank", "ann"), ("", "ann"), ("ann", "shop"), ("ann", "ann"), ("", "shop")),
    (("u1", "a:b"), ("u1:a", "b"), ("", "u1:a:b"), ("u1", "a/b"), ("u1/a", "b"), ("u1", "a")),
    (("", "admin"), ("", "аdmin"), ("", "ADMIN"), ("", "admin "), ("", "admin\u200b"), ("", "ａｄｍｉｎ")),
    (("", "é"), ("", "e\u0301"), ("", "É"), ("", "\u202eé"), ("", "ß"), ("", "ss")),
    (("", "../../etc/passwd"), ("", "/etc/passwd"), ("", ".."), ("..", ".."), ("", "con"), ("", "-rf")),
    (("", "%"), ("", "*"), ("", "_"), ("", "' OR 1=1 --"), ("%", "%"), ("", "\u2066x")),
    (("k", "base"), ("k", "*base"), ("", "k:base"), ("k", "base:"), ("k*", "base"), ("", "*")),
)
OWNER_COUNT = 6
CANARY = re.compile(r"Q([a-f])z(\d{4})Q")
SAYINGS = (
    "My order number is {canary}, please keep it.",
    "My new address is {canary} Hill Street.",
    "I am allergic to {canary}.",
    "我的新地址是{canary}路 5 号。",
    "Remember that the locker code is {canary}.",
    "What is my order number, my address and my locker code? {canary}",
    "{canary} " + "and so on and so forth, at some length, about the order and the locker " * 4,
)
QUERIES = ("order number", "address", "locker code", "我的地址", "allergic", "Q", "canary Qaz")
owner_numbers = st.integers(0, OWNER_COUNT - 1)
session_ids = st.sampled_from(("same", "other"))


def echo(messages: Messages) -> str:
    """A summary that says the words it was given: what it must not hold, it would hold."""
    canaries = CANARY.findall(words(messages))
    return "- user: " + ", ".join(f"the order Q{letter}z{number}Q" for letter, number in canaries[:6])


class Heard(logging.Handler):
    """Keeps every line of every log."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it, with the traceback it may carry."""
        self.lines.append(f"{record.getMessage()} {record.exc_info} {record.exc_text}")


class Isolation(RuleBasedStateMachine):
    """Six owners in one folder."""

    backend: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.portal: BlockingPortal = self.stack.enter_context(start_blocking_portal(self.backend))
        self.heard = Heard()
        logging.getLogger().addHandler(self.heard)
        self.stack.callback(logging.getLogger().removeHandler, self.heard)
        self.clock = self.portal.call(FakeClock)
        self.llm = ScriptedLLM(echo)
        self.owners: Owners = NEIGHBOURS[0]
        self.number = 0
        self.tenants_with_base: frozenset[str] = frozenset()
        self.first = [0] * OWNER_COUNT  # canaries of each owner below it were forgotten
        self.open: AbstractContextManager[actormem.Runtime] | None = None
        self.runtime: actormem.Runtime

    @initialize(owners=st.sampled_from(NEIGHBOURS))
    def begin(self, owners: Owners) -> None:
        self.owners = owners
        self.enter()

    def enter(self) -> None:
        self.open = self.portal.wrap_async_context_manager(
            opened(self.folder, llm=self.llm, clock=self.clock)
        )
        self.runtime = self.open.__enter__()

    def leave(self) -> None:
        if self.open is not None:
            leaving, self.open = self.open, None
            leaving.__exit__(None, None, None)

    def teardown(self) -> None:
        try:
            if self.open is not None:
                for owner in range(OWNER_COUNT):
                    self.export(owner)
                self.look_at_what_is_nobodys()
        finally:
            self.stack.callback(self.leave)  # first, or the portal would wait for it
            self.stack.close()

    # --- what is checked --------------------------------------------------------------------------------

    def told(self, owner: int, *answers: object) -> None:
        """Search what was told to an owner for what is another's, or was forgotten."""
        for answer in answers:
            for letter, number in CANARY.findall(answer if isinstance(answer, str) else repr(answer)):
                assert ord(letter) - ord("a") == owner, f"a canary of {letter} was told to {owner}"
                assert int(number) >= self.first[owner], "it was forgotten"

    def look_at_what_is_nobodys(self) -> None:
        figures = msgspec.json.encode(self.portal.call(self.figures)).decode()
        assert not CANARY.search(figures), figures
        assert not CANARY.search("\n".join(self.heard.lines))
        for prompt in self.llm.prompts:
            assert len({letter for letter, _ in CANARY.findall(words(prompt))}) <= 1, (
                "two owners in one prompt"
            )

    async def figures(self) -> actormem.RuntimeStatistics:
        return self.runtime.statistics()

    def ask(self, owner: int, call: Callable[[], Awaitable[T]]) -> T | None:
        """What is told; None where it is refused, in words that hold nothing."""

        async def asked() -> T:
            return await call()

        try:
            answer = self.portal.call(asked)
        except ActorMemError as refused:
            self.heard.lines.append(f"{refused!r} {refused} {getattr(refused, 'hint', '')}")
            return None
        self.told(owner, answer)
        return answer

    def canary(self, owner: int) -> str:
        self.number += 1
        return f"Q{'abcdef'[owner]}z{self.number:04}Q"

    def whose(self, owner: int) -> dict[str, str]:
        tenant, user = self.owners[owner]
        return {"tenant": tenant, "user": user}

    # --- what owners do ---------------------------------------------------------------------------------

    @rule(owner=owner_numbers, session_id=session_ids, saying=st.sampled_from(SAYINGS), tool=st.booleans())
    def turn(self, owner: int, session_id: str, saying: str, tool: bool) -> None:
        canary = self.canary(owner)

        async def talk() -> list[str]:
            budget = Budget(context=500, recall=120)
            session = await self.runtime.spawn(session_id, budget=budget, **self.whose(owner))
            seen: list[str] = []
            async with session.turn(saying.format(canary=canary), id=f"turn-{self.number}") as turn:
                seen += [words(turn.messages), str(turn.trace), repr(turn.trace), repr(turn)]
                if tool:
                    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
                    turn.reply({"role": "assistant", "content": None, "tool_calls": [call]})
                    await turn.add({"role": "tool", "tool_call_id": "c", "content": f"found {canary}"})
                    seen.append(words(await turn.context()))
                turn.reply(f"I will keep {canary}.")
            seen += [str(await session.trace(f"turn-{self.number}")), repr(await session.turns())]
            looked = await session.context(query="order number, address")
            return [
                *seen,
                words(looked.messages),
                repr(looked.trace),
                repr(await session.messages()),
                repr(session),
            ]

        self.ask(owner, talk)

    @rule(owner=owner_numbers, attribute=st.sampled_from(("address", "likes", "note")))
    def remember(self, owner: int, attribute: str) -> None:
        text = f"The order and the address of this user are {self.canary(owner)}"
        self.ask(owner, lambda: self.runtime.remember(text, attribute=attribute, **self.whose(owner)))

    @rule(
        owners=st.lists(owner_numbers, min_size=2, max_size=4),
        query=st.sampled_from(QUERIES),
        deep=st.booleans(),
    )
    def recall(self, owners: list[int], query: str, deep: bool) -> None:
        """The same question by several, twice each: the second answer may come from those kept of a moment ago."""
        for owner in owners:
            for _ in range(2):
                self.ask(
                    owner, lambda o=owner: self.runtime.recall(query, limit=100, deep=deep, **self.whose(o))
                )

    @rule(owner=owner_numbers)
    def import_log(self, owner: int) -> None:
        said = [
            {"role": role, "content": f"My address is {self.canary(owner)} Road.", "id": f"m-{place}"}
            for place, role in enumerate(("user", "assistant"))
        ]
        self.ask(owner, lambda: self.runtime.import_history(said, session_id="log", **self.whose(owner)))

    @rule(owner=owner_numbers)
    def knowledge(self, owner: int) -> None:
        """A base of the owner's tenant, which he alone puts words into and takes out again.

        Its words are nobody's canary: others of the tenant may attach it, those of another tenant may not.
        """
        tenant, _ = self.owners[owner]
        mark = f"tenant<{tenant}>"
        document = {"id": "d", "text": f"The order desk of {mark} is open. {self.number}"}
        self.ask(owner, lambda: self.runtime.import_knowledge("base", [document], tenant=tenant))
        for other, (place, name) in enumerate(self.owners):

            async def look(place: str = place, name: str = name) -> str:
                found = await self.runtime.recall(
                    "order desk", user=name, tenant=place, knowledge=["base"], limit=100
                )
                session = await self.runtime.spawn("desk", user=name, tenant=place, knowledge=["base"])
                async with session.turn("Where is the order desk?") as turn:
                    turn.reply("There.")
                return f"{[hit.item.text for hit in found]!r} {words(turn.messages)}"

            seen = self.ask(other, look)
            marks = set(re.findall(r"tenant<[^>]*>", seen or ""))
            assert marks <= {f"tenant<{place}>"}, "a base of another tenant"
            assert (seen is not None) == (place in self.tenants_with_base | {tenant})
        self.tenants_with_base |= {tenant}

    @rule(owner=owner_numbers, other=owner_numbers, back=st.integers(0, 5))
    def reach_for_anothers(self, owner: int, other: int, back: int) -> None:
        """An id of another's is no id of one's own: nothing is read, changed or told of it."""
        theirs = self.ask(other, lambda: self.runtime.items(history=True, **self.whose(other)))
        if owner == other or not theirs:
            return
        item, own = theirs[-1 - back % len(theirs)], self.whose(owner)
        for call in (
            lambda: self.runtime.item(item.id, **own),
            lambda: self.runtime.edit(item.id, "mine", **own),
            lambda: self.runtime.archive(item.id, **own),
            lambda: self.runtime.forget(item.id, **own),
        ):
            assert self.ask(owner, call) is None

        async def session_of_another() -> None:
            session = await self.runtime.spawn("never", **own)
            for reach in (session.trace, session.rewind):
                with pytest.raises(NotFoundError):
                    await reach(item.source_ids[0] if item.source_ids else "turn-1")

        self.ask(owner, session_of_another)
        assert item in self.portal.call(lambda: self.runtime.items(history=True, **self.whose(other)))

    @rule(owner=owner_numbers, back=st.integers(0, 9), edit=st.booleans())
    def change(self, owner: int, back: int, edit: bool) -> None:
        items = self.ask(owner, lambda: self.runtime.items(**self.whose(owner)))
        if not items:
            return
        item = items[-1 - back % len(items)]
        if edit:
            text = f"The order of this user is {self.canary(owner)} now"
            self.ask(owner, lambda: self.runtime.edit(item.id, text, **self.whose(owner)))
        else:
            self.ask(owner, lambda: self.runtime.archive(item.id, **self.whose(owner)))

    @rule(
        owner=owner_numbers, what=st.sampled_from(("item", "session", "user", "turn")), session_id=session_ids
    )
    def forget(self, owner: int, what: str, session_id: str) -> None:
        own = self.whose(owner)
        counts = self.counts()
        if what == "item" and (items := self.ask(owner, lambda: self.runtime.items(**own))):
            self.ask(owner, lambda: self.runtime.forget(items[0].id, **own))
        elif what == "session":
            self.ask(owner, lambda: self.runtime.forget_session(session_id, **own))
        elif what == "user":
            self.ask(owner, lambda: self.runtime.forget_user(**own))
            self.first[owner] = self.number + 1
        elif what == "turn":
            self.ask(owner, lambda: self.rewound(session_id, own))
        after = self.counts()
        assert all(after[other] == counts[other] for other in range(OWNER_COUNT) if other != owner)

    async def rewound(self, session_id: str, own: dict[str, str]) -> object:
        session = await self.runtime.spawn(session_id, **own)
        said = await session.messages()
        return await session.rewind(said[-1].id) if said else None

    def counts(self) -> list[tuple[int, ...]]:
        """How much is kept of each owner, once all is in."""

        async def counted() -> list[tuple[int, ...]]:
            await self.runtime.settle()
            found: list[tuple[int, ...]] = []
            for owner in range(OWNER_COUNT):
                sessions = await self.runtime.sessions(**self.whose(owner))
                items = await self.runtime.items(history=True, **self.whose(owner))
                found.append((len(items), *sorted(row.message_count for row in sessions)))
            return found

        return self.portal.call(counted)

    @rule(owner=owner_numbers, repairs=st.booleans())
    def checkup(self, owner: int, repairs: bool) -> None:
        self.ask(owner, lambda: self.runtime.checkup(apply=repairs, **self.whose(owner)))

    @rule(owner=owner_numbers)
    def export(self, owner: int) -> None:
        own = self.whose(owner)
        found = self.ask(owner, lambda: self.runtime.export_user(**own))
        assert found is not None
        assert {item.owner for item in found.items} <= {found.owner}
        assert (found.owner.tenant, found.owner.user) == self.owners[owner]
        self.told(owner, msgspec.json.encode(found).decode())
        self.ask(owner, lambda: self.runtime.value(attribute="address", **own))
        self.ask(owner, lambda: self.runtime.sessions(**own))

    @rule()
    def restart(self) -> None:
        self.leave()
        self.enter()

    @rule()
    def rest(self) -> None:
        """Everybody leaves memory, and is read again."""
        self.portal.call(self.runtime.settle)
        self.portal.call(self.clock.advance, 2_000)
        self.look_at_what_is_nobodys()


class OnAsyncio(Isolation):
    """On asyncio."""

    backend = "asyncio"


class OnTrio(Isolation):
    """On trio."""

    backend = "trio"


def run(machine: type[Isolation], examples: int, steps: int) -> None:
    # Without shrinking: a life takes a second, and a hundred of them would be lived again to find a shorter one.
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),
    )
    run_state_machine_as_test(machine, settings=chosen)


MACHINES: Sequence[Any] = (OnAsyncio, OnTrio)


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_of_one_owner_is_told_to_another(machine: type[Isolation]) -> None:
    run(machine, 7, 25)


@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_of_one_owner_is_told_to_another_in_many_lives(machine: type[Isolation]) -> None:
    run(machine, 70 if machine is OnAsyncio else 30, 60)  # what is told to whom does not differ by loop
