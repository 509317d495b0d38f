"""Memory around the real `openai.AsyncOpenAI`: chat completions, whole and streamed, with tools and with faults."""

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import openai
import pytest
from openai import AsyncStream
from openai.types.chat import ChatCompletion, ChatCompletionChunk

import actormem
from actormem import UsageError
from actormem.integrations import openai_client
from actormem.integrations.openai_client import MemoryOpenAI, with_memory
from actormem.testing.faults import FailingRecord
from benchmarks.openai_wire import event
from tests.edge.scripted_openai import Provider, call, result
from tests.loopback import LoopbackServer
from tests.runtimes import opened

pytestmark = [
    pytest.mark.anyio,
    # On trio the openai package itself leaves generators of a stream to be collected, also where it is read to its end.
    pytest.mark.filterwarnings("ignore:Async generator '(openai|httpx2):ResourceWarning"),
]

ADA: dict[str, Any] = {"model": "gpt-4o", "session": "s", "user": "ada"}
TOOLS = [{"type": "function", "function": {"name": "track", "parameters": {"type": "object"}}}]


def user(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


@asynccontextmanager
async def remembering(
    provider: Provider, path: Path | None = None
) -> AsyncIterator[tuple[MemoryOpenAI, actormem.Runtime]]:
    async with opened(path) as runtime, provider.client() as plain:
        yield with_memory(plain, runtime), runtime


async def told(runtime: actormem.Runtime, session_id: str = "s") -> list[tuple[str, str]]:
    """Role and words of every message of the session; of calls their ids."""
    session = await runtime.spawn(session_id, user="ada")
    return [
        (one.role, one.text or ",".join(made.id for made in one.tool_calls))
        for one in await session.messages()
    ]


async def outcomes(runtime: actormem.Runtime) -> list[str]:
    return [turn.outcome for turn in await (await runtime.spawn("s", user="ada")).turns()]


# --- whole replies ------------------------------------------------------------------------------------


async def test_only_what_is_new_is_given_and_the_model_sees_all_of_it() -> None:
    provider = Provider("早！", "On its way.")
    async with remembering(provider) as (client, runtime):
        first = await client.chat.completions.create(messages=[user("早上好")], **ADA)
        await client.chat.completions.create(messages=[user("My parcel?")], **ADA)
        assert type(first) is ChatCompletion
        assert first.choices[0].message.content == "早！"
        assert provider.sent == [user("早上好"), assistant("早！"), user("My parcel?")]
        assert await told(runtime) == [
            ("user", "早上好"), ("assistant", "早！"), ("user", "My parcel?"), ("assistant", "On its way.")
        ]  # fmt: skip
        assert await outcomes(runtime) == ["complete", "complete"]


async def test_the_usage_is_learned_from_and_whose_it_is_stays_here() -> None:
    provider = Provider("ok")
    provider.prompt_tokens = 3_000
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("hi")], temperature=0.5, tenant="acme", **ADA)
        assert runtime.statistics().usage_above_count == 1
        assert provider.bodies == [{"model": "gpt-4o", "temperature": 0.5, "messages": [user("hi")]}]
        assert (await (await runtime.spawn("s", user="ada", tenant="acme")).messages())[0].text == "hi"


async def test_the_whole_history_may_be_given_and_nothing_is_recorded_twice() -> None:
    provider = Provider("one", call("c1"), "two", "three")
    history: list[Any] = [{"role": "system", "content": "You help."}]
    async with remembering(provider) as (client, runtime):
        for said in ("ok", "ok", "ok"):
            history.append(user(said))
            while True:
                reply = await client.chat.completions.create(messages=history, tools=TOOLS, **ADA)
                message = reply.choices[0].message
                history.append(message)
                for made in message.tool_calls or ():
                    history.append(result(made.id))
                if not message.tool_calls:
                    break
        assert await told(runtime) == [
            ("user", "ok"), ("assistant", "one"), ("user", "ok"), ("assistant", "c1"), ("tool", "sent"),
            ("assistant", "two"), ("user", "ok"), ("assistant", "three"),
        ]  # fmt: skip
        assert await outcomes(runtime) == ["complete"] * 3
        assert provider.sent[0] == {"role": "system", "content": "You help."}
        assert [one["role"] for one in provider.sent] == [
            "system", "user", "assistant", "user", "assistant", "tool", "assistant", "user"
        ]  # fmt: skip


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_tool_loop_is_one_turn_and_each_request_extends_the_one_before(
    whole: bool, streamed: bool
) -> None:
    two = {"content": "两个", "tool_calls": [*call("c2")["tool_calls"], *call("c3")["tool_calls"]]}
    provider = Provider(call("c1"), two, "Done.")
    given: list[Any] = [user("Track my parcel KX-1.")]
    async with remembering(provider) as (client, runtime):
        for results in ([result("c1")], [result("c2"), result("c3", "late")], []):
            message = await asked(client, given, streamed=streamed)
            given = [*given, message, *results] if whole else results
        assert await told(runtime) == [
            ("user", "Track my parcel KX-1."), ("assistant", "c1"), ("tool", "sent"), ("assistant", "两个"),
            ("tool", "sent"), ("tool", "late"), ("assistant", "Done."),
        ]  # fmt: skip
        assert await outcomes(runtime) == ["complete"]
        for before, after in zip(provider.bodies, provider.bodies[1:], strict=False):
            assert after["messages"][: len(before["messages"])] == before["messages"]


async def asked(client: MemoryOpenAI, messages: Sequence[Any], *, streamed: bool) -> dict[str, Any]:
    """The reply as a program keeps it that has put it together itself."""
    if not streamed:
        completion = await client.chat.completions.create(messages=messages, tools=TOOLS, **ADA)
        return completion.choices[0].message.model_dump(exclude_none=True)
    words, calls = "", []
    async for chunk in await client.chat.completions.create(
        messages=messages, tools=TOOLS, stream=True, **ADA
    ):
        words += chunk.choices[0].delta.content or ""
        calls += [one.model_dump(exclude={"index"}) for one in chunk.choices[0].delta.tool_calls or ()]
    return {"role": "assistant", "content": words or None, **({"tool_calls": calls} if calls else {})}


@pytest.mark.parametrize("context", [400, 1_200])
async def test_a_long_tool_loop_stays_within_its_budget_and_whole_calls(context: int) -> None:
    """The provider refuses a call without its result; summaries are swapped in between any two requests."""
    rounds = 12
    provider = Provider(
        *(call(f"c{number}", arguments=f'{{"page": {number}}}') for number in range(rounds)), "Done."
    )
    async with remembering(provider) as (client, runtime):
        await runtime.spawn("s", user="ada", budget=actormem.Budget(context=context))
        given: list[Any] = [user("Read all pages of KX-48210 and tell me the sum.")]
        for number in range(rounds + 1):
            reply = await client.chat.completions.create(messages=given, **ADA)
            await runtime.settle()
            assert "KX-48210" in str(provider.sent)
            if number:
                assert provider.sent[-1] == given[0], "the newest result is always there"
            given = [result(f"c{number}", f"Page {number} says {number * 1_111} units. " * 4)]
        assert reply.choices[0].message.content == "Done."
        assert len(await told(runtime)) == 2 * rounds + 2
        assert await outcomes(runtime) == ["complete"]


async def test_a_tool_loop_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with remembering(Provider(call("c1")), tmp_path) as (client, _):
        await client.chat.completions.create(messages=[user("Track it.")], **ADA)
    provider = Provider("Sent.")
    async with remembering(provider, tmp_path) as (client, runtime):
        await client.chat.completions.create(messages=[result("c1")], **ADA)
        assert [one["role"] for one in provider.sent] == ["user", "assistant", "tool"]
        assert await outcomes(runtime) == ["complete"]


async def test_a_call_nobody_answered_is_closed_and_a_late_result_is_refused_in_a_line() -> None:
    provider = Provider(call("c1"), "Never mind then.")
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("Track it.")], **ADA)
        await client.chat.completions.create(messages=[user("Leave it.")], **ADA)
        with pytest.raises(UsageError, match="nothing is there to be answered"):
            await client.chat.completions.create(messages=[result("c1")], **ADA)
        assert [one[0] for one in await told(runtime)] == ["user", "assistant", "tool", "user", "assistant"]


async def test_results_and_the_next_question_may_come_together() -> None:
    provider = Provider(call("c1"), "Both.")
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("Track it.")], **ADA)
        await client.chat.completions.create(messages=[result("c1"), user("And the other?")], **ADA)
        assert [one["role"] for one in provider.sent] == ["user", "assistant", "tool", "user"]
        assert await told(runtime) == [
            ("user", "Track it."), ("assistant", "c1"), ("tool", "sent"), ("user", "And the other?"),
            ("assistant", "Both."),
        ]  # fmt: skip


async def test_a_history_from_before_is_taken_in_once() -> None:
    provider = Provider("now", "later")
    old = [user("我叫小林"), assistant("你好，小林"), user("q2"), assistant("a2")]
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[*old, user("q3")], **ADA)
        await client.chat.completions.create(messages=[*old, user("q3"), assistant("now"), user("q4")], **ADA)
        assert [text for _, text in await told(runtime)] == [
            "我叫小林", "你好，小林", "q2", "a2", "q3", "now", "q4", "later"
        ]  # fmt: skip


async def test_a_reply_that_the_program_changed_or_cut_its_window_is_still_known() -> None:
    provider = Provider("raw reply", "two", "three")
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("q1")], **ADA)
        await client.chat.completions.create(messages=[user("q1"), assistant("polished"), user("q2")], **ADA)
        await client.chat.completions.create(messages=[assistant("two"), user("q3")], **ADA)
        assert [text for _, text in await told(runtime)] == ["q1", "raw reply", "q2", "two", "q3", "three"]


async def test_the_same_question_asked_again_gets_another_answer_in_its_place() -> None:
    provider = Provider("one", "dull", "bright", "new")
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("q1")], **ADA)
        again = [user("q1"), assistant("one"), user("q2")]
        await client.chat.completions.create(messages=again, **ADA)
        await client.chat.completions.create(messages=again, **ADA)
        assert provider.sent == again
        assert [text for _, text in await told(runtime)] == ["q1", "one", "q2", "bright"]
        await client.chat.completions.create(messages=[user("q2")], **ADA)  # what is new alone: said twice
        assert [text for _, text in await told(runtime)][-2:] == ["q2", "new"]


async def test_going_back_past_a_later_question_takes_nothing_away() -> None:
    provider = Provider("a1", "a2", "a3", "again")
    async with remembering(provider) as (client, runtime):
        for said in ("q1", "q2", "q3"):
            await client.chat.completions.create(messages=[user(said)], **ADA)
        await client.chat.completions.create(messages=[user("q1"), assistant("a1"), user("q2")], **ADA)
        texts = [text for _, text in await told(runtime)]
        assert texts == ["q1", "a1", "q2", "a2", "q3", "a3", "q2", "again"]


@pytest.mark.parametrize("whole", [False, True])
async def test_a_failed_call_may_be_made_again(whole: bool) -> None:
    broken = httpx2.Response(500, json={"error": {"message": "down"}})
    provider = Provider("a1", broken, httpx2.ConnectError("gone"), "a2")
    before = [user("q1"), assistant("a1")] if whole else []
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("q1")], **ADA)
        for _ in range(2):
            with pytest.raises(openai.APIError):
                await client.chat.completions.create(messages=[*before, user("q2")], **ADA)
        assert await outcomes(runtime) == ["complete", "failed"]
        await client.chat.completions.create(messages=[*before, user("q2")], **ADA)
        assert [text for _, text in await told(runtime)] == ["q1", "a1", "q2", "a2"]
        assert await outcomes(runtime) == ["complete", "complete"]


async def test_a_cancelled_call_is_unanswered_and_may_be_made_again() -> None:
    provider = Provider("a1")
    async with remembering(provider) as (client, runtime):
        with anyio.CancelScope() as scope:
            provider.script.appendleft(lambda _: scope.cancel() or "never seen")
            await client.chat.completions.create(messages=[user("q1")], **ADA)
            await anyio.lowlevel.checkpoint()
        await client.chat.completions.create(messages=[user("q1")], **ADA)
        assert [text for _, text in await told(runtime)][:1] == ["q1"]
        assert [role for role, _ in await told(runtime)].count("user") <= 2


async def test_a_message_with_an_id_is_never_doubled() -> None:
    provider = Provider("a1", "a2")
    async with remembering(provider) as (client, runtime):
        given = {**user("q1"), "id": "web-1"}
        await client.chat.completions.create(messages=[given], **ADA)
        assert provider.sent == [user("q1")]
        with pytest.raises(UsageError):
            await client.chat.completions.create(messages=[given], **ADA)
        assert len(await told(runtime)) == 2


async def test_a_request_that_is_too_long_goes_out_again_smaller() -> None:
    refused = httpx2.Response(400, json={"error": {"message": "long", "code": "context_length_exceeded"}})
    provider = Provider(*["word " * 100] * 4, refused, "Short.")
    async with remembering(provider) as (client, runtime):
        for number in range(4):
            await client.chat.completions.create(messages=[user(f"q{number}")], **ADA)
        reply = await client.chat.completions.create(messages=[user("and now?")], **ADA)
        assert reply.choices[0].message.content == "Short."
        assert len(str(provider.bodies[-1])) < len(str(provider.bodies[-2]))
        assert provider.sent[-1]["content"].endswith("and now?")
        assert (await told(runtime))[-1] == ("assistant", "Short.")


async def test_what_memory_knows_from_another_session_is_shown() -> None:
    provider = Provider("Noted.", "Peanuts.")
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("I'm allergic to peanuts.")], **ADA)
        await runtime.settle()
        await client.chat.completions.create(
            messages=[user("What am I allergic to?")], **{**ADA, "session": "t"}
        )
        assert "allergic to peanuts" in str(provider.sent)


async def test_a_reply_that_is_none_is_handed_on_and_the_question_stays_open() -> None:
    html = httpx2.Response(200, text="<html>hello</html>", headers={"content-type": "text/html"})
    empty = httpx2.Response(200, json={"id": "x", "object": "chat.completion", "choices": None, "model": "m"})
    provider = Provider(html, empty, "at last")
    async with remembering(provider) as (client, runtime):
        for _ in range(3):
            await client.chat.completions.create(messages=[user("q")], **ADA)
        assert await told(runtime) == [("user", "q"), ("assistant", "at last")]


# --- streams ------------------------------------------------------------------------------------------


async def test_a_stream_is_the_packages_own_and_its_reply_and_usage_are_recorded() -> None:
    provider = Provider("早上好，世界！")
    provider.prompt_tokens = 3_000
    async with remembering(provider) as (client, runtime):
        stream = await client.chat.completions.create(messages=[user("hi")], stream=True, **ADA)
        assert isinstance(stream, AsyncStream)
        found = [chunk async for chunk in stream]
        assert all(type(chunk) is ChatCompletionChunk for chunk in found)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in found) == "早上好，世界！"
        assert await told(runtime) == [("user", "hi"), ("assistant", "早上好，世界！")]
        assert await outcomes(runtime) == ["complete"]
        assert runtime.statistics().usage_above_count == 1
        assert provider.bodies[0]["stream_options"] == {"include_usage": True}
        assert provider.streams[0].closed


async def test_who_asks_for_usage_sees_it_and_who_says_otherwise_is_heard() -> None:
    provider = Provider("a", "b")
    async with remembering(provider) as (client, _):
        options = {"include_usage": True}
        asked = await client.chat.completions.create(
            messages=[user("1")], stream=True, stream_options=options, **ADA
        )
        assert [chunk async for chunk in asked][-1].usage is not None
        other = {"include_obfuscation": False}
        stream = await client.chat.completions.create(
            messages=[user("2")], stream=True, stream_options=other, **ADA
        )
        assert len([chunk async for chunk in stream]) == 3
        assert provider.bodies[1]["stream_options"] == other


@pytest.mark.parametrize("leave", ["break", "close", "block", "aclose", "raise"])
async def test_a_stream_that_is_left_early_records_the_part(leave: str, anyio_backend_name: str) -> None:
    if leave == "break" and anyio_backend_name == "trio":
        pytest.skip("trio warns of generators that are dropped: use `async with` there")
    provider = Provider("The parcel is on its way.", "next")
    async with remembering(provider) as (client, runtime):
        stream = await client.chat.completions.create(messages=[user("q")], stream=True, **ADA)
        await left_early(stream, leave)
        with anyio.fail_after(10):
            while (await outcomes(runtime))[
                0
            ] == "open":  # a dropped loop is closed by the event loop, a little later
                await anyio.lowlevel.checkpoint()
        assert await told(runtime) == [("user", "q"), ("assistant", "The parc")]
        assert await outcomes(runtime) == ["partial"]
        assert provider.streams[0].closed
        assert provider.streams[0].read_count < len(provider.streams[0].pieces)
        await client.chat.completions.create(messages=[user("q2")], **ADA)
        assert [text for _, text in await told(runtime)] == ["q", "The parc", "q2", "next"]


async def left_early(stream: Any, leave: str) -> None:
    if leave == "break":
        async for chunk in stream:
            if chunk.choices[0].delta.content == "parc":
                break
    elif leave == "block":
        async with stream:
            for _ in range(3):
                await anext(stream)
    elif leave == "raise":
        with pytest.raises(RuntimeError, match="by the program"):
            await read_and_raise(stream)
    else:
        for _ in range(3):
            await anext(stream)
        await getattr(stream, leave)()
        await stream.close()


async def read_and_raise(stream: Any) -> None:
    async with stream:
        for _ in range(3):
            await anext(stream)
        raise RuntimeError("by the program")


async def test_asked_again_after_it_was_left_early_the_part_gives_way() -> None:
    provider = Provider("The parcel is on its way.", "Whole.")
    async with remembering(provider) as (client, runtime):
        async with await client.chat.completions.create(messages=[user("q")], stream=True, **ADA) as stream:
            for _ in range(3):
                await anext(stream)
        await client.chat.completions.create(messages=[user("q")], **ADA)
        assert provider.sent == [user("q")]
        assert await told(runtime) == [("user", "q"), ("assistant", "Whole.")]


async def test_the_first_chunk_may_be_looked_at_before_the_loop() -> None:
    provider = Provider("abcdefgh")
    async with remembering(provider) as (client, runtime):
        stream = await client.chat.completions.create(messages=[user("q")], stream=True, **ADA)
        await anext(stream)
        assert [chunk.choices[0].delta.content async for chunk in stream] == ["abcd", "efgh", None]
        assert (await told(runtime))[-1] == ("assistant", "abcdefgh")


async def test_a_stream_nobody_ever_read_does_not_hold_the_session(anyio_backend_name: str) -> None:
    provider = Provider("unread", "read")
    async with remembering(provider) as (client, runtime):
        await client.chat.completions.create(messages=[user("q1")], stream=True, **ADA)
        gc.collect()
        with anyio.fail_after(10):
            while anyio_backend_name == "asyncio" and await outcomes(runtime) == ["open"]:
                await anyio.lowlevel.checkpoint()
        await client.chat.completions.create(messages=[user("q2")], **ADA)
        assert await told(runtime) == [("user", "q1"), ("user", "q2"), ("assistant", "read")]
        assert provider.streams[0].closed
        assert await outcomes(runtime) == ["unanswered", "complete"]


async def test_a_broken_connection_keeps_the_part_and_raises_as_ever() -> None:
    provider = Provider(lambda _: broken_stream(), "fine")
    async with remembering(provider) as (client, runtime):
        stream = await client.chat.completions.create(messages=[user("q")], stream=True, **ADA)
        with pytest.raises(openai.APIConnectionError):
            async for _ in stream:
                pass
        assert await told(runtime) == [("user", "q"), ("assistant", "half")]
        assert await outcomes(runtime) == ["failed"]


def broken_stream() -> httpx2.Response:
    delta = {"index": 0, "delta": {"content": "half"}}
    chunk = event(
        {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [delta]}
    )

    class Broken(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield chunk
            raise httpx2.ReadError("reset")

    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Broken())


async def test_a_cancelled_stream_records_the_part() -> None:
    provider = Provider("The parcel is on its way.")
    async with remembering(provider) as (client, runtime):
        with anyio.CancelScope() as scope:
            async for chunk in await client.chat.completions.create(messages=[user("q")], stream=True, **ADA):
                if chunk.choices[0].delta.content == "parc":
                    scope.cancel()
        await runtime.settle()
        assert await told(runtime) == [("user", "q"), ("assistant", "The parc")]


async def test_what_cannot_be_recorded_is_told_in_the_log_and_the_reply_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made: list[FailingRecord] = []

    def failing(record: Any) -> FailingRecord:
        made.append(FailingRecord(record, at=10_000, fault="full"))
        return made[-1]

    provider = Provider("kept", "lost", "and lost")
    async with opened(wrap_record=failing) as runtime, provider.client() as plain:
        client = with_memory(plain, runtime)
        await client.chat.completions.create(messages=[user("q1")], **ADA)
        made[0]._at = made[0].call_count + 1
        reply = await client.chat.completions.create(messages=[user("q2")], **ADA)
        assert reply.choices[0].message.content == "lost"
        assert provider.sent[-1] == user("q2")
    [line] = [one for one in caplog.records if one.name == "actormem.integrations"]
    assert "a turn was not recorded" in line.getMessage()
    assert "q2" not in line.getMessage()


@pytest.mark.parametrize("whole", [False, True])
async def test_a_session_is_read_once_however_long_it_grows(
    whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[object] = []
    monkeypatch.setattr(actormem.Session, "messages", counted(actormem.Session.messages, reads))
    provider = Provider(*(f"a{number}" for number in range(40)))
    history: list[Any] = []
    async with remembering(provider) as (client, _):
        for number in range(40):
            new = [user(f"q{number}")]
            given = [*history, *new] if whole else new
            reply = await client.chat.completions.create(messages=given, **ADA)
            history += [*new, reply.choices[0].message]
    assert len(reads) == 1


def counted(method: Any, calls: list[object]) -> Any:
    async def call(self: Any) -> Any:
        calls.append(self)
        return await method(self)

    return call


async def test_many_streams_at_once_are_each_recorded_where_they_belong() -> None:
    provider = Provider(*[lambda body: "re " + body["messages"][-1]["content"]] * 72)
    async with remembering(provider) as (client, runtime):

        async def converse(number: int) -> None:
            whose = {"model": "gpt-4o", "session": "s", "user": f"user-{number}"}
            for turn in range(3):
                said = user(f"{number}.{turn}")
                async with await client.chat.completions.create(
                    messages=[said], stream=True, **whose
                ) as stream:
                    async for _ in stream:
                        pass

        async with anyio.create_task_group() as group:
            for number in range(24):
                group.start_soon(converse, number)
        for number in range(24):
            session = await runtime.spawn("s", user=f"user-{number}")
            texts = [one.text for one in await session.messages()]
            assert texts == [
                words for turn in range(3) for words in (f"{number}.{turn}", f"re {number}.{turn}")
            ]


async def test_calls_of_one_session_wait_for_each_other() -> None:
    provider = Provider("one", "two", "three")
    async with remembering(provider) as (client, runtime):
        async with anyio.create_task_group() as group:
            for said in ("q1", "q2", "q3"):
                group.start_soon(
                    lambda said=said: client.chat.completions.create(messages=[user(said)], **ADA)
                )
        roles = [role for role, _ in await told(runtime)]
        assert roles == ["user", "assistant"] * 3
        assert await outcomes(runtime) == ["complete"] * 3


# --- the rest of the client ---------------------------------------------------------------------------


async def test_all_else_of_the_client_is_the_clients_own() -> None:
    provider = Provider("plain", "raw", "other")
    async with remembering(provider) as (client, runtime):
        assert isinstance(client, openai.AsyncOpenAI)
        plain = await client.chat.completions.create(model="gpt-4o", messages=[user("hi")], user="ada")
        assert plain.choices[0].message.content == "plain"
        assert provider.bodies[0] == {"model": "gpt-4o", "messages": [user("hi")], "user": "ada"}
        raw = await client.chat.completions.with_raw_response.create(model="gpt-4o", messages=[user("hi")])
        assert raw.status_code == 200
        assert await runtime.sessions("ada") == ()
        client.api_key = "other"
        copy = client.with_options(timeout=7, default_headers={"x-team": "blue"})
        assert (copy.timeout, copy.api_key) == (7, "other")
        await copy.chat.completions.create(messages=[user("hi")], **ADA)
        assert provider.headers[-1]["x-team"] == "blue"
        assert provider.headers[-1]["authorization"] == "Bearer other"
        assert len(await runtime.sessions("ada")) == 1
        assert client.models is not None
        assert client.base_url == "http://provider/v1/"


async def test_a_client_of_a_class_made_of_it_works_too() -> None:
    provider = Provider("azure")
    http = httpx2.AsyncClient(transport=provider)
    async with opened() as runtime:
        azure = openai.AsyncAzureOpenAI(
            api_key="none", azure_endpoint="http://azure", api_version="2024-10-21", http_client=http
        )
        client = with_memory(azure, runtime)
        assert isinstance(client, openai.AsyncAzureOpenAI)
        await client.chat.completions.create(messages=[user("hi")], **ADA)
        assert (await told(runtime))[-1] == ("assistant", "azure")
        await client.close()
        assert azure.is_closed()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user": None}, "name the user"),
        ({"user": openai.omit}, "name the user"),
        ({"user": ""}, "user"),
        ({"session": ""}, "session id"),
        ({"messages": []}, "nothing is there"),
        ({"messages": "hi"}, "messages must be a list"),
        ({"messages": None}, "messages must be a list"),
        ({"messages": ["hi"]}, "mappings"),
        ({"messages": [{"role": "user", "content": None}]}, "must have content"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role must be one of"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "nothing is there"),
        ({"messages": [{"role": "system", "content": "x"}]}, "nothing is there"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "c"}]}, "nothing is there"),
        ({"extra_headers": {"X-Stainless-Raw-Response": "true"}}, "create alone"),
        ({"tools": [1]}, "tools must be"),
    ],
)
async def test_a_wrong_request_is_refused_in_a_line_and_changes_nothing(
    change: dict[str, Any], words: str
) -> None:
    provider = Provider()
    async with remembering(provider) as (client, runtime):
        with pytest.raises(UsageError, match=words) as error:
            await client.chat.completions.create(**{"messages": [user("hi")], **ADA, **change})
        assert "\n" not in str(error.value)
        assert provider.bodies == []
        assert await told(runtime) == []


async def test_wrong_things_to_wrap_are_refused() -> None:
    async with remembering(Provider()) as (client, runtime):
        with pytest.raises(UsageError, match="AsyncOpenAI, not OpenAI"):
            with_memory(openai.OpenAI(api_key="x"), runtime)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="runtime must be"):
            with_memory(client, object())  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="already"):
            with_memory(client, runtime)


def test_the_example_of_the_module_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with LoopbackServer("三天。") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        lines = (openai_client.__doc__ or "").splitlines()
        exec("\n".join(line[4:] for line in lines if line.startswith("    ")), {})
    assert capsys.readouterr().out == "三天。"
    assert "KX-48210" in str(server.seen[0].body)
