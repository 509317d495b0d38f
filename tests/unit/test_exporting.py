"""What a user is handed: all that is kept of that user, and of no other."""

from pathlib import Path

import msgspec
import pytest

from tests.runtimes import answered, opened

pytestmark = pytest.mark.anyio


async def test_an_export_holds_sessions_and_items_of_the_user_alone() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("a", user="ada"), "I live in Turku.", "Noted.")
        await answered(await runtime.spawn("b", user="ada"), "I moved to Vaasa.", "Noted.")
        await answered(await runtime.spawn("a", user="bob"), "I live in Oulu.", "Noted.")
        await runtime.settle()
        export = await runtime.export_user("ada")
    assert sorted(one.session_id for one in export.sessions) == ["a", "b"]
    said = [message.text for one in export.sessions for message in one.messages]
    assert sorted(said) == ["I live in Turku.", "I moved to Vaasa.", "Noted.", "Noted."]
    assert {item.owner.user for item in export.items} == {"ada"}
    states = {item.value: item.state for item in export.items if item.attribute == "address"}
    assert states == {"Turku": "superseded", "Vaasa": "live"}
    assert b"Oulu" not in msgspec.json.encode(export)


async def test_an_export_is_a_file_of_json_with_each_message_as_it_was_given() -> None:
    given = {"role": "user", "content": "我对花生过敏。", "id": "m-1"}
    async with opened() as runtime:
        session = await runtime.spawn("a", user="ada")
        await session.add(given)
        read = msgspec.json.decode(msgspec.json.encode(await runtime.export_user("ada")))
    [message] = read["sessions"][0]["messages"]
    assert (message["id"], message["content"]) == ("m-1", given["content"])
    assert msgspec.json.decode(message["wire"]) == {"role": "user", "content": given["content"]}


async def test_what_was_forgotten_is_in_no_export(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("a", user="ada")
        await answered(session, "I live in Turku.", "Noted.")
        await runtime.settle()
        fact = await runtime.value("ada", "address")
        assert fact is not None
        await runtime.forget(fact.id, user="ada")
        assert b"Turku" not in msgspec.json.encode(await runtime.export_user("ada"))
        await runtime.forget_user("ada")
        empty = await runtime.export_user("ada")
        assert (empty.sessions, empty.items) == ((), ())
