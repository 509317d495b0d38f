"""The session of the OpenAI Agents SDK, run through its real `Runner` with a scripted model, tools and handoffs."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import agents
import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from agents.exceptions import InputGuardrailTripwireTriggered
from agents.guardrail import GuardrailFunctionOutput, InputGuardrail
from agents.memory import Session as Protocol
from agents.memory import SessionSettings
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses.response_reasoning_item import ResponseReasoningItem

import actormem
from actormem import UsageError
from actormem.integrations import openai_agents
from actormem.integrations.openai_agents import Session
from tests.loopback import LoopbackServer
from tests.runtimes import opened

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The SDK knows asyncio alone."""
    return "asyncio"


@asynccontextmanager
async def agents_session(
    path: Path | None = None, **settings: Any
) -> AsyncIterator[tuple[Session, actormem.Runtime]]:
    async with opened(path) as runtime:
        yield Session(runtime, "s", user="ada", **settings), runtime


@function_tool
def track(order: str) -> str:
    """Where an order is."""
    return f"{order} 已发货"


def user(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


def thought(id: str) -> ResponseReasoningItem:
    return ResponseReasoningItem(id=id, type="reasoning", summary=[], encrypted_content="sealed")


def quiet(session: Session | None = None, **more: Any) -> RunConfig:
    """No tracing: it would ask a server. With a session: its recall."""
    callback = session.recalling if session is not None else None
    return RunConfig(tracing_disabled=True, session_input_callback=callback, **more)


def shop(*steps: Any, **more: Any) -> tuple[Agent[Any], ScriptedModel]:
    model = ScriptedModel(steps)
    return Agent(name="shop", model=model, tools=[track], **more), model


def said(text: str, id: str) -> list[Any]:
    return [assistant_message(text, item_id=id)]


async def run(
    agent: Agent[Any], words: str, session: Any, config: RunConfig, *, streamed: bool = False
) -> Any:
    if not streamed:
        return await Runner.run(agent, words, session=session, run_config=config)
    result = Runner.run_streamed(agent, words, session=session, run_config=config)
    async for _ in result.stream_events():
        pass
    return result


async def test_it_follows_the_protocol_of_the_sdk() -> None:
    async with agents_session() as (session, _):
        assert isinstance(session, Protocol)
        assert session.session_id == "s"


@pytest.mark.parametrize("recalling", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
async def test_runs_with_tools_give_the_model_what_the_sdks_own_session_gives(
    recalling: bool, streamed: bool
) -> None:
    seen: list[Any] = []
    kept: list[Any] = []
    async with agents_session() as (session, _):
        with closing(SQLiteSession("s")) as theirs:
            for one in (theirs, session):
                agent, model = shop(
                    [
                        thought("rs_1"),
                        function_call("track", {"order": "KX-1"}, call_id="c1", item_id="fc_1"),
                    ],
                    said("已发货。", "msg_1"),
                    said("ok", "msg_2"),
                    said("ok", "msg_3"),
                )
                config = quiet(session if recalling and one is session else None)
                for words in ("订单 KX-1？", "ok", "ok"):
                    await run(agent, words, one, config, streamed=streamed)
                seen.append([call.input for call in model.calls])
                kept.append(await one.get_items())
        assert seen[1] == seen[0]
        assert kept[1] == kept[0]
        assert [item.get("type", item.get("role")) for item in kept[1]] == [
            "user", "reasoning", "function_call", "function_call_output", "message",
            "user", "message", "user", "message",
        ]  # fmt: skip


async def test_a_handoff_keeps_its_form_and_the_next_agent_has_the_history() -> None:
    async with agents_session() as (session, runtime):
        second, heard = shop(said("Refunds take 3 days.", "msg_2"), said("Yes.", "msg_3"))
        second.name = "refunds"
        first, _ = shop(
            [function_call("transfer_to_refunds", {}, call_id="h1", item_id="fc_h")], handoffs=[second]
        )
        result = await run(first, "How long does a refund take?", session, quiet(session))
        assert result.last_agent is second
        await run(second, "Really?", session, quiet(session))
        items = heard.last_call.input
        assert [item.get("type", item.get("role")) for item in items] == [
            "user", "function_call", "function_call_output", "message", "user"
        ]  # fmt: skip
        assert (items[1]["name"], items[1]["call_id"], items[2]["call_id"]) == (
            "transfer_to_refunds",
            "h1",
            "h1",
        )
        handle = await runtime.spawn("s", user="ada")
        assert [one.role for one in await handle.messages()] == [
            "user", "assistant", "tool", "assistant", "user", "assistant"
        ]  # fmt: skip


async def test_what_the_question_is_about_is_recalled_and_not_recorded() -> None:
    async with agents_session() as (session, runtime):
        other = await runtime.spawn("old", user="ada")
        async with other.turn("I'm allergic to peanuts.") as turn:
            turn.reply("Noted.")
        await runtime.settle()
        agent, model = shop(said("Peanuts.", "msg_1"), said("ok", "msg_2"))
        await run(agent, "What am I allergic to?", session, quiet(session))
        assert "allergic to peanuts" in str(model.calls[0].input)
        await run(agent, "Thanks", session, quiet(session))
        handle = await runtime.spawn("s", user="ada")
        assert [one.text for one in await handle.messages()] == [
            "What am I allergic to?",
            "Peanuts.",
            "Thanks",
            "ok",
        ]


async def test_the_history_stays_within_the_budget_and_calls_with_their_outputs() -> None:
    async with agents_session(budget=actormem.Budget(context=600)) as (session, _):
        for number in range(12):
            await session.add_items([
                user(f"Where is order KX-{number}? " + "Please look closely. " * 5),
                thought(f"rs_{number}").model_dump(exclude_none=True),
                {"type": "function_call", "call_id": f"c{number}", "name": "track", "arguments": "{}"},
                {"type": "function_call_output", "call_id": f"c{number}", "output": "sent " * 10},
                {"role": "assistant", "content": f"Order {number} is sent."},
            ])  # fmt: skip
        items = await session.get_items()
        calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
        outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
        thoughts = [item["id"] for item in items if item.get("type") == "reasoning"]
        assert calls == outputs
        assert [f"rs_{call[1:]}" for call in calls] == thoughts
        assert 0 < len(calls) < 12
        assert items[-1]["content"] == "Order 11 is sent."
        assert await session.get_items(2) == items[-2:]
        assert await session.get_items(0) == []


async def test_a_failed_run_may_be_made_again() -> None:
    async with agents_session() as (session, runtime):
        agent, model = shop(ModelStep.raise_error(RuntimeError("down")), said("up", "msg_1"))
        with pytest.raises(RuntimeError, match="down"):
            await run(agent, "hello", session, quiet(session))
        await run(agent, "and again", session, quiet(session))
        assert [item["content"] for item in model.calls[-1].input] == ["hello", "and again"]
        handle = await runtime.spawn("s", user="ada")
        assert [one.text for one in await handle.messages()] == ["hello", "and again", "up"]


async def test_input_that_a_guardrail_stopped_is_kept_once() -> None:
    async def refuse(*_: object) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    async with agents_session() as (session, _):
        agent, _ = shop(said("never", "msg_1"), input_guardrails=[InputGuardrail(guardrail_function=refuse)])
        for _ in range(2):
            with pytest.raises(InputGuardrailTripwireTriggered):
                await run(agent, "ok", session, quiet(session))
        assert [item["content"] for item in await session.get_items() if item.get("role") == "user"] == [
            "ok",
            "ok",
        ]


async def test_a_run_that_ended_before_it_handed_its_input_over_leaves_nothing_behind() -> None:
    async with agents_session() as (session, runtime):
        await session.recalling([], [user("ok")])  # the run is cancelled here
        await session.get_items()
        await session.add_items([user("ok")])
        handle = await runtime.spawn("s", user="ada")
        assert [one.text for one in await handle.messages()] == ["ok", "ok"]


async def test_items_are_popped_one_by_one_as_they_came() -> None:
    items: list[Any] = [
        user("q"),
        thought("rs_1").model_dump(exclude_none=True),
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "track", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "sent"},
        assistant_message("好", item_id="msg_1").model_dump(exclude_none=True),
    ]
    async with agents_session() as (session, _):
        await session.add_items(items)
        assert await session.get_items() == items
        popped = [await session.pop_item() for _ in range(5)]
        assert popped == items[::-1]
        assert await session.pop_item() is None


async def test_clearing_erases_the_session_and_nothing_of_another() -> None:
    async with agents_session() as (session, runtime):
        other = Session(runtime, "t", user="ada")
        await session.add_items([user("My boat is called Heron.")])
        await other.add_items([user("My dog is called Rex.")])
        await runtime.settle()
        await session.clear_session()
        assert await session.get_items() == []
        assert len(await other.get_items()) == 1
        texts = [item.text for item in await runtime.items("ada")]
        assert not any("Heron" in text for text in texts)
        assert any("Rex" in text for text in texts)
        await session.add_items([user("again")])
        assert await session.get_items() == [user("again")]


async def test_the_history_is_there_after_a_restart(tmp_path: Path) -> None:
    items: list[Any] = [user("q"), assistant_message("好", item_id="msg_1").model_dump(exclude_none=True)]
    async with agents_session(tmp_path) as (session, _):
        await session.add_items(items)
    async with agents_session(tmp_path) as (session, _):
        assert await session.get_items() == items


async def test_the_limit_of_the_sdks_settings_holds() -> None:
    async with agents_session(session_settings=SessionSettings(limit=1)) as (session, _):
        await session.add_items([user("a"), {"role": "assistant", "content": "b"}])
        assert await session.get_items() == [{"role": "assistant", "content": "b"}]
        assert len(await session.get_items(5)) == 2


@pytest.mark.parametrize("wrong", [[3], ["text"], [{"role": "user", "content": 3}]])
async def test_wrong_items_are_refused_and_nothing_changes(wrong: list[Any]) -> None:
    async with agents_session() as (session, _):
        with pytest.raises(UsageError):
            await session.add_items([user("fine"), *wrong])
        with pytest.raises(UsageError, match="limit"):
            await session.get_items(-1)
        assert await session.get_items() == []
        with pytest.raises(UsageError, match="runtime"):
            Session(object(), "s", user="ada")  # type: ignore[arg-type]


def test_the_example_of_the_module_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with LoopbackServer("三天。") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        agents.set_default_openai_api("chat_completions")
        agents.set_tracing_disabled(True)
        try:
            lines = (openai_agents.__doc__ or "").splitlines()
            exec("\n".join(line[4:] for line in lines if line.startswith("    ")), {})
        finally:
            agents.set_default_openai_api("responses")
            agents.set_tracing_disabled(False)
    assert capsys.readouterr().out == "三天。\n"
    assert "KX-48210" in str(server.seen[0].body)


def test_without_the_sdk_one_line_says_what_to_install() -> None:
    program = "import sys; sys.modules['agents'] = None; import actormem.integrations.openai_agents"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == (
        "ImportError: this needs the OpenAI Agents SDK: pip install 'actormem[agents]'"
    )
