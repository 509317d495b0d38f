"""Prewarming: after a compaction the new context goes to the model's server ahead of the user, and nobody waits."""

from collections.abc import Mapping, Sequence

import anyio
import anyio.to_thread
import pytest

import actormem
from actormem import Budget, Layout, ProviderError, Runtime, Session, UsageError
from actormem.actors import pools
from actormem.actors.warming import PREWARM_DEADLINE_S
from actormem.core.values import JsonValue
from tests.runtimes import FakeClock, ScriptedLLM, Wire, answered, bytes_of, opened, settle, words

pytestmark = pytest.mark.anyio

BUDGET = Budget(context=400, recall=0)
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
ROUNDS = 300  # of asking, each as long as a thread takes, in which a summary comes back from its own
TALK = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


class FakeWarmer:
    """A warmer that remembers what it was sent, and does what a test tells it to."""

    def __init__(self, failure: Exception | None = None, *, held: bool = False) -> None:
        self.sent: list[tuple[str, list[Wire], list[Wire]]] = []
        self.failure = failure
        self.door = anyio.Event()
        self.cancelled_count = 0
        self.in_flight_count = self.in_flight_max_count = 0
        self.closed = False
        if not held:
            self.door.set()

    @property
    def name(self) -> str:
        return "fake"

    async def warm(
        self,
        model: str,
        messages: Sequence[Mapping[str, JsonValue]],
        tools: Sequence[Mapping[str, JsonValue]],
        *,
        deadline_s: float,
    ) -> None:
        assert 0 < deadline_s <= PREWARM_DEADLINE_S
        self.sent.append((model, list(messages), list(tools)))
        self.in_flight_count += 1
        self.in_flight_max_count = max(self.in_flight_max_count, self.in_flight_count)
        try:
            await self.door.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled_count += 1
            raise
        finally:
            self.in_flight_count -= 1
        if self.failure is not None:
            raise self.failure

    async def aclose(self) -> None:
        self.closed = True


def summarizer() -> ScriptedLLM:
    """Summaries without a thread: they are there as soon as the tasks rest."""
    return ScriptedLLM(lambda _: "They spoke of the weather.")


async def until_swapped(runtime: Runtime, session: Session, count: int = 1) -> None:
    """Talk until so many compactions were swapped in between turns; requests may still be on their way."""
    for number in range(60):
        async with session.turn(f"Small talk number {number}. {TALK}") as turn:
            turn.reply("I see.")
        async with anyio.create_task_group() as group:
            rested = anyio.Event()

            async def rest(rested: anyio.Event = rested) -> None:
                await runtime.settle()
                rested.set()

            group.start_soon(rest)
            for _ in range(ROUNDS):  # a request that is held never rests, and what is swapped in is seen
                if rested.is_set() or await epochs(session) > count:
                    break
                await anyio.to_thread.run_sync(bool)  # however busy the machine, others have had their turn
            group.cancel_scope.cancel()
        if await epochs(session) > count:
            return
    raise AssertionError("no compaction was swapped in")


async def epochs(session: Session) -> int:
    return (await session.context()).trace.epoch


async def test_after_a_compaction_the_context_is_sent_once_with_the_sessions_model_and_tools() -> None:
    warmer = FakeWarmer()
    async with opened(llm=summarizer(), prewarm=warmer) as runtime:
        session = await runtime.spawn(
            "s", user="ada", model="gpt-4o", tools=TOOLS, system="Hi.", budget=BUDGET
        )
        await until_swapped(runtime, session)
        await runtime.settle()
        [(model, sent, tools)] = warmer.sent
        assert (model, tools) == ("gpt-4o", TOOLS)
        assert sent[0] == {"role": "system", "content": "Hi."}
        assert "Summary of the earlier conversation" in words(sent[1:2])
        messages = await answered(session, "And now?")
        assert bytes_of(messages)[: len(sent)] == bytes_of(sent), "the next request begins with what was sent"
        assert (runtime.statistics().prewarms, runtime.statistics().prewarm_failures) == (1, 0)
    assert warmer.closed


async def test_a_context_that_is_joined_is_sent_joined() -> None:
    warmer = FakeWarmer()
    async with opened(llm=summarizer(), prewarm=warmer) as runtime:
        session = await runtime.spawn(
            "s", user="ada", model="gpt-4o", budget=BUDGET, layout=Layout(join="all", notes="head")
        )
        await until_swapped(runtime, session)
        await runtime.settle()
        [(_, sent, _)] = warmer.sent
        roles = [message["role"] for message in sent]
        assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]


async def test_without_a_warmer_or_a_model_nothing_is_sent() -> None:
    warmer = FakeWarmer()
    async with opened(llm=summarizer(), prewarm=warmer) as runtime:
        await until_swapped(runtime, await runtime.spawn("s", user="ada", budget=BUDGET))
        assert not warmer.sent
    async with opened(llm=summarizer()) as runtime:
        await until_swapped(runtime, await runtime.spawn("s", user="ada", model="gpt-4o", budget=BUDGET))
        assert runtime.statistics().prewarms == 0


async def test_turns_go_on_while_a_request_hangs_and_its_deadline_ends_it() -> None:
    warmer, clock = FakeWarmer(held=True), FakeClock()
    async with opened(llm=summarizer(), prewarm=warmer, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o", budget=BUDGET)
        await until_swapped(runtime, session)
        assert len(warmer.sent) == warmer.in_flight_count == 1
        await answered(session, "And now?")
        assert warmer.in_flight_count == 1, "what is being read is what the turn sends"
        await clock.advance(PREWARM_DEADLINE_S)
        assert (warmer.in_flight_count, runtime.statistics().prewarm_failures) == (0, 1)
        await runtime.settle()


async def test_a_session_has_one_request_on_its_way_the_newest() -> None:
    warmer = FakeWarmer(held=True)
    async with opened(llm=summarizer(), prewarm=warmer) as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o", budget=BUDGET)
        await until_swapped(runtime, session, 2)
        assert (len(warmer.sent), warmer.in_flight_max_count, warmer.cancelled_count) == (2, 1, 1)
        assert runtime.statistics().prewarms_dropped == 1
        warmer.door.set()
        await runtime.settle()
        assert runtime.statistics().prewarms == 1


@pytest.mark.parametrize("failure", [ProviderError("no", provider="fake"), RuntimeError("a bug")])
async def test_a_request_that_fails_is_counted_and_changes_nothing(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    warmer = FakeWarmer(failure)
    async with opened(llm=summarizer(), prewarm=warmer) as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o", budget=BUDGET)
        await until_swapped(runtime, session)
        await runtime.settle()
        assert warmer.sent
        assert runtime.statistics().prewarm_failures == len(warmer.sent)
        assert runtime.statistics().prewarms == 0
        await answered(session, "And now?")
    assert "a bug" not in caplog.text


async def test_a_request_that_is_not_sent_when_a_turn_opens_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pools, "PREWARMS_AT_ONCE", 1)
    warmer = FakeWarmer(held=True)
    async with opened(llm=summarizer(), prewarm=warmer) as runtime:
        first, second = [
            await runtime.spawn(id, user=id, model="gpt-4o", budget=BUDGET) for id in ("s-1", "s-2")
        ]
        await until_swapped(runtime, first)
        await until_swapped(runtime, second)
        assert (len(warmer.sent), runtime.statistics().prewarms_dropped) == (1, 0)
        await answered(second, "And now?")
        await settle()
        assert (len(warmer.sent), runtime.statistics().prewarms_dropped) == (1, 1)
        warmer.door.set()
        await runtime.settle()
        assert (runtime.statistics().prewarms, warmer.cancelled_count) == (1, 0)


@pytest.mark.parametrize("ending", ["settings", "forgetting", "leaving"])
async def test_a_request_whose_context_is_no_longer_so_is_ended(ending: str) -> None:
    warmer = FakeWarmer(held=True)
    async with opened(llm=summarizer(), prewarm=warmer) as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o", budget=BUDGET)
        await until_swapped(runtime, session)
        assert warmer.in_flight_count == 1
        match ending:
            case "settings":
                await runtime.spawn("s", user="ada", system="Answer in French.")
            case "forgetting":
                await runtime.forget_session("s", user="ada")
            case _:
                return
        await settle()
        assert (warmer.in_flight_count, runtime.statistics().prewarms_dropped) == (0, 1)
    assert warmer.in_flight_count == 0


@pytest.mark.parametrize("wrong", ["anthropic", "openai:gpt-4o", object()])
async def test_what_cannot_warm_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="prewarm"):
        async with actormem.open(None, embedder="hashing", prewarm=wrong):  # type: ignore[arg-type]
            raise AssertionError
