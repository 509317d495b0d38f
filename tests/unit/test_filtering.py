"""Filters at the doors of memory: what is remembered and what a background model is sent, never what was said."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

import actormem
from actormem import Budget, UsageError
from actormem.actors.filtering import About, Filters
from actormem.core.values import Message, Owner
from actormem.core.wire import parse_message
from tests.runtimes import ScriptedLLM, answered, files_holding, opened, words
from tests.unit.test_compaction import small_talk, until_swapped

pytestmark = pytest.mark.anyio

KEY = "sk-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8v"
SECRET = "heron42"
SAID = f"Remember that my wifi password is {SECRET}, and I live at 5 Zanzibar Street."
PROMPTED = "tell me about the wifi password"
ADA = Owner("", "ada")


async def remembered(runtime: actormem.Runtime, user: str = "ada") -> str:
    return repr(await runtime.items(user, history=True))


async def test_the_model_sees_what_was_said_and_memory_keeps_it_without_its_secrets() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        messages = await answered(session, SAID, f"Noted, {SECRET} it is. Your key {KEY} works.")
        assert SECRET in words(messages)
        assert SECRET in (await session.messages())[0].text
        await runtime.settle()
        kept = await remembered(runtime)
        assert "[redacted password]" in kept
        assert "[redacted key]" in kept
        assert "5 Zanzibar Street" in kept
        assert f"password is {SECRET}" not in kept
        assert KEY not in kept
        note = words(await answered(await runtime.spawn("other", user="ada"), PROMPTED))
        assert SECRET not in note.replace(f"Noted, {SECRET}", "")
        assert runtime.statistics().redactions >= 2
        assert runtime.statistics().refusals == 0


async def test_what_a_caller_states_edits_and_imports_goes_the_same_way() -> None:
    async with opened() as runtime:
        item = await runtime.remember(f"The password is {SECRET}", user="ada", value=SECRET, attribute="wifi")
        assert item.text == "The password is [redacted password]"
        assert SECRET not in item.value
        edited = await runtime.edit(item.id, f"门禁密码是{SECRET}", user="ada")
        assert edited.text == "门禁密码是[redacted password]"
        log = [{"role": "user", "content": f"我的密钥 {KEY} 记一下", "time": "2031-01-02T00:00:00Z"}]
        await runtime.import_history(log, session_id="old", user="ada")
        await runtime.import_history(log, session_id="old", user="ada")
        assert KEY not in await remembered(runtime)
        assert (await remembered(runtime)).count("[redacted key] 记一下") == 1


async def test_a_key_longer_than_a_passage_is_taken_out_of_a_document_before_it_is_cut() -> None:
    lines = "\n".join(f"{chr(97 + n % 26)}7Q9zX2v5B8n1M4k6L3j0H" for n in range(400))
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"
    text = f"# Servers\n\nThe gate opens at nine.\n\n{key}\n\nThe cellar is dry."
    async with opened() as runtime:
        await runtime.import_knowledge("house", [{"id": "servers", "text": text}])
        hits = await runtime.recall("servers gate cellar key", user="ada", knowledge=["house"])
        told = repr([hit.item.text for hit in hits])
        assert "Q9zX2v5B8n1M4k6L3j0H" not in told
        assert "[redacted key]" in told
        again = await runtime.import_knowledge("house", [{"id": "servers", "text": text}])
        assert (again.added_count, again.removed_count) == (0, 0)


async def test_what_is_sent_for_summaries_and_facts_holds_no_secret_and_values_outlive_compaction() -> None:
    llm = ScriptedLLM(
        lambda prompt: '{"facts": []}' if "facts" in words(prompt[:1]) else "They spoke of trains."
    )
    async with opened(llm=llm, extract=True) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600))
        await answered(session, f"{SAID} My order is KX-48210.", f"Keep {KEY} safe.")
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "join", "arguments": f'{{"password": "{SECRET}"}}'},
        }
        async with session.turn("Join the wifi.") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [call]})
            await turn.add({"role": "tool", "tool_call_id": "c1", "content": f"token: Bearer {KEY[3:]}"})
            turn.reply("Joined.")
        for _ in range(2):
            context = await until_swapped(session, runtime)
        await runtime.settle()
        assert llm.call_count >= 2
        sent = repr(llm.prompts)
        assert "KX-48210" in sent
        assert "[redacted password]" in sent
        assert KEY[3:] not in sent
        assert SECRET not in sent
        assert "KX-48210" in words(context.messages)


async def test_remembered_summaries_hold_no_secret() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=500))
        await answered(session, f"I need the gate code. The gate password is {SECRET}.", "Noted.")
        for number in range(12):
            await answered(session, small_talk(number), "I see.")
        await runtime.settle()
        summaries = await runtime.items("ada", kinds=["summary"], history=True)
        assert summaries
        assert SECRET not in repr(summaries)


async def test_forgetting_what_was_kept_without_its_secret_takes_the_secret_from_the_messages(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, f"My cat is Moss. Remember that my wifi password is {SECRET}.")
        await runtime.settle()
        assert files_holding(tmp_path, SECRET), "the transcript is verbatim"
        facts = [
            one for one in await runtime.items("ada") if one.kind != "episode" and "password" in one.text
        ]
        for one in facts:
            await runtime.forget(one.id, user="ada")
        assert facts
        left = (await session.messages())[0].text
        assert SECRET not in left
        assert "Moss" in left
    assert files_holding(tmp_path, SECRET) == []


async def test_filters_of_ones_own_change_and_refuse_and_are_told_what_they_see() -> None:
    seen: list[About] = []

    def own(text: str, about: About) -> str | None:
        seen.append(about)
        return None if "diagnosis" in text else text.replace("Moss", "the cat")

    async with opened(filters=(own,)) as runtime:
        session = await runtime.spawn("s", user="ada", tenant="clinic")
        await answered(session, f"My cat is called Moss. The password is {SECRET}.", "Hello Moss!")
        await answered(session, "My diagnosis is gout, remember that.", "I am sorry.")
        with pytest.raises(UsageError, match="a filter refused"):
            await runtime.remember("The diagnosis is gout", user="ada", tenant="clinic")
        with pytest.raises(UsageError, match="a filter refused document 1"):
            await runtime.import_knowledge("files", ["A diagnosis."], tenant="clinic")
        await runtime.settle()
        kept = repr(await runtime.items("ada", tenant="clinic", history=True))
        assert "Moss" not in kept
        assert "the cat" in kept
        assert "gout" not in kept
        assert SECRET in kept, "the built-in filter is not among them"
        assert {"episode", "fact", "knowledge"} <= {about.kind for about in seen}
        assert {about.tenant for about in seen} == {"clinic"}
        assert {"user", "assistant"} <= {about.source for about in seen}
        assert runtime.statistics().refusals >= 3


async def test_no_filters_at_all_keep_everything_and_the_built_in_one_goes_with_others() -> None:
    for filters, kept in (((), True), (("secrets", lambda text, _: text), False), (None, False)):
        async with opened(filters=filters) as runtime:
            await runtime.remember(f"The password is {SECRET}", user="ada")
            assert (SECRET in await remembered(runtime)) is kept


async def test_a_filter_that_fails_has_refused_and_no_word_of_the_text_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(text: str, _: About) -> str:
        raise ValueError(f"cannot read {text}")

    async with opened(filters=(broken,)) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert "Zanzibar" in words(await answered(session, SAID))
        await runtime.settle()
        assert await runtime.items("ada", history=True) == ()
    assert "ValueError" in caplog.text
    assert "Zanzibar" not in caplog.text


@pytest.mark.parametrize("filters", ["secrets", 3, (3,), ("keys",)])
async def test_what_is_no_filter_is_refused_at_once(filters: object) -> None:
    with pytest.raises(UsageError, match="filter"):
        async with opened(filters=filters):
            pass

    async def later(text: str, _: About) -> str:
        return text

    with pytest.raises(UsageError, match="plain function"):
        async with opened(filters=(later,)):
            pass


def sent(message: dict[str, object]) -> Sequence[Message]:
    filters = Filters([lambda text, _: None if "never" in text else text.replace("red", "blue")], counts())
    return filters.sent([parse_message(message)], ADA, "s")


def counts() -> SimpleNamespace:
    return SimpleNamespace(redactions=0, refusals=0)


def test_parts_calls_and_other_fields_of_a_message_survive_what_is_cut_out_of_it() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.test/red.png"}}
    [message] = sent(
        {"role": "user", "content": [{"type": "text", "text": "a red kite"}, picture], "name": "ada"}
    )
    assert message.text == "a blue kite"
    assert message.name == "ada"
    assert list(message.content)[1] == picture  # type: ignore[arg-type]
    call = {"id": "c", "type": "function", "function": {"name": "paint", "arguments": '{"colour": "red"}'}}
    [message] = sent({"role": "assistant", "content": None, "tool_calls": [call]})
    assert [(one.id, one.name, one.arguments) for one in message.tool_calls] == [
        ("c", "paint", '{"colour": "blue"}')
    ]
    assert sent({"role": "user", "content": "never mind red"}) == ()
    untouched = {"role": "user", "content": "green"}
    assert sent(untouched) == (parse_message(untouched),)


async def test_a_filter_that_keeps_failing_is_told_once_for_each_kind_of_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failures = [ValueError("a"), KeyError("b"), ValueError("c")]

    def failing(text: str, _: About) -> str | None:
        raise failures[len(text) % len(failures)]

    async with opened(filters=[failing]) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(30):
            await answered(session, "words" + "." * number)
        await runtime.settle()
        assert runtime.statistics().refusals >= 60
    told = [one.getMessage() for one in caplog.records if "filter" in one.name]
    assert len(told) == 2
    assert ["KeyError" in one or "ValueError" in one for one in told] == [True, True]


async def test_failures_of_endless_kinds_are_told_to_a_limit(caplog: pytest.LogCaptureFixture) -> None:
    def failing(text: str, _: About) -> str | None:
        raise type(f"Error{len(text)}", (Exception,), {})

    async with opened(filters=[failing]) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(40):
            await answered(session, "words" + "." * number)
        await runtime.settle()
    assert 0 < len([one for one in caplog.records if "filter" in one.name]) <= 16
