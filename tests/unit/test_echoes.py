"""Forgetting an item takes its words from where they were echoed, repeated and handed to tools; and no others."""

import json
from pathlib import Path

import pytest

import actormem
from actormem import Budget
from actormem.core.erased_words import Sought, reach
from tests.runtimes import Wire, answered, files_holding, opened, words

pytestmark = pytest.mark.anyio

STREET = "5 Zanzibar Street"
SAID = f"My new address is {STREET}."
CALL = {
    "role": "assistant",
    "content": f"I look it up: {STREET}.",
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {
                "name": "deliver",
                "arguments": json.dumps({"to": f"{STREET}, back door", "price": 1.5, "zip": 12345}),
            },
        }
    ],
}
RESULT = f'{{"place": "5  Zanzibar\\nStreet", "cost": 1.10, "again": "{{\\"at\\": \\"{STREET}\\"}}"}}'


async def address(runtime: actormem.Runtime, user: str = "ada") -> actormem.Item | None:
    return await runtime.value(user, "address")


async def forget_address(runtime: actormem.Runtime) -> actormem.Receipt:
    item = await address(runtime)
    assert item is not None
    return await runtime.forget(item.id, user="ada")


async def seen(runtime: actormem.Runtime, user: str = "ada") -> str:
    """All that the user's sessions and memory tell."""
    found = [repr(await runtime.items(user, history=True))]
    for row in await runtime.sessions(user):
        session = await runtime.spawn(row.session_id, user=user)
        found += [one.wire for one in await session.messages()]
        found += [words((await session.context()).messages)]
    return "\n".join(found)


async def told(runtime: actormem.Runtime) -> actormem.Session:
    """A session in which the address stands in an echo, a call, its arguments and its result, and a repetition."""
    session = await runtime.spawn("said", user="ada")
    async with session.turn(f"{SAID} 谢谢你") as turn:
        await turn.add(CALL)
        await turn.add({"role": "tool", "tool_call_id": "call_1", "content": RESULT})
        turn.reply(f"Noted: {STREET}. Anything else?")
    await answered(session, "Send it to 5 zanzibar street, please, to nobody else.", f"To {STREET}, then.")
    return session


async def test_what_was_echoed_or_handed_to_tools_goes_and_stays_well_formed(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await told(runtime)
        bob = await runtime.spawn("said", user="bob")
        await answered(bob, SAID)
        receipt = await forget_address(runtime)
        assert receipt.text_count >= 6
        left = await seen(runtime)
        assert STREET.casefold() not in left.casefold()
        assert "谢谢你" in left
        assert "Anything else?" in left
        wires = [json.loads(one.wire) for one in await session.messages()]
        arguments = wires[1]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == {"to": "[forgotten], back door", "price": 1.5, "zip": 12345}
        result = wires[2]["content"]
        assert json.loads(result)["place"] == "[forgotten]"
        assert json.loads(json.loads(result)["again"]) == {"at": "[forgotten]"}
        assert '"cost": 1.10' in result, "what stays is as it was written"
        assert [wire["role"] for wire in wires[:4]] == ["user", "assistant", "tool", "assistant"]
        assert wires[1]["tool_calls"][0]["id"] == wires[2]["tool_call_id"] == "call_1"
        assert STREET in await seen(runtime, "bob")
        await runtime.forget_user("bob")
    assert files_holding(tmp_path, STREET) == []


async def test_a_session_that_was_never_shown_it_and_says_it_too_loses_it_and_is_not_woken_for_nothing(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as runtime:
        await told(runtime)
        quiet = Budget(context=2_000, recall=0, profile=0)
        await answered(
            await runtime.spawn("repeats", user="ada", budget=quiet), f"Is {STREET} far from the station?"
        )
        await answered(await runtime.spawn("other", user="ada", budget=quiet), "Is the station far?")
    async with opened(tmp_path) as runtime:
        await forget_address(runtime)
        assert runtime.statistics().sessions.residents == 2, "only those that hold it were woken"
        new = await answered(await runtime.spawn("new", user="ada"), "Where do I live, what is my address?")
        assert STREET not in words(new)
        assert "far from the station" in await seen(runtime)
        assert STREET not in await seen(runtime)
    assert files_holding(tmp_path, STREET) == []


async def test_a_fact_of_the_same_value_goes_and_one_that_says_more_keeps_the_rest() -> None:
    async with opened() as runtime:
        await told(runtime)
        await runtime.remember("Parcels go to her door", user="ada", attribute="parcels", value=STREET)
        note = await runtime.remember(f"Ring twice at {STREET} after six", user="ada")
        await forget_address(runtime)
        assert await runtime.value("ada", "parcels") is None
        assert (await runtime.item(note.id, user="ada")).text == "Ring twice at [forgotten] after six"
        assert not (await runtime.recall("zanzibar", user="ada", min_score=0.5)).hits


async def test_an_import_of_the_same_words_brings_no_echo_back() -> None:
    log: list[Wire] = [
        {"role": "user", "content": SAID, "time": "2020-01-01T00:00:00Z"},
        {"role": "assistant", "content": f"Noted: {STREET}.", "time": "2020-01-01T00:00:01Z"},
        {"role": "user", "content": f"Is {STREET} far?", "time": "2020-01-02T00:00:00Z"},
    ]
    async with opened() as runtime:
        await runtime.import_history(log, session_id="log", user="ada")
        await forget_address(runtime)
        assert STREET not in await seen(runtime)
        await runtime.import_history(log, session_id="log", user="ada")
        await runtime.import_history(log, session_id="another", user="ada")
        assert STREET not in await seen(runtime)


async def test_one_word_goes_where_it_was_said_and_from_then_on_and_stays_elsewhere() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=2_000, recall=0, profile=0))
        await answered(session, "Tell me of trains.", "Trains run to Peanutville and Lima.")
        await answered(session, "I'm allergic to peanuts.", "No peanuts, understood; nor walnuts.")
        other = await runtime.spawn("o", user="ada", budget=Budget(context=2_000, recall=0, profile=0))
        await answered(other, "How are peanuts grown?", "In the ground.")
        item = await runtime.value("ada", "allergy")
        assert item is not None
        await runtime.forget(item.id, user="ada")
        assert (await session.messages())[3].text == "No [forgotten], understood; nor walnuts."
        assert "Peanutville" in (await session.messages())[1].text
        assert (await other.messages())[0].text == "How are peanuts grown?"


async def test_a_message_that_is_forgotten_goes_from_the_transcript_with_what_was_read_in_it(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as runtime:
        session = await told(runtime)
        episodes = await runtime.items("ada", kinds=["episode"])
        await runtime.forget(episodes[0].id, user="ada")
        assert (await session.messages())[0].text == "[forgotten]"
        assert await address(runtime) is None


@pytest.mark.parametrize(
    ("word", "far"),
    [
        (STREET, "owner"),
        ("KX-48210", "owner"),
        ("13812345678", "owner"),
        ("ada@example.org", "owner"),
        ("北京市朝阳区", "owner"),
        ("Barcelona", "session"),
        ("北京", "session"),
        ("2024", "session"),
        ("5", "source"),
        ("yes", "source"),
        ("no", "source"),
        ("我的", "source"),
    ],
)
def test_how_far_a_word_is_sought(word: str, far: str) -> None:
    assert reach(word) == far


@pytest.mark.parametrize(
    ("words", "text", "left"),
    [
        (["5"], "5 of 15, 3.5, 5,000 and v5; 5.", "- of 15, 3.5, 5,000 and v5; -."),
        (["北京"], "我住在北京朝阳区", "我住在-朝阳区"),
        (["Paris"], "Paris, parison, PARIS and Comparis", "-, parison, - and Comparis"),
        (["new york"], "New\n York's", "-'s"),
        (["Zanzibar"], "Zan\u200bzibar!", "-!"),
        (["9 Elm", "9 Elm Road"], "9 Elm Road and 9 Elm", "- and -"),
        ([], "nothing", "nothing"),
    ],
)
def test_words_are_cut_whole(words: list[str], text: str, left: str) -> None:
    assert Sought(words).cut(text, "-") == left


def test_a_wire_message_keeps_its_form() -> None:
    wire = json.dumps(
        {
            "role": "user",
            "name": "zanzibar",
            "content": [
                {"type": "text", "text": "user of Zanzibar"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA/zanzibar/AA"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/zanzibar.png"}},
            ],
        }
    )
    left = json.loads(Sought(["Zanzibar", "user"]).cut_message(wire))
    assert left["role"] == "user"
    assert left["name"] == "forgotten"
    assert left["content"][0] == {"type": "text", "text": "[forgotten] of [forgotten]"}
    assert left["content"][1]["image_url"]["url"].endswith("/zanzibar/AA"), "it is no text"
    assert "zanzibar" not in left["content"][2]["image_url"]["url"]
