"""Knowledge bases: documents that sessions of a tenant recall from, told apart from what the user said."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem import NotFoundError, UsageError
from actormem.core.values import Owner
from tests.runtimes import ScriptedEmbedder, answered, files_holding, opened, words

pytestmark = pytest.mark.anyio

HANDBOOK = """# Shop handbook

## Returns

### Refunds

Refunds to a card take five working days. The parcel must be sealed with tape ZX-9917.

### Exchange

An exchanged kettle is sent out on the next morning.
"""
RULES = "退货须知\n====\n\n七天内可以无理由退货。邮费由店里承担，编号 TH-5520。\n\n周末仓库不收包裹。"
QUESTION = "How many days does a refund to my card take?"
TAPE, FEE = "ZX-9917", "TH-5520"


async def handbook(runtime: actormem.Runtime, text: str = HANDBOOK, *, tenant: str = "") -> Any:
    return await runtime.import_knowledge("handbook", [{"id": "shop", "text": text}], tenant=tenant)


async def test_a_turn_recalls_from_what_is_attached_in_a_message_of_its_own() -> None:
    async with opened() as runtime:
        done = await handbook(runtime)
        assert (done.document_count, done.passage_count, done.added_count, done.removed_count) == (1, 2, 2, 0)
        session = await runtime.spawn("s", user="ada", knowledge=["handbook"])
        async with session.turn(QUESTION) as turn:
            turn.reply("Five working days.")
        *before, last = turn.messages
        assert last["content"] == QUESTION, "the user's own words are his alone"
        assert "Shop handbook > Returns > Refunds: Refunds to a card take five" in words(before)
        assert "not said by the user" in words(before)
        assert [one.kind for one in turn.trace.included] == ["knowledge"]
        other = await runtime.spawn("other", user="ada")
        assert TAPE not in words(await answered(other, QUESTION)), "it is not attached there"


async def test_chinese_knowledge_is_found_and_shared_by_users() -> None:
    async with opened() as runtime:
        await runtime.import_knowledge("规定", [RULES])
        for user in ("ada", "bob"):
            session = await runtime.spawn("s", user=user, knowledge=("规定",))
            context = words(await answered(session, "退货的邮费由谁承担？"))
            assert "退货须知: " in context
            assert FEE in context
            assert not await runtime.items(user, kinds=["knowledge"]), "it is nobody's own memory"


async def test_what_the_user_said_and_what_is_known_are_recalled_side_by_side() -> None:
    async with opened() as runtime:
        await handbook(runtime)
        await runtime.remember("The refund of Ada goes to card 4410", user="ada")
        hits = await runtime.recall(QUESTION, user="ada", knowledge=["handbook"])
        assert {hit.item.kind for hit in hits} == {"fact", "knowledge"}
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        passage = next(hit.item for hit in hits if TAPE in hit.item.text)
        assert passage.text.startswith("Shop handbook > Returns > Refunds\nRefunds to a card")
        assert passage.source_ids == ("shop",)
        assert len(await runtime.recall(QUESTION, user="ada", knowledge=["handbook"], limit=1)) == 1
        assert all(hit.item.kind == "fact" for hit in await runtime.recall(QUESTION, user="ada"))


async def test_a_base_of_another_tenant_is_not_there() -> None:
    async with opened() as runtime:
        await handbook(runtime, tenant="shop")
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: runtime.spawn("s", user="ada", knowledge=["handbook"]),
            lambda: runtime.spawn("s", user="ada", tenant="sho", knowledge=["handbook"]),
            lambda: runtime.recall(QUESTION, user="ada", knowledge=["handbook"]),
            lambda: runtime.remove_knowledge("handbook"),
        ]
        for call in calls:
            with pytest.raises(NotFoundError) as caught:
                await call()
            assert caught.value.id == "handbook"
        assert await runtime.knowledge() == ()
        [row] = await runtime.knowledge("shop")
        assert (row.name, row.passage_count) == ("handbook", 2)
        mine = await runtime.spawn("s", user="ada", tenant="shop", knowledge=["handbook"])
        assert TAPE in words(await answered(mine, QUESTION))


async def test_no_user_is_a_knowledge_base() -> None:
    async with opened() as runtime:
        await handbook(runtime)
        for user in ("\x01handbook", "handbook"):
            if user == "handbook":
                assert await runtime.items(user) == ()
                continue
            for call in (runtime.items(user), runtime.forget_user(user), runtime.sessions(user)):
                with pytest.raises(UsageError):
                    await call


async def test_a_restart_keeps_what_is_attached_and_what_was_taken_off(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await handbook(runtime)
        await runtime.spawn("s", user="ada", knowledge=["handbook"])
        await runtime.settle()
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert TAPE in words(await answered(session, QUESTION))
        await runtime.spawn("s", user="ada", knowledge=[])
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert "knowledge" not in str((await session.context(query=QUESTION)).trace.included)


async def test_attaching_does_not_end_the_epoch_and_detaching_takes_back_what_was_shown() -> None:
    async with opened() as runtime:
        await handbook(runtime)
        session = await runtime.spawn("s", user="ada")
        await answered(session, "My name is Ada and I have bought a kettle.")
        await runtime.spawn("s", user="ada", knowledge=["handbook"])
        async with session.turn(QUESTION) as turn:
            turn.reply("Five days.")
        assert turn.trace.epoch_end == ""
        assert TAPE in words(turn.messages)
        [shown] = turn.trace.included
        await runtime.spawn("s", user="ada", knowledge=())
        async with session.turn("Thank you, and what about my parcel then?") as turn:
            turn.reply("On its way.")
        assert turn.trace.epoch_end == ""
        assert f"[{shown.id}] withdrawn" in words(turn.messages)


async def test_removed_knowledge_leaves_no_byte_and_ends_the_epoch_where_it_was_shown(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await handbook(runtime)
        await runtime.import_knowledge("other", [RULES])
        shown = await runtime.spawn("shown", user="ada", knowledge=["handbook", "other"])
        quiet = await runtime.spawn("quiet", user="bob", knowledge=["handbook"])
        assert TAPE in words(await answered(shown, QUESTION))
        await answered(quiet, "嗯")
        await runtime.settle()
        assert files_holding(tmp_path, TAPE)
        receipt = await runtime.remove_knowledge("handbook")
        assert (receipt.item_count, receipt.session_count, receipt.text_count) == (2, 1, 1)
        assert files_holding(tmp_path, TAPE) == []
        assert [row.name for row in await runtime.knowledge()] == ["other"]
        context = await shown.context()
        assert TAPE not in words(context.messages)
        assert "removed knowledge" in context.trace.epoch_end
        assert (await quiet.context()).trace.epoch_end == ""
        assert TAPE not in words(await answered(shown, QUESTION))
        with pytest.raises(NotFoundError):
            await runtime.remove_knowledge("handbook")
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("shown", user="ada")
        assert TAPE not in words(await answered(session, "And how long do refunds to a card take?"))
        assert await runtime.recall("七天无理由退货", user="ada", knowledge=["other"])
    assert files_holding(tmp_path, TAPE) == []


async def test_a_document_imported_again_keeps_what_is_the_same_and_loses_what_is_not(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await handbook(runtime)
        before = {
            hit.item.text: hit.item.id
            for hit in await runtime.recall("kettle", user="u", knowledge=["handbook"])
        }
        session = await runtime.spawn("s", user="ada", knowledge=["handbook"])
        assert TAPE in words(await answered(session, QUESTION))
        same = await handbook(runtime)
        assert (same.added_count, same.removed_count) == (0, 0)
        assert (await session.context()).trace.epoch_end == ""
        changed = await handbook(runtime, HANDBOOK.replace(TAPE, "ZX-1000"))
        assert (changed.passage_count, changed.added_count, changed.removed_count) == (2, 1, 1)
        context = await session.context()
        assert "changed knowledge" in context.trace.epoch_end
        assert TAPE not in words(context.messages)
        assert "ZX-1000" in words((await session.context(query=QUESTION)).messages)
        after = {
            hit.item.text: hit.item.id
            for hit in await runtime.recall("kettle", user="u", knowledge=["handbook"])
        }
        assert len({*before.items()} & {*after.items()}) == 1, "the passage that is the same keeps its id"
        await runtime.settle()
    assert files_holding(tmp_path, TAPE) == []


async def test_a_base_that_does_not_answer_is_named_and_takes_nothing_from_the_rest() -> None:
    async with opened() as runtime:
        await handbook(runtime)
        await runtime.import_knowledge("rules", [RULES])
        await runtime.remember("The refund of Ada goes to card 4410", user="ada")
        session = await runtime.spawn("s", user="ada", knowledge=["handbook", "rules"])
        base = Owner("", "\x01handbook")
        runtime._services.ref = failing(runtime._services.ref, base)  # type: ignore[method-assign]
        async with session.turn(QUESTION) as turn:
            turn.reply("Five days.")
        assert turn.trace.degraded == ("knowledge",)
        assert "card 4410" in words(turn.messages)
        recalled = await runtime.recall(QUESTION, user="ada", knowledge=["handbook"])
        assert recalled.degraded == ("knowledge",)


def failing(ref: Callable[..., Any], base: Owner) -> Callable[..., Any]:
    class Silent:
        async def ask(self, message: object, *, timeout_s: float) -> object:
            raise actormem.AskTimeoutError("no answer")

    return lambda kind, key: Silent() if key == base else ref(kind, key)


async def test_files_are_read_and_wrong_input_changes_nothing(tmp_path: Path) -> None:
    good = tmp_path / "shipping.md"
    good.write_text("## Cost\n\nPosting a kettle costs 6.20 EUR.", encoding="utf-8")
    plain = tmp_path / "说明.txt"
    plain.write_text("\ufeff# 不是标题\n\n包裹上午发出。", encoding="utf-8")
    bad = tmp_path / "bad.md"
    bad.write_bytes("价格".encode("gbk"))
    other = tmp_path / "table.pdf"
    other.write_bytes(b"%PDF")
    wrong: list[Any] = [
        [bad], [other], [tmp_path / "missing.md"], [tmp_path], [], "text", [""], [7], [{"title": "no text"}],
        [{"text": "x", "name": "y"}], [{"text": "x", "time": "yesterday"}], [{"text": "x", "time": "2020-01-01"}],
        [{"text": "x", "id": ""}], ["the same", "the same"], None,
    ]  # fmt: skip
    async with opened() as runtime:
        for documents in wrong:
            more = [good, *documents] if isinstance(documents, list) and documents else documents
            with pytest.raises(UsageError) as caught:
                await runtime.import_knowledge("base", more)
            if documents == [bad]:
                assert "bad.md" in str(caught.value)
        for name in ("", "\x01", "x" * 300, 5):
            with pytest.raises(UsageError):
                await runtime.import_knowledge(name, ["words"])  # type: ignore[arg-type]
        for knowledge in ("handbook", [5], [""], [f"b{number}" for number in range(9)]):
            with pytest.raises(UsageError):
                await runtime.spawn("s", user="ada", knowledge=knowledge)  # type: ignore[arg-type]
        assert await runtime.knowledge() == ()
        seen: list[tuple[int, int]] = []

        async def told(done: int, total: int) -> None:
            seen.append((done, total))

        await runtime.import_knowledge("base", [good, plain], progress=told)
        assert seen == [(1, 2), (2, 2)]
        [hit] = await runtime.recall("posting a kettle", user="u", knowledge=["base"], limit=1)
        assert hit.item.text == "shipping > Cost\nPosting a kettle costs 6.20 EUR."
        [hit] = await runtime.recall("包裹什么时候发出", user="u", knowledge=["base"], limit=1)
        assert hit.item.text == "说明\n# 不是标题\n\n包裹上午发出。"


async def test_a_document_with_a_time_is_dated_and_a_new_time_keeps_its_passages() -> None:
    async with opened() as runtime:
        for year in (2020, 2022):
            given = {
                "id": "a",
                "title": "Prices",
                "text": "A kettle costs 40 EUR.",
                "time": datetime(year, 5, 6, tzinfo=UTC),
            }
            await runtime.import_knowledge("base", [given])
        session = await runtime.spawn("s", user="ada", knowledge=["base"])
        assert "2022-05-06] Prices: A kettle costs 40 EUR." in words(
            await answered(session, "What does a kettle cost?")
        )
        [row] = await runtime.knowledge()
        assert row.passage_count == 1


async def test_an_import_while_a_removal_is_under_way_is_stopped() -> None:
    async with opened() as runtime:
        await handbook(runtime)
        runtime._services.forgetting.add(Owner("", "\x01handbook"))
        with pytest.raises(actormem.StoppedError):
            await handbook(runtime)
        session = await runtime.spawn("s", user="ada", knowledge=["handbook"])
        assert TAPE not in words(await answered(session, QUESTION)), "nobody looks into it any more"


async def test_removal_reaches_a_note_that_is_being_written() -> None:
    embedder = ScriptedEmbedder()
    async with opened(embedder=embedder) as runtime:
        await handbook(runtime)
        session = await runtime.spawn("s", user="ada", knowledge=["handbook"])
        await runtime.settle()
        async with anyio.create_task_group() as group, session.turn(QUESTION) as turn:
            assert TAPE in words(turn.messages)
            group.start_soon(runtime.remove_knowledge, "handbook")
            turn.reply("Five days.")
        assert TAPE not in words((await session.context()).messages)


async def test_a_mapping_may_say_that_its_text_is_plain() -> None:
    async with opened() as runtime:
        text = "# not a heading\nGift cards never expire."
        await runtime.import_knowledge("plain", [{"text": text, "id": "a", "format": "plain"}], tenant="t")
        await runtime.import_knowledge("marked", [{"text": text, "id": "a"}], tenant="t")
        plain = await runtime.recall("gift cards", user="ada", tenant="t", knowledge=["plain"])
        marked = await runtime.recall("gift cards", user="ada", tenant="t", knowledge=["marked"])
        assert "# not a heading" in plain[0].item.text
        assert "# not a heading" not in marked[0].item.text
        with pytest.raises(actormem.UsageError, match="'markdown' or 'plain'"):
            await runtime.import_knowledge("plain", [{"text": text, "format": "SECRET"}], tenant="t")
