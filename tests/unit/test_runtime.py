"""A runtime: what spawn takes and keeps, how it is opened, which loop it belongs to, how it ends."""

import asyncio
import gc
import os
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import actormem
from actormem import Budget, BudgetError, FolderInUseError, UsageError
from tests.runtimes import ScriptedEmbedder, ScriptedLLM, answered, bytes_of, opened

pytestmark = pytest.mark.anyio

TOOLS = [{"type": "function", "function": {"name": "track", "parameters": {"type": "object"}}}]


async def test_what_spawn_is_not_given_stays_as_it_was() -> None:
    async with opened() as runtime:
        session = await runtime.spawn(
            "s", user="ada", system="You help.", tools=TOOLS, budget=Budget(context=500)
        )
        first = (await session.context()).trace
        await runtime.spawn("s", user="ada")
        second = (await session.context()).trace
        await runtime.spawn("s", user="ada", budget=Budget(context=400))
        third = await session.context()
        assert (first.budget_tokens, second.budget_tokens, third.trace.budget_tokens) == (500, 500, 400)
        assert first.sections == second.sections == third.trace.sections
        assert {"tools", "system"} <= {section.name for section in first.sections}
        assert third.messages == [{"role": "system", "content": "You help."}]


async def test_what_differs_ends_the_epoch_and_says_so_and_what_is_the_same_does_not() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.")
        before = await answered(session, "早上好")
        await runtime.spawn("s", user="ada", system="You help.", tools=[])
        same = await session.context()
        assert bytes_of(same.messages)[: len(before)] == bytes_of(before)
        assert same.trace.epoch_end == ""
        for changed, named in (
            ({"system": "You help a lot."}, "system"),
            ({"tools": TOOLS}, "tools"),
            ({"budget": Budget(context=900)}, "budget"),
            ({"timezone": "Asia/Shanghai"}, "timezone"),
            ({"model": "gpt-4"}, "model"),
        ):
            await runtime.spawn("s", user="ada", **changed)  # type: ignore[arg-type]
            trace = (await session.context()).trace
            assert named in trace.epoch_end
            assert (await session.context()).trace.epoch_end == "", "it is said once"
        await runtime.spawn("s", user="ada", system="", tools=())
        assert (await session.context()).messages[0]["role"] == "user"


async def test_a_system_prompt_larger_than_the_budget_is_refused_with_both_numbers() -> None:
    async with opened() as runtime:
        with pytest.raises(BudgetError) as caught:
            await runtime.spawn("s", user="ada", system="很长的话。" * 200, budget=Budget(context=100))
        assert caught.value.budget_tokens == 100
        assert caught.value.needed_tokens > 400
        assert "很" not in str(caught.value)
        assert await runtime.sessions("ada") == ()
        session = await runtime.spawn("s", user="ada", system="Short.")
        with pytest.raises(BudgetError):
            await runtime.spawn("s", user="ada", budget=Budget(context=64), tools=TOOLS * 20)
        context = await session.context()
        assert (context.trace.budget_tokens, context.messages[0]["content"]) == (4_096, "Short.")


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": 4_000},
        {"budget": None},
        {"timezone": "Mars/Olympus"},
        {"timezone": "../../etc/passwd"},
        {"timezone": "Asia"},
        {"timezone": 8},
        {"tools": "track"},
        {"tools": [7]},
        {"tools": {"type": "function"}},
        {"system": 7},
        {"model": None},
        {"user": ""},
        {"user": None},
        {"user": "a\x00b"},
        {"tenant": None},
        {"tenant": "a\nb"},
        {"session_id": ""},
        {"session_id": "x" * 257},
        {"session_id": "\ud800"},
        {"session_id": 7},
    ],
)
async def test_a_wrong_argument_of_spawn_is_one_clear_line_and_changes_nothing(
    wrong: dict[str, object],
) -> None:
    given = {"session_id": "s", "user": "ada", "system": "changed", **wrong}
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system="before")
        with pytest.raises(UsageError) as caught:
            await runtime.spawn(given.pop("session_id"), **given)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        assert (await session.context()).messages[0]["content"] == "before"
        assert [row.session_id for row in await runtime.sessions("ada")] == ["s"]


async def test_the_sessions_of_a_user_are_listed_newest_change_first() -> None:
    async with opened() as runtime:
        for name in ("one", "two", "three"):
            await answered(await runtime.spawn(name, user="ada"), "hi")
        await answered(await runtime.spawn("other", user="bob"), "hi")
        rows = await runtime.sessions("ada")
    assert {row.session_id: row.message_count for row in rows} == {"three": 2, "two": 2, "one": 2}


async def test_statistics_count_and_settle_leaves_nothing_pending() -> None:
    embedder = ScriptedEmbedder()
    async with opened(embedder=embedder) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=200))
        for number in range(12):
            await answered(session, f"My order AB-{10_000 + number} is late, where is it?", "Let me see.")
            await runtime.settle()
        after = runtime.statistics()
        assert (after.sessions.residents, after.longterm.residents) == (1, 1)
        assert after.sessions.waiting == after.longterm.waiting == after.record.waiting_count == 0
        assert after.record.failed_commit_count == after.embed_failures == after.llm_failures == 0
        assert after.summaries_extractive >= 1
        assert after.embedded_texts >= 13, "each text once: the replies are the same"
        assert "1 sessions and 1 owners" in repr(runtime)
        calls = embedder.call_count
        await runtime.settle()
        assert embedder.call_count == calls


async def test_settle_in_an_empty_runtime_returns() -> None:
    async with opened() as runtime:
        await runtime.settle()


async def test_an_error_inside_comes_out_as_it_is_and_everything_is_closed(tmp_path: Path) -> None:
    for error in (KeyError("mine"), SystemExit(3), KeyboardInterrupt(), ExceptionGroup("two", [OSError()])):
        llm, embedder = ScriptedLLM(), ScriptedEmbedder()
        with pytest.raises(type(error)) as caught:  # noqa: PT012
            async with opened(tmp_path, llm=llm, embedder=embedder) as runtime:
                session = await runtime.spawn("s", user="ada")
                await session.add({"role": "user", "content": "kept"})
                raise error
        assert caught.value is error
        assert llm.closed
        assert embedder.closed
        with pytest.raises(actormem.ActorMemError):
            await session.messages()
    async with opened(tmp_path) as runtime:
        assert len(await (await runtime.spawn("s", user="ada")).messages()) == 4


async def test_a_cancelled_runtime_closes_in_order(tmp_path: Path) -> None:
    with anyio.CancelScope() as scope:
        async with opened(tmp_path) as runtime:
            session = await runtime.spawn("s", user="ada")
            async with session.turn("q") as turn:
                turn.reply("a")
                scope.cancel()
                await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    async with opened(tmp_path) as runtime:
        assert [m.text for m in await (await runtime.spawn("s", user="ada")).messages()] == ["q", "a"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_nothing_is_left_running(tmp_path: Path) -> None:
    before = len(asyncio.all_tasks())
    for _ in range(3):
        async with opened(tmp_path) as runtime:
            await answered(await runtime.spawn("s", user="ada"), "hi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.collect()
    named = [thread.name for thread in threading.enumerate() if "actormem" in thread.name]
    assert named == []
    assert len(asyncio.all_tasks()) == before


def test_two_loops_one_after_the_other_may_open_one_folder(tmp_path: Path) -> None:
    async def once(text: str) -> list[str]:
        async with opened(tmp_path) as runtime:
            session = await runtime.spawn("s", user="ada")
            await answered(session, text)
            await runtime.settle()
            return [m.text for m in await session.messages()]

    assert anyio.run(once, "one") == ["one", "OK."]
    assert anyio.run(once, "two", backend="trio") == ["one", "OK.", "two", "OK."]
    assert anyio.run(once, "three")[4:] == ["three", "OK."]


async def test_use_from_another_loop_is_a_usage_error() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")

        async def elsewhere() -> None:
            for call in (
                lambda: session.add({"role": "user", "content": "x"}),
                session.context,
                session.messages,
                session.turn("x").__aenter__,
                lambda: runtime.spawn("s", user="ada"),
                lambda: runtime.sessions("ada"),
                lambda: runtime.recall("x", user="ada"),
                lambda: runtime.items("ada"),
                lambda: runtime.remember("x", user="ada"),
                lambda: runtime.forget_user("ada"),
                lambda: runtime.forget_session("s", user="ada"),
                runtime.settle,
            ):
                with pytest.raises(UsageError, match="another event loop"):
                    await call()

        await anyio.to_thread.run_sync(anyio.run, elsewhere)
        assert await session.messages() == ()


async def test_a_folder_in_use_is_refused_and_says_by_whom(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        with pytest.raises(FolderInUseError):
            async with opened(tmp_path):
                pass
        script = (
            "import anyio, actormem, sys\n"
            "async def main():\n"
            "    try:\n"
            "        async with actormem.open(sys.argv[1], embedder='hashing'): pass\n"
            "    except actormem.FolderInUseError as error: print(error.pid)\n"
            "anyio.run(main)\n"
        )
        done = await anyio.run_process([sys.executable, "-W", "ignore", "-c", script, str(tmp_path)])
        assert int(done.stdout) == os.getpid()
        await answered(await runtime.spawn("s", user="ada"), "still mine")


@pytest.mark.parametrize(
    "wrong",
    [
        {"llm": "gpt-4o"},
        {"llm": "nobody:gpt"},
        {"embedder": "best"},
        {"embedder": "local:large"},
        {"recall_deadline_s": 0},
        {"turn_wait_s": -1},
        {"turn_hits": 0},
        {"turn_hits": True},
        {"write_threshold": "high"},
        {"write_threshold": 1.5},
        {"summaries_at_once": 0},
        {"llm_deadline_s": float("nan")},
        {"idle_s": 0},
        {"resident_limit": 0},
        {"lock_wait_s": -1},
        {"durability": "none"},
    ],
)
async def test_an_option_that_is_wrong_is_named(tmp_path: Path, wrong: dict[str, object]) -> None:
    options: dict[str, object] = {"embedder": "hashing", **wrong}
    [name] = wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UsageError, match=name.split("_")[0]):
            async with actormem.open(tmp_path / "memory", **options):  # type: ignore[arg-type]
                pass
    async with opened(tmp_path / "memory"):
        pass


async def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for path in (file, file / "below"):
        with pytest.raises(UsageError):
            async with opened(path):
                pass
    for path in (7, b"bytes", ""):
        with pytest.raises(UsageError):
            async with opened(path):  # type: ignore[arg-type]
                pass
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    "wrong",
    [{"turn_hits": 0.5}, {"resident_limit": 1.5}, {"llm": 3}, {"embedder": 3}, {"tokenizer": "o200k"}],
)
async def test_an_option_of_the_wrong_sort_is_refused_at_the_door(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        async with actormem.open(None, **{"embedder": "hashing", **wrong}):
            pass
