"""The HTTP server: what each path answers, whom it lets in, what it refuses, and that nothing changes then."""

import json
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest

from actormem.remote.operations import OPERATIONS
from actormem.server.door import local_hosts
from actormem.server.grants import add_key, read_keys
from actormem.server.rates import Rates
from actormem.server.settings import ServerSettings
from tests.edge.served import asked

ADA = {"user": "ada"}
S = {"user": "ada", "session": "s"}


@pytest.fixture
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


async def ok(answer: Any) -> Any:
    got = await answer
    assert got.status_code == 200, got.text
    return got.json()


async def refused(answer: Any, status: int) -> Any:
    got = await answer
    assert got.status_code == status, got.text
    assert got.headers["content-type"] == "application/json"
    error = got.json()["error"]
    assert "\n" not in error["message"]
    assert "SECRET" not in got.text
    return error


@pytest.mark.anyio
async def test_a_turn_over_http_is_open_until_its_reply_and_its_retries_double_nothing() -> None:
    async with asked() as (client, _):
        await ok(
            client.put(
                "/api/session", params=S, json={"system": "You are a shop.", "budget": {"context": 900}}
            )
        )
        opened = await ok(client.post("/api/turn", params=S, json={"message": "我搬到杭州了。", "id": "q-1"}))
        again = await ok(client.post("/api/turn", params=S, json={"message": "我搬到杭州了。", "id": "q-1"}))
        assert again["messages"] == opened["messages"]
        assert opened["messages"][0] == {"role": "system", "content": "You are a shop."}
        turn = {**S, "turn": "q-1"}
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        tools = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ]
        await ok(client.post("/api/turn/messages", params=turn, json={"messages": tools}))
        longer = await ok(client.post("/api/turn/context", params=turn, json={"prompt_tokens": 40}))
        assert [m["role"] for m in longer["messages"]] == ["system", "user", "assistant", "tool"]
        for _ in range(2):
            await ok(client.post("/api/turn/reply", params=turn, json={"message": "记住了。"}))
        await refused(client.post("/api/turn/reply", params=turn, json={"message": "SECRET other"}), 400)
        [past] = await ok(client.get("/api/turns", params=S))
        assert (past["id"], past["outcome"]) == ("q-1", "complete")
        said = (await ok(client.get("/api/messages", params=S)))["messages"]
        assert [m["message"]["role"] for m in said] == ["user", "assistant", "tool", "assistant"]
        assert said[1]["message"] == tools[0]


@pytest.mark.anyio
async def test_a_turn_shows_its_trace_and_exact_context_until_something_is_forgotten() -> None:
    async with asked() as (client, state):
        opened = await ok(
            client.post("/api/turn", params=S, json={"message": "I live in Zanzibar.", "id": "q"})
        )
        await ok(client.post("/api/turn/reply", params={**S, "turn": "q"}, json={"message": "Noted."}))
        opened = await ok(client.post("/api/turn", params=S, json={"message": "Where do I live?", "id": "r"}))
        await ok(client.request("DELETE", "/api/turn", params={**S, "turn": "r"}))
        seen = await ok(client.get("/api/turn", params={**S, "turn": "r"}))
        assert seen["messages"] == opened["messages"]
        assert seen["trace"]["included"] == opened["trace"]["included"]
        assert sum(one["tokens"] for one in seen["trace"]["sections"]) == seen["trace"]["tokens"]
        assert seen["turn"]["outcome"] == "unanswered"
        [item] = [
            one for one in await ok(client.get("/api/items", params=ADA)) if one["attribute"] == "address"
        ]
        assert item["source_ids"] == ["q"]
        receipt = await ok(client.request("DELETE", "/api/item", params={**ADA, "item": item["id"]}))
        assert receipt["found_count"] == 0
        seen = await ok(client.get("/api/turn", params={**S, "turn": "r"}))
        assert seen["messages"] is None
        everything = json.dumps(
            [await ok(client.get(path, params=S)) for path in ("/api/messages", "/api/turns")]
        )
        assert "Zanzibar" not in everything
        mark = state.contexts.mark
        assert mark(_owner("ada")) != mark(_owner("bob"))


@pytest.mark.anyio
async def test_a_context_that_was_in_the_making_while_something_was_forgotten_is_not_kept() -> None:
    async with asked() as (_, state):
        key = await state.session("s", user="ada", tenant="")
        before = state.contexts.mark(key.key.owner)
        state.contexts.drop(key.key.owner)
        state.contexts.keep(key.key, "q", [{"role": "user", "content": "x"}], before)
        assert state.contexts.find(key.key, "q") is None


@pytest.mark.anyio
async def test_memories_are_listed_searched_edited_archived_and_forgotten() -> None:
    async with asked() as (client, _):
        item = await ok(
            client.post("/api/items", params=ADA, json={"text": "The user likes tea.", "attribute": "likes"})
        )
        here = {**ADA, "item": item["id"]}
        assert (await ok(client.patch("/api/item", params=here, json={"text": "The user likes coffee."})))[
            "version"
        ] == 2
        found = await ok(client.post("/api/recall", params=ADA, json={"query": "coffee"}))
        assert found["hits"][0]["item"]["id"] == item["id"]
        assert found["hits"][0]["why"]
        assert (await ok(client.get("/api/value", params={**ADA, "attribute": "likes"})))["item"][
            "version"
        ] == 2
        await ok(client.post("/api/item/archive", params=here, json={}))
        assert await ok(client.get("/api/items", params={**ADA, "kinds": ["fact", "event"]})) == []
        assert (
            len(await ok(client.get("/api/items", params={**ADA, "kinds": "fact", "history": "true"}))) == 1
        )
        assert (await ok(client.post("/api/checkup", params=ADA, json={"apply": True})))["item_count"] == 1
        log = {"session_id": "old", "messages": [{"role": "user", "content": "I live in Paris."}]}
        assert (await ok(client.post("/api/import", params=ADA, json=log)))["count"] >= 1
        assert (await ok(client.get("/api/export", params=ADA)))["items"]
        assert (await ok(client.request("DELETE", "/api/user", params=ADA)))["item_count"] >= 2
        assert await ok(client.get("/api/items", params={**ADA, "history": "1"})) == []


@pytest.mark.anyio
async def test_long_lists_come_in_parts() -> None:
    async with asked() as (client, _):
        for number in range(4):
            body = {"messages": [{"role": "user", "content": f"Message {number} about something else."}]}
            await ok(client.post("/api/messages", params=S, json=body))
        newest = (await ok(client.get("/api/messages", params={**S, "last": 2})))["messages"]
        assert [one["message"]["content"][8] for one in newest] == ["2", "3"]
        everything = await ok(client.get("/api/items", params=ADA))
        part = await ok(client.get("/api/items", params={**ADA, "newest": "true", "offset": 1, "limit": 2}))
        assert part == everything[::-1][1:3]
        for path, params in (
            ("/api/items", {**ADA, "limit": 0}),
            ("/api/items", {**ADA, "offset": -1}),
            ("/api/turns", {**S, "last": 0}),
        ):
            await refused(client.get(path, params=params), 400)


@pytest.mark.anyio
async def test_summary_blocks_name_what_they_stand_for() -> None:
    async with asked() as (client, _):
        await ok(client.put("/api/session", params=S, json={"budget": {"context": 300}}))
        for number in range(14):
            words = (
                f"Message {number} about order KX-{48_000 + number} and a good many other things besides it."
            )
            await ok(
                client.post(
                    "/api/messages", params=S, json={"messages": [{"role": "user", "content": words}]}
                )
            )
            await ok(
                client.post("/api/turn", params=S, json={"message": f"And {number}?", "id": f"q{number}"})
            )
            await ok(
                client.post("/api/turn/reply", params={**S, "turn": f"q{number}"}, json={"message": "Yes."})
            )
        await ok(client.post("/api/settle"))
        blocks = await ok(client.get("/api/summaries", params=S))
        assert blocks
        assert all(block["source_ids"] and block["session_id"] == "s" for block in blocks)
        assert await ok(client.get("/api/summaries", params={**S, "session": "other"})) == []
        assert (await ok(client.get("/api/session", params=S)))["budget"]["context"] == 300


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("method", "path", "params", "body", "status", "says"),
    [
        ("POST", "/api/recall", ADA, b"{", 400, "not JSON"),
        ("POST", "/api/turn", S, b'{"message": ' + b'{"a":' * 100_000, 400, "not JSON"),
        ("POST", "/api/recall", ADA, b'{"query": "\\ud800"}', 400, "not JSON"),
        ("POST", "/api/recall", ADA, b'{"SECRET": 1}', 400, "unknown"),
        ("POST", "/api/recall", ADA, b'{"query": 1}', 400, "$.query"),
        ("POST", "/api/recall", ADA, b'{"query": "x", "kinds": ["SECRET"]}', 400, "none of those"),
        ("POST", "/api/recall", ADA, b'{"query": "x", "at": "SECRET"}', 400, "ISO 8601"),
        ("POST", "/api/recall", ADA, b'{"query": "x", "limit": 1000}', 400, "100"),
        ("POST", "/api/recall", {}, b'{"query": "x"}', 400, "user must not be empty"),
        ("POST", "/api/recall", {**ADA, "SECRET": "1"}, b"{}", 400, "unknown"),
        ("POST", "/api/recall", {"user": "a" * 300}, b'{"query": "x"}', 400, "256"),
        ("GET", "/api/item", {**ADA, "item": "m7"}, None, 404, "no item"),
        ("GET", "/api/item", ADA, None, 400, "item"),
        ("GET", "/api/items", {**ADA, "history": "perhaps"}, None, 400, "bool"),
        ("GET", "/api/trace", {**S, "turn": "none"}, None, 404, "no session"),
        ("GET", "/api/session", S, None, 404, "no session"),
        ("GET", "/api/messages", S, None, 404, "no session"),
        ("POST", "/api/rewind", S, b'{"message_id": "SECRET"}', 404, "no session"),
        ("POST", "/api/turn", S, b'{"message": {"role": "tool", "content": "SECRET"}}', 400, "tool"),
        ("POST", "/api/turn", S, b'{"message": "x", "idle_s": 0}', 400, "idle_s"),
        ("POST", "/api/turn/reply", {**S, "turn": "none"}, b"{}", 400, "not open"),
        ("PUT", "/api/session", S, b'{"budget": {"context": 9}}', 400, "64"),
        ("PUT", "/api/session", S, b'{"timezone": "Mars/SECRET"}', 400, "unknown"),
        ("PATCH", "/api/recall", ADA, b"{}", 405, "no such method"),
        ("GET", "/api/SECRET", ADA, None, 404, "nothing at this path"),
        ("GET", "/api/owners", {"limit": "0"}, None, 400, "limit"),
    ],
)  # fmt: skip
async def test_wrong_requests_say_what_was_expected_and_change_nothing(
    method: str, path: str, params: dict[str, str], body: bytes | None, status: int, says: str
) -> None:
    async with asked() as (client, state):
        error = await refused(client.request(method, path, params=params, content=body), status)
        assert says in error["message"]
        writes = path.endswith("/turn") or method == "PUT"  # these make the session before they look at it
        assert writes or await state.runtime.sessions("ada") == ()
        assert await (await state.session("s", user="ada", tenant="")).messages() == ()
        assert await state.runtime.items("ada") == ()


@pytest.mark.anyio
async def test_a_body_that_is_too_large_is_refused_however_it_comes() -> None:
    async def parts() -> Any:
        for _ in range(40):
            yield b" " * 1_000

    async with asked(settings=ServerSettings(body_bytes_max=20_000)) as (client, _):
        for content in (b" " * 40_000, parts()):
            error = await refused(client.post("/api/recall", params=ADA, content=content), 413)
            assert "20000" in error["message"]
        await refused(client.post("/v1/chat/completions", content=b" " * 40_000), 400)


@pytest.mark.anyio
async def test_pages_of_others_and_names_of_others_are_not_let_in() -> None:
    async with asked(hosts=local_hosts(["memory.test"])) as (client, _):
        await ok(client.get("/api/health"))
        await ok(client.get("/api/health", headers={"host": "127.0.0.1:8377"}))
        await ok(client.get("/api/health", headers={"host": "[::1]:8377"}))
        await ok(client.get("/api/health", headers={"host": "MEMORY.test"}))
        await ok(client.get("/api/health", headers={"origin": "http://localhost"}))
        for headers, status in (
            ({"host": "evil.example:8377"}, 421),
            ({"host": "[bad"}, 421),
            ({"origin": "http://evil.example"}, 403),
            ({"origin": "null"}, 403),
            ({"sec-fetch-site": "cross-site"}, 403),
        ):
            await refused(client.get("/api/health", headers=headers), status)
        preflight = await client.options(
            "/api/items", headers={"origin": "http://evil.example", "access-control-request-method": "POST"}
        )
        assert preflight.status_code == 403
        assert not [name for name in preflight.headers if name.startswith("access-control")]


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, str]:
    """Keys of two users and of a whole tenant, drawn into a file."""
    path = tmp_path / "keys.json"
    drawn = {
        "ada": add_key(path, name="ada", tenant="shop", user="ada"),
        "shop": add_key(path, name="shop", tenant="shop", user=None),
        "bank": add_key(path, name="bank", tenant="bank", user=None),
    }
    assert all(key not in path.read_text() for key in drawn.values())
    assert path.stat().st_mode & 0o077 == 0
    return {"file": str(path), **drawn}


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.mark.anyio
async def test_the_owner_comes_from_the_key(keys: dict[str, str]) -> None:
    async with asked(keys=read_keys(Path(keys["file"]))) as (client, state):
        body = {"text": "The user likes tea."}
        await ok(client.get("/api/health"))
        await refused(client.get("/api/items"), 401)
        await refused(client.get("/api/items", headers=bearer("SECRET")), 401)
        await refused(client.get("/api/items", headers={"authorization": f"Basic {keys['ada']}"}), 401)
        await ok(client.post("/api/items", headers=bearer(keys["ada"]), json=body))
        assert len(await state.runtime.items("ada", tenant="shop")) == 1
        await ok(client.get("/api/items", headers={"x-actormem-key": keys["ada"]}, params={"user": "ada"}))
        for params in ({"user": "bob"}, {"tenant": "bank"}, {"user": "ada", "tenant": "bank"}):
            await refused(client.get("/api/items", headers=bearer(keys["ada"]), params=params), 403)
        assert await ok(client.get("/api/items", headers=bearer(keys["shop"]), params=ADA))
        assert await ok(client.get("/api/items", headers=bearer(keys["bank"]), params=ADA)) == []
        await refused(client.get("/api/items", headers=bearer(keys["shop"])), 400)
        for path in ("/api/owners", "/api/statistics", "/api/knowledge"):
            await refused(client.get(path, headers=bearer(keys["ada"])), 403)
        rows = await ok(client.get("/api/owners", headers=bearer(keys["shop"])))
        assert [row["owner"] for row in rows] == [{"tenant": "shop", "user": "ada"}]
        assert await ok(client.get("/api/owners", headers=bearer(keys["bank"]))) == []
        others = client.get("/api/owners", params={"of_tenant": "shop"}, headers=bearer(keys["bank"]))
        assert await ok(others) == []
        who = {"x-actormem-session": "s", "x-actormem-user": "bob"}
        await refused(
            client.post("/v1/chat/completions", headers={**bearer(keys["ada"]), **who}, json={}), 403
        )
        await refused(client.post("/v1/chat/completions", json={}), 401)


@pytest.mark.anyio
async def test_a_key_that_comes_too_often_waits_and_others_do_not(keys: dict[str, str]) -> None:
    now = 0.0
    rates = Rates(1.0, lambda: now)
    async with asked(keys=read_keys(Path(keys["file"])), rates=rates) as (client, _):
        for _ in range(2):
            await ok(client.get("/api/items", headers=bearer(keys["ada"])))
        answer = await client.get("/api/items", headers=bearer(keys["ada"]))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert answer.json()["error"]["name"] == "OverloadedError"
        await ok(client.get("/api/items", headers=bearer(keys["shop"]), params=ADA))
        now = 1.0
        await ok(client.get("/api/items", headers=bearer(keys["ada"])))


@pytest.mark.anyio
async def test_left_turns_end_by_time_and_a_late_reply_is_told() -> None:
    now = 0.0
    async with asked(monotonic_s=lambda: now) as (client, state):
        await ok(client.post("/api/turn", params=S, json={"message": "hello", "id": "q", "idle_s": 10}))
        now = 9.0
        assert await state.turns.sweep() == 0
        assert (
            await ok(client.post("/api/turn/keep", params=ADA, json={"turns": [["s", "q"], ["s", "r"]]}))
        )["count"] == 1
        now = 18.0
        assert await state.turns.sweep() == 0
        now = 19.0
        assert await state.turns.sweep() == 1
        error = await refused(
            client.post("/api/turn/reply", params={**S, "turn": "q"}, json={"message": "late"}), 400
        )
        assert "same message id" in error["message"]
        await ok(client.post("/api/turn", params=S, json={"message": "hello", "id": "q"}))
        await ok(client.post("/api/turn/reply", params={**S, "turn": "q"}, json={"message": "late"}))
        assert len((await ok(client.get("/api/messages", params=S)))["messages"]) == 2


@pytest.mark.anyio
async def test_the_same_new_turn_from_many_at_once_is_one() -> None:
    async with asked() as (client, _):
        answers: list[Any] = []

        async def ask() -> None:
            answers.append(await ok(client.post("/api/turn", params=S, json={"message": "hello", "id": "q"})))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ask)
        assert all(one["messages"] == answers[0]["messages"] for one in answers)
        await ok(client.post("/api/turn/reply", params={**S, "turn": "q"}, json={"message": "hi"}))
        assert len((await ok(client.get("/api/messages", params=S)))["messages"]) == 2


@pytest.mark.anyio
async def test_the_document_describes_every_path_and_what_they_answer_fits_it() -> None:
    async with asked() as (client, _):
        document = await ok(client.get("/openapi.json"))
        described = {(m.upper(), path) for path, methods in document["paths"].items() for m in methods}
        assert described == {(one.method, one.path) for one in OPERATIONS} | {("GET", "/api/events")}
        jsonschema.Draft202012Validator.check_schema({"$defs": document["components"]["schemas"]})
        await ok(client.post("/api/turn", params=S, json={"message": "I live in Paris.", "id": "q"}))
        await ok(client.post("/api/turn/reply", params={**S, "turn": "q"}, json={"message": "Noted."}))
        asking = {**S, "turn": "q", "item": "m1", "attribute": "address"}
        for one in OPERATIONS:
            if one.method == "GET":
                shape = document["paths"][one.path]["get"]
                params = {p["name"]: asking[p["name"]] for p in shape["parameters"] if p["name"] in asking}
                answer = await ok(client.get(one.path, params=params))
                schema = shape["responses"]["200"]["content"]["application/json"]["schema"]
                jsonschema.validate(answer, {**schema, "components": document["components"]})
        failure = await client.get("/api/item", params={**ADA, "item": "m99"})
        schema = document["paths"]["/api/item"]["get"]["responses"]["404"]["content"]["application/json"][
            "schema"
        ]
        jsonschema.validate(failure.json(), {**schema, "components": document["components"]})


def _owner(user: str) -> Any:
    from actormem import Owner

    return Owner("", user)
