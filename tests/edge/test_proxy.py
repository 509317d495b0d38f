"""The proxy under /v1, with the real openai client before it, and behind it a server that speaks its protocol."""

import json
from pathlib import Path
from typing import Any

import anyio
import openai
import pytest

from actormem.remote.transport import client_library
from actormem.server.grants import add_key, read_keys
from actormem.server.settings import ServerSettings
from tests.edge.served import Served, running, served
from tests.loopback import Answer, Drip, LoopbackServer

WHO = {"x-actormem-user": "ada", "x-actormem-session": "s-1"}
TOOL = {"type": "function", "function": {"name": "track", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
def anyio_backend() -> str:
    """Uvicorn runs on asyncio alone."""
    return "asyncio"


def behind(server: LoopbackServer, **settings: Any) -> ServerSettings:
    return ServerSettings(upstream=server.base_url, **settings)


def client(one: Served, headers: dict[str, str] = WHO, **options: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=f"{one.url}/v1", api_key="sk-mine", default_headers=headers, max_retries=0, **options
    )


def user(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


@pytest.mark.anyio
async def test_a_client_that_sends_its_history_and_one_that_does_not_both_have_a_memory() -> None:
    with LoopbackServer() as model:
        async with served(settings=behind(model)) as one, client(one) as ask:
            rules = {"role": "system", "content": "You are a shop."}
            first = await ask.chat.completions.create(model="m", messages=[rules, user("我搬到杭州了。")])
            said = {"role": "assistant", "content": first.choices[0].message.content}
            history = [rules, user("我搬到杭州了。"), said, user("Where do I live?")]
            await ask.chat.completions.create(model="m", messages=history)
            await ask.chat.completions.create(model="m", messages=[user("And what did I say first?")])
            sent = [request.body["messages"] for request in model.seen]
            assert [one["role"] for one in sent[1]] == ["system", "user", "assistant", "user"]
            assert [one["role"] for one in sent[2]] == [
                "system",
                "user",
                "assistant",
                "user",
                "assistant",
                "user",
            ]
            session = await one.runtime.spawn("s-1", user="ada")
            assert [turn.outcome for turn in await session.turns()] == ["complete"] * 3
            address = await one.runtime.value("ada", "address")
            assert address is not None
            assert address.value == "杭州"
            assert model.seen[0].headers["authorization"] == "Bearer sk-mine"


@pytest.mark.anyio
async def test_a_stream_goes_through_byte_for_byte_and_is_recorded() -> None:
    with LoopbackServer("好的，杭州。 Done.") as model:
        async with served(settings=behind(model)) as one:
            async with client_library().AsyncClient() as plain:
                body = {"model": "m", "stream": True, "messages": [user("hello")], "seed": 7}
                through = await plain.post(f"{one.url}/v1/chat/completions", json=body, headers=WHO)
                direct = await plain.post(f"{model.base_url}/chat/completions", json=body)
            assert _without_ids(through.text) == _without_ids(direct.text)
            assert through.headers["x-actormem-turn"]
            assert model.seen[0].body["seed"] == 7
            messages = await (await one.runtime.spawn("s-1", user="ada")).messages()
            assert [m.text for m in messages] == ["hello", "好的，杭州。 Done."]


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [True, False])
async def test_tools_are_one_turn(stream: bool) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": "{}"}}

    def reply(body: dict[str, Any]) -> Any:
        asked = body["messages"][-1]["role"] == "user"
        return {"content": None, "tool_calls": [call]} if asked else "In transit."

    with LoopbackServer(reply) as model:
        async with served(settings=behind(model)) as one, client(one) as ask:
            history: list[Any] = [user("Where is my parcel?")]
            for _ in range(2):
                message = await _said(ask, history, stream)
                history.append(message)
                if message.get("tool_calls"):
                    history.append({"role": "tool", "tool_call_id": "call_1", "content": "in transit"})
            session = await one.runtime.spawn("s-1", user="ada")
            [turn] = await session.turns()
            assert turn.outcome == "complete"
            assert [m.role for m in await session.messages()] == ["user", "assistant", "tool", "assistant"]
            assert [m["role"] for m in model.seen[1].body["messages"]] == ["user", "assistant", "tool"]


@pytest.mark.anyio
async def test_tool_results_find_their_turn_after_the_server_forgot_it() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": "{}"}}
    with LoopbackServer("In transit.") as model:
        async with served(settings=behind(model)) as one, client(one) as ask:
            session = await one.runtime.spawn("s-1", user="ada")
            async with session.turn("Where is my parcel?", id="q-1"):
                pass  # the process ended inside the turn: nothing had come of it
            history: list[Any] = [
                user("Where is my parcel?"),
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_1", "content": "in transit"},
            ]
            await ask.chat.completions.create(model="m", messages=history)
            assert [turn.id for turn in await session.turns()] == ["q-1"]
            assert [m.role for m in await session.messages()] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.anyio
async def test_upstream_errors_pass_through_and_the_same_question_again_doubles_nothing() -> None:
    refusal = Answer({"error": {"message": "slow down", "code": "rate"}}, 429, {"retry-after": "7"})
    with LoopbackServer() as model:
        model.faults.append(refusal)
        async with served(settings=behind(model)) as one, client(one) as ask:
            with pytest.raises(openai.RateLimitError) as raised:
                await ask.chat.completions.create(model="m", messages=[user("hello")])
            assert raised.value.response.headers["retry-after"] == "7"
            assert raised.value.code == "rate"
            await ask.chat.completions.create(model="m", messages=[user("hello")])
            session = await one.runtime.spawn("s-1", user="ada")
            assert [m.text for m in await session.messages()] == ["hello", "好的 (fine)"]
            assert [turn.outcome for turn in await session.turns()] == ["complete"]


@pytest.mark.anyio
async def test_who_leaves_before_a_word_came_may_ask_again() -> None:
    with LoopbackServer() as model:
        model.faults.append(Drip())
        async with served(settings=behind(model)) as one, client(one, timeout=0.3) as ask:
            with pytest.raises(openai.APITimeoutError):
                await ask.chat.completions.create(model="m", messages=[user("hello")])
            await ask.with_options(timeout=20).chat.completions.create(model="m", messages=[user("hello")])
            session = await one.runtime.spawn("s-1", user="ada")
            assert [m.role for m in await session.messages()] == ["user", "assistant"]


@pytest.mark.anyio
async def test_an_upstream_that_cannot_be_reached_is_told() -> None:
    async with served(settings=ServerSettings(upstream="http://127.0.0.1:9/v1")) as one, client(one) as ask:
        with pytest.raises(openai.InternalServerError, match="cannot be reached"):
            await ask.chat.completions.create(model="m", messages=[user("hello")])
    async with served() as one, client(one) as ask:
        with pytest.raises(openai.NotFoundError, match="--upstream"):
            await ask.chat.completions.create(model="m", messages=[user("hello")])


@pytest.mark.anyio
async def test_other_paths_pass_through_without_a_memory() -> None:
    with LoopbackServer() as model:
        async with served(settings=behind(model)) as one, client_library().AsyncClient() as plain:
            body = {"model": "e", "input": ["猫"]}
            answer = await plain.post(f"{one.url}/v1/embeddings", json=body)
            assert answer.status_code == 200
            assert answer.headers["x-actormem-memory"] == "none"
            assert (await plain.post(f"{one.url}/v1/nothing", json={})).status_code == 404
            leaving = await plain.post(f"{one.url}/v1/a/%2e%2e/secret", json={})
            assert leaving.status_code == 400


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "body", "says"),
    [
        ({"x-actormem-user": "ada"}, {"messages": [user("hi")]}, "x-actormem-session"),
        (WHO, {"messages": []}, "not empty"),
        (WHO, {"messages": ["SECRET"]}, "object with a role"),
        (WHO, {"messages": [user("hi"), {"role": "assistant", "content": "SECRET"}]}, "must end with"),
        (WHO, {"messages": [{"role": "user", "content": None}]}, "must have content"),
        (WHO, [1], "no JSON object"),
    ],
)
async def test_wrong_requests_are_refused_in_one_line(headers: dict[str, str], body: Any, says: str) -> None:
    with LoopbackServer() as model:
        async with served(settings=behind(model)) as one, client_library().AsyncClient() as plain:
            answer = await plain.post(f"{one.url}/v1/chat/completions", json=body, headers=headers)
            assert answer.status_code == 400
            assert says in answer.json()["error"]["message"]
            assert "SECRET" not in answer.text
            assert not model.seen
            assert not await one.runtime.sessions("ada") or not (
                await (await one.runtime.spawn("s-1", user="ada")).messages()
            )


@pytest.mark.anyio
async def test_ids_of_any_writing_come_percent_encoded() -> None:
    with LoopbackServer() as model:
        who = {"x-actormem-user": "%E9%98%BF%E8%BE%BE", "x-actormem-session": "a%2Fb"}
        async with served(settings=behind(model)) as one, client(one, who) as ask:
            await ask.chat.completions.create(model="m", messages=[user("hello")])
            [row] = await one.runtime.sessions("阿达")
            assert row.session_id == "a/b"


@pytest.mark.anyio
@pytest.mark.parametrize("written", ["René", "小明"])
async def test_ids_that_come_as_plain_utf_8_are_the_same_and_other_bytes_are_refused(written: str) -> None:
    with LoopbackServer() as model:
        async with served(settings=behind(model)) as one:
            body = {"model": "m", "messages": [user("hello")]}
            async with client_library().AsyncClient(base_url=one.url) as plain:
                for name, status in ((written.encode(), 200), (written.encode("gb18030"), 400)):
                    headers = [(b"x-actormem-user", name), (b"x-actormem-session", b"s")]
                    answer = await plain.post("/v1/chat/completions", json=body, headers=headers)
                    assert answer.status_code == status, answer.text
            assert [row.owner.user for row in await one.runtime.owners()] == [written]


async def _said(ask: openai.AsyncOpenAI, history: list[Any], stream: bool) -> dict[str, Any]:
    if not stream:
        whole = await ask.chat.completions.create(model="m", messages=history, tools=[TOOL])  # type: ignore[list-item]
        return whole.choices[0].message.model_dump(exclude_none=True)
    words, calls = "", dict[int, dict[str, Any]]()
    async with await ask.chat.completions.create(
        model="m",
        messages=history,
        tools=[TOOL],  # type: ignore[list-item]
        stream=True,
    ) as chunks:
        async for chunk in chunks:
            for choice in chunk.choices:
                words += choice.delta.content or ""
                for call in choice.delta.tool_calls or ():
                    piece = calls.setdefault(
                        call.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                    )
                    piece["id"] = call.id or piece["id"]
                    if call.function:
                        piece["function"]["name"] += call.function.name or ""
                        piece["function"]["arguments"] += call.function.arguments or ""
    return {
        "role": "assistant",
        "content": words or None,
        **({"tool_calls": [*calls.values()]} if calls else {}),
    }


def _without_ids(text: str) -> list[Any]:
    """The chunks of a stream, but for what the model's server draws anew."""
    lines = [line for line in text.splitlines() if line.startswith("data: {")]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    return [{key: value for key, value in chunk.items() if key not in ("id", "created")} for chunk in chunks]


class Gated:
    """A model's server that sends one word, and the next when it is told to."""

    def __init__(self) -> None:
        self.go_on = anyio.Event()
        self.left = anyio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["path"] == "/v1/chat/completions"
        while (await receive()).get("more_body"):
            pass
        head = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": self.word("Hel"), "more_body": True})
        async with anyio.create_task_group() as group:

            async def gone() -> None:
                await receive()
                self.left.set()
                group.cancel_scope.cancel()

            group.start_soon(gone)
            await self.go_on.wait()
            await send({"type": "http.response.body", "body": self.word("lo", "stop"), "more_body": False})
            group.cancel_scope.cancel()

    def word(self, text: str, finish: str | None = None) -> bytes:
        """One event."""
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        return b"data: " + json.dumps(body).encode() + b"\n\n"


@pytest.mark.anyio
async def test_each_word_goes_through_before_the_next_one_is_there() -> None:
    model = Gated()
    async with (
        running(model) as url,
        served(settings=ServerSettings(upstream=f"{url}/v1")) as one,
        client(one) as ask,
    ):
        asked = await ask.chat.completions.create(model="m", messages=[user("hello")], stream=True)
        words: list[str] = []
        with anyio.fail_after(20):
            async with asked as stream:
                async for chunk in stream:
                    words.append(chunk.choices[0].delta.content or "")
                    model.go_on.set()
        assert words == ["Hel", "lo"]


@pytest.mark.anyio
async def test_the_part_that_was_said_is_recorded_when_the_client_leaves() -> None:
    model = Gated()
    async with (
        running(model) as url,
        served(settings=ServerSettings(upstream=f"{url}/v1")) as one,
        client(one) as ask,
    ):
        with anyio.fail_after(20):
            async with await ask.chat.completions.create(
                model="m", messages=[user("hello")], stream=True
            ) as stream:
                async for _ in stream:
                    break
            await (
                model.left.wait()
            )  # the upstream is hung up on, too: nobody pays for words that nobody reads
            session = await one.runtime.spawn("s-1", user="ada")
            while (await session.turns())[-1].outcome == "open":
                await anyio.lowlevel.checkpoint()
            [turn] = await session.turns()
            assert turn.outcome == "partial"
            model.go_on.set()
            async with await ask.chat.completions.create(
                model="m", messages=[user("go on")], stream=True
            ) as stream:
                assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == "Hello"
        assert [m.text for m in await session.messages()] == ["hello", "Hel", "go on", "Hello"]


@pytest.mark.anyio
async def test_an_upstream_that_dies_in_the_middle_leaves_a_part_and_no_end() -> None:
    async def dying(scope: Any, receive: Any, send: Any) -> None:
        head = [(b"content-type", b"text/event-stream"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": Gated().word("Hel"), "more_body": True})

    async with (
        running(dying) as url,
        served(settings=ServerSettings(upstream=f"{url}/v1")) as one,
        client_library().AsyncClient() as plain,
    ):
        with pytest.raises(client_library().RemoteProtocolError):
            await plain.post(
                f"{one.url}/v1/chat/completions",
                json={"model": "m", "stream": True, "messages": [user("hello")]},
                headers=WHO,
            )
        session = await one.runtime.spawn("s-1", user="ada")
        assert [turn.outcome for turn in await session.turns()] == ["partial"]


@pytest.mark.anyio
async def test_our_own_key_does_not_go_to_the_upstream(tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.json", name="shop", tenant="shop", user=None)
    keys = read_keys(tmp_path / "keys.json")
    with LoopbackServer() as model:
        async with served(settings=behind(model), keys=keys) as one, client_library().AsyncClient() as plain:
            url, body = f"{one.url}/v1/chat/completions", {"model": "m", "messages": [user("hello")]}
            bearer = {**WHO, "authorization": f"Bearer {key}"}
            beside = {**WHO, "x-actormem-key": key, "authorization": "Bearer sk-theirs"}
            for headers in (bearer, beside):
                assert (await plain.post(url, json=body, headers=headers)).status_code == 200
        async with (
            served(settings=behind(model, upstream_key="sk-ours"), keys=keys) as one,
            client_library().AsyncClient() as plain,
        ):
            url = f"{one.url}/v1/chat/completions"
            assert (await plain.post(url, json=body, headers=bearer)).status_code == 200
        assert [seen.headers.get("authorization") for seen in model.seen] == [
            None,
            "Bearer sk-theirs",
            "Bearer sk-ours",
        ]
        assert not any(key in str(seen.headers) for seen in model.seen)
