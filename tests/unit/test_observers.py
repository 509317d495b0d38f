"""Observers are told of each step once, in order, with what it was, and change nothing by what they do."""

from contextlib import suppress

import anyio
import msgspec
import pytest

import actormem
from actormem.actors.llm_calls import LLMRequest
from actormem.core.observed import ContextBuilt, MemoryUsed, ModelCalled, Observed, TurnEnded
from actormem.errors import NotFoundError, ProviderError, UsageError
from tests.runtimes import FakeClock, ScriptedLLM, answered, chunk, opened

pytestmark = pytest.mark.anyio
WORD = "zanzibar"


def told(seen: list[Observed]) -> list[str]:
    return [type(one).__name__ for one in seen]


async def test_a_turn_with_tools_tells_its_contexts_and_its_end() -> None:
    clock, seen = FakeClock(), list[Observed]()
    async with opened(clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada", tenant="t", model="gpt-4o")
        with runtime.observe(seen.append):
            async with session.turn(f"Where is {WORD}?", id="turn-1") as turn:
                calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
                turn.reply({"role": "assistant", "content": None, "tool_calls": calls})
                await turn.add({"role": "tool", "tool_call_id": "c", "content": WORD})
                await turn.context()
                clock.hold(2)
                turn.feed(chunk("There."))
                clock.hold(1)
        await answered(session, "nobody looks on")
    assert told(seen) == ["ContextBuilt", "ContextBuilt", "TurnEnded"]
    first, second, end = seen
    assert isinstance(first, ContextBuilt)
    assert isinstance(second, ContextBuilt)
    assert isinstance(end, TurnEnded)
    assert (end.owner, end.session_id, end.turn_id) == (actormem.Owner("t", "ada"), "s", "turn-1")
    assert (end.model, end.outcome, end.context_count, end.error) == ("gpt-4o", "partial", 2, "")
    assert end.tokens == second.trace.tokens > first.trace.tokens
    assert (end.first_token_ms, end.elapsed_ms) == (2_000, 3_000)
    assert WORD not in msgspec.json.encode(seen).decode()


@pytest.mark.parametrize(
    ("leave", "outcome", "error"),
    [
        ("reply", "complete", ""),
        ("nothing", "unanswered", ""),
        ("raise", "failed", "KeyError"),
        ("cancel", "unanswered", None),
    ],
)
async def test_the_end_of_a_turn_is_told_however_it_ends(leave: str, outcome: str, error: str | None) -> None:
    seen: list[Observed] = []
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        with runtime.observe(seen.append), anyio.CancelScope() as scope, suppress(KeyError):
            async with session.turn("Hello") as turn:
                if leave == "reply":
                    turn.reply("Hi.")
                elif leave == "raise":
                    _ = dict[str, str]()[WORD]
                elif leave == "cancel":
                    scope.cancel()
                    await anyio.sleep_forever()
        end = seen[-1]
        assert isinstance(end, TurnEnded)
        assert end.outcome == outcome
        if error is None:
            assert end.error == anyio.get_cancelled_exc_class().__name__
        else:
            assert end.error == error


async def test_each_call_for_memory_is_told_with_its_count_or_its_error() -> None:
    seen: list[Observed] = []
    async with opened() as runtime:
        with runtime.observe(seen.append):
            item = await runtime.remember(f"Ada likes {WORD}.", user="ada")
            await runtime.recall(WORD, user="ada")
            await runtime.edit(item.id, "Ada likes tea.", user="ada")
            await runtime.archive(item.id, user="ada")
            with pytest.raises(NotFoundError):
                await runtime.forget("m9", user="ada")
            with pytest.raises(UsageError):
                await runtime.recall("x", user="")
            await runtime.forget(item.id, user="ada")
            await runtime.import_history([{"role": "user", "content": "x"}], session_id="old", user="ada")
            await runtime.forget_session("old", user="ada")
            await runtime.forget_user("ada")
            await runtime.forget_user(user="ada", tenant="t")
    used = [one for one in seen if isinstance(one, MemoryUsed)]
    assert [(one.operation, one.item_count, one.error) for one in used] == [
        ("remember", 1, ""),
        ("recall", 1, ""),
        ("edit", 1, ""),
        ("archive", 1, ""),
        ("forget", 0, "NotFoundError"),
        ("recall", 0, "UsageError"),
        ("forget", 1, ""),
        ("import", 1, ""),
        ("forget_session", 1, ""),
        ("forget_user", 0, ""),
        ("forget_user", 0, ""),
    ]
    assert [one.owner for one in used if one.owner != actormem.Owner("", "ada")] == [
        None,
        actormem.Owner("t", "ada"),
    ]
    assert WORD not in msgspec.json.encode(used).decode()


async def test_background_calls_to_the_llm_are_told_failed_ones_too() -> None:
    seen: list[Observed] = []
    key = actormem.Owner("", "ada")
    async with opened(llm=ScriptedLLM()) as runtime:
        calls = runtime._services.llm_calls
        asked = LLMRequest(prompt=[{"role": "user", "content": WORD}], prompt_tokens=7, reply_tokens=7)
        with runtime.observe(seen.append):
            await calls.once(ScriptedLLM([WORD]), key, asked, 5)
            await calls.once(ScriptedLLM([ProviderError("no", provider="scripted")]), key, asked, 5)
    assert [(one.prompt_tokens, one.error) for one in seen if isinstance(one, ModelCalled)] == [
        (7, ""),
        (7, "ProviderError"),
    ]
    assert WORD not in msgspec.json.encode(seen).decode()


async def test_an_observer_that_raises_is_logged_by_type_and_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[Observed] = []

    def broken(_: Observed) -> None:
        raise RuntimeError(WORD)

    async with opened() as runtime:
        with runtime.observe(broken), runtime.observe(seen.append):
            await runtime.remember("Ada likes tea.", user="ada")
        await runtime.remember("Ada likes coffee.", user="ada")
        with pytest.raises(UsageError, match="function"):
            runtime.observe("logging")  # type: ignore[arg-type]
    assert told(seen) == ["MemoryUsed"]
    assert "RuntimeError" in caplog.text
    assert WORD not in caplog.text


async def test_the_same_observer_twice_is_told_twice_and_leaves_once() -> None:
    seen: list[Observed] = []
    async with opened() as runtime:
        with runtime.observe(seen.append):
            with runtime.observe(seen.append):
                await runtime.remember("Ada likes tea.", user="ada")
            await runtime.remember("Ada likes coffee.", user="ada")
    assert len(seen) == 3
