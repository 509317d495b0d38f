"""The LangGraph store: what `BaseStore` says of stores, and what is more: durability, isolation, forgetting."""

import random
import string
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import actormem
from actormem import UsageError
from actormem.core.values import Owner
from actormem.integrations import store_values
from actormem.integrations.langgraph import MemoryStore
from actormem.integrations.store_values import Entry, entry_of, packed, path_of
from actormem.limits import ITEM_TEXT_CHARS_MAX
from tests.edge.examples import printed_by
from tests.runtimes import FakeClock, files_holding, opened

pytestmark = pytest.mark.anyio
DOCS = ("test", "docs")


@pytest.fixture
def anyio_backend() -> str:
    """LangGraph knows no other."""
    return "asyncio"


@asynccontextmanager
async def stored(path: Path | None = None, **options: Any) -> AsyncIterator[MemoryStore]:
    async with opened(path) as runtime:
        yield MemoryStore(runtime, deadline_s=5, **options)


async def keys(store: MemoryStore, *prefix: str, **asked: Any) -> list[str]:
    return [one.key for one in await store.asearch(prefix, **asked)]


# --- what BaseStore says ----------------------------------------------------------------------------------


async def test_a_value_comes_back_as_it_was_put_is_replaced_and_deleted() -> None:
    async with stored() as store:
        value = {
            "text": "花生 \ud800\0\x7f\n",
            "n": 1,
            "f": -1.5,
            "deep": [{"a": None}, True, "", {}],
            "": {"x": []},
        }
        await store.aput(DOCS, "k", value)
        first = await store.aget(DOCS, "k")
        assert first is not None
        assert (first.value, first.key, first.namespace) == (value, "k", DOCS)
        assert first.created_at == first.updated_at
        await store.aput(DOCS, "k", {"text": "other"})
        second = await store.aget(DOCS, "k")
        assert second is not None
        assert second.value == {"text": "other"}
        assert second.created_at == first.created_at < second.updated_at
        assert await store.aget(("test", "other"), "k") is None
        assert await store.aget(DOCS, "K") is None
        await store.adelete(DOCS, "k")
        await store.adelete(DOCS, "k")
        assert await store.aget(DOCS, "k") is None
        assert await store.asearch(DOCS) == []


async def test_a_batch_answers_in_order_reads_before_it_writes_and_the_last_put_of_a_key_counts() -> None:
    async with stored() as store:
        await store.aput(("test", "foo"), "1", {"data": "a"})
        got, put, found, listed, missing, again = await store.abatch(
            [
                GetOp(("test", "foo"), "1"),
                PutOp(("test", "bar"), "2", {"data": "b"}),
                SearchOp(("test",), {"data": "a"}),
                ListNamespacesOp(),
                GetOp(("test", "bar"), "2"),
                PutOp(("test", "bar"), "2", {"data": "c"}),
            ]
        )
        assert got.value == {"data": "a"}  # type: ignore[union-attr]
        assert [one.key for one in found] == ["1"]  # type: ignore[union-attr]
        assert listed == [("test", "foo")]
        assert put is missing is again is None
        assert (await store.aget(("test", "bar"), "2")).value == {"data": "c"}  # type: ignore[union-attr]


async def test_namespaces_are_found_by_whole_labels_and_compared_by_equality() -> None:
    async with stored() as store:
        spaces = [
            ("a",),
            ("a", "b"),
            ("a", "b", "c"),
            ("a", "bc"),
            ("A", "b"),
            ("ab",),
            ("a%", "\n"),
            ("长", "b"),
        ]
        for space in spaces:
            await store.aput(space, "k", {"of": list(space)})
        for prefix in [(), *spaces, ("a", "b", "c", "d"), ("%",), ("a\n",)]:
            found = {one.namespace for one in await store.asearch(prefix, limit=99)}
            assert found == {one for one in spaces if one[: len(prefix)] == prefix}
        for space in spaces:
            assert (await store.aget(space, "k")).value == {"of": list(space)}  # type: ignore[union-attr]
        await store.adelete(("a", "b"), "k")
        assert len(await store.asearch((), limit=99)) == len(spaces) - 1
        assert ("a", "b") not in await store.alist_namespaces()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"kind": "report"}, "ab"),
        ({"kind": "report", "score": {"$gt": 4.99}}, "b"),
        ({"score": {"$gte": 3, "$lt": 5}}, "a"),
        ({"score": {"$lte": 3}}, "ac"),
        ({"score": {"$ne": 3}}, "bcd"),
        ({"kind": {"$eq": "note"}}, "c"),
        ({"tags": ["x", "y"]}, "a"),
        ({"deep": {"of": {"level": 2}}}, "b"),
        ({"open": True}, "d"),
        ({"score": {"$gt": "2.5"}}, "ab"),
        ({"kind": {"$gt": "note"}}, "ab"),
        ({"nothing": None}, "abcd"),
        ({"kind": "none"}, ""),
    ],
)
async def test_filters_compare_fields(wanted: dict[str, Any], expected: str) -> None:
    values: dict[str, dict[str, Any]] = {
        "a": {"kind": "report", "score": 3, "tags": ["x", "y"]},
        "b": {"kind": "report", "score": 5.5, "deep": {"of": {"level": 2, "more": 1}}},
        "c": {"kind": "note", "score": 1, "tags": ["x"]},
        "d": {"open": True, "one": 1},
    }
    async with stored() as store:
        await store.abatch([PutOp(DOCS, key, value) for key, value in values.items()])
        assert sorted(await keys(store, *DOCS, filter=wanted)) == sorted(expected)


async def test_search_pages_through_everything_once_the_newest_first() -> None:
    async with stored() as store:
        for number in range(9):
            await store.aput(DOCS, f"k{number}", {"n": number})
        pages = [await keys(store, *DOCS, limit=4, offset=offset) for offset in (0, 4, 8, 12)]
        assert pages == [["k8", "k7", "k6", "k5"], ["k4", "k3", "k2", "k1"], ["k0"], []]
        found = [await keys(store, *DOCS, query="k", limit=4, offset=offset) for offset in (0, 4, 8)]
        assert sorted(key for page in found for key in page) == [f"k{number}" for number in range(9)]


async def test_a_query_recalls_hits_before_all_else_with_scores() -> None:
    async with stored() as store:
        await store.aput(("m", "ada"), "pet", {"text": "Ada has a zebra called Xerxes.", "of": "ada"})
        await store.aput(("m", "ada"), "tea", {"text": "阿达喜欢绿茶。", "of": "ada"})
        await store.aput(("m", "bob"), "pet", {"text": "Bob has a dog.", "of": "bob"})
        for query, expected in (("zebra Xerxes", "pet"), ("绿茶", "tea")):
            best, *rest = await store.asearch(("m", "ada"), query=query)
            assert best.key == expected
            assert best.score is not None
            assert 0 < best.score <= 1
            assert all(one.score is None or one.score <= best.score for one in rest)
        found = await store.asearch(("m",), query="zebra", filter={"of": "bob"})
        assert [one.namespace for one in found] == [("m", "bob")]
        await store.aput(("m", "ada"), "pet", {"text": "Ada has a cat.", "of": "ada"})
        hits = {one.key: one.score for one in await store.asearch(("m", "ada"), query="cat") if one.score}
        assert max(hits, key=lambda key: hits[key]) == "pet"
        assert len(await store.asearch(("m",), query="长" * 9_000)) == 3


async def test_two_values_of_the_same_words_are_both_there() -> None:
    async with stored() as store:
        for key in ("a", "b"):
            await store.aput(DOCS, key, {"text": "the door is blue"})
        assert sorted(await keys(store, *DOCS, query="door")) == ["a", "b"]
        await store.adelete(DOCS, "a")
        assert await keys(store, *DOCS, query="door") == ["b"]


async def test_a_namespace_of_many_values_is_read_in_a_thread_and_searched_by_its_hits_alone() -> None:
    async with stored() as store:
        await store.abatch([PutOp(DOCS, f"k{number}", {"n": number, "t": "tea"}) for number in range(300)])
        assert len(await keys(store, *DOCS, limit=999)) == 300
        assert sorted(await keys(store, *DOCS, limit=999, query="tea")) == sorted(
            await keys(store, *DOCS, limit=999)
        )
        assert await keys(store, *DOCS, filter={"n": 7}, query="nothing of it") == ["k7"]
        assert len(await keys(store, *DOCS, limit=5, query="tea")) == 5
        assert (await store.aget(DOCS, "k299")).value == {"n": 299, "t": "tea"}  # type: ignore[union-attr]


async def test_only_the_fields_named_are_searched() -> None:
    async with stored(fields=["title", "parts[*].text"]) as store:
        value = {"title": "zebra", "parts": [{"text": "tiger"}, {"text": "llama"}], "secret": "ocelot"}
        await store.aput(DOCS, "a", value)
        await store.aput(DOCS, "b", value, index=["secret"])
        await store.aput(DOCS, "c", {"title": "zebra"}, index=False)

        for query, first in (("llama", "a"), ("zebra", "a"), ("ocelot", "b")):
            found = await store.asearch(DOCS, query=query)
            assert found[0].key == first
            assert [one.key for one in found if one.score is None][-1:] == ["c"]
        assert (await store.aget(DOCS, "c")).value == {"title": "zebra"}  # type: ignore[union-attr]
        [of_c] = [
            one for one in await store._runtime.items(path_of(DOCS), tenant="langgraph") if one.sequence == 3
        ]
        assert "zebra" not in of_c.text


async def test_namespaces_are_listed_by_conditions_depth_and_page() -> None:
    async with stored() as store, stored() as _:
        spaces = [
            ("a", "b", "c"),
            ("a", "b", "d", "e"),
            ("a", "b", "d", "i"),
            ("a", "b", "f"),
            ("a", "c", "f"),
            ("z",),
        ]
        for space in spaces:
            await store.aput(space, "k", {})
        assert await store.alist_namespaces() == sorted(spaces)
        assert await store.alist_namespaces(prefix=("a", "b"), max_depth=3) == [
            ("a", "b", "c"),
            ("a", "b", "d"),
            ("a", "b", "f"),
        ]
        assert await store.alist_namespaces(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
        assert await store.alist_namespaces(prefix=("*", "b"), suffix=("d", "*")) == spaces[1:3]
        assert await store.alist_namespaces(prefix=("a",), limit=2, offset=3) == [
            ("a", "b", "f"),
            ("a", "c", "f"),
        ]
        assert await store.alist_namespaces(prefix=("a", "b", "c", "x")) == []
        [both] = await store.abatch(
            [ListNamespacesOp((MatchCondition("prefix", ("a", "c")), MatchCondition("suffix", ("f",))))]
        )
        assert both == [("a", "c", "f")]


async def test_a_value_expires_so_long_after_it_was_used_last() -> None:
    clock = FakeClock()

    def now() -> datetime:
        return datetime.fromtimestamp(clock.now_ms() / 1000, UTC)

    async with opened(clock=clock) as runtime:
        store = MemoryStore(runtime, ttl={"default_ttl": 10.0}, now=now)
        await store.aput(DOCS, "read", {"n": 1})
        await store.aput(DOCS, "searched", {"n": 2})
        await store.aput(DOCS, "looked", {"n": 3})
        await store.aput(DOCS, "kept", {"n": 4}, ttl=None)
        clock.hold(6 * 60)
        assert await store.aget(DOCS, "read") is not None
        assert await keys(store, *DOCS, filter={"n": 2}) == ["searched"]
        assert await store.aget(DOCS, "looked", refresh_ttl=False) is not None
        clock.hold(5 * 60)
        assert sorted(await keys(store, *DOCS, refresh_ttl=False)) == ["kept", "read", "searched"]
        assert await store.aget(DOCS, "looked") is None
        await store.aput(DOCS, "looked", {"n": 5})
        assert (await store.aget(DOCS, "looked")).value == {"n": 5}  # type: ignore[union-attr]
        clock.hold(11 * 60)
        assert await keys(store, *DOCS) == ["kept"]
        assert await store.asweep_ttl() == 3
        assert await store.asweep_ttl() == 0
        assert len(await runtime.items(path_of(DOCS), tenant="langgraph", history=True)) == 1


async def test_wrong_namespaces_values_and_operators_are_refused_and_nothing_changes() -> None:
    async with stored() as store:
        await store.aput(DOCS, "k", {"n": 1})
        for space in ((), ("a.b",), ("a", ""), ("langgraph", "x"), ("a", 7)):
            with pytest.raises(InvalidNamespaceError):
                await store.aput(space, "k", {"n": 2})  # type: ignore[arg-type]
        with pytest.raises(InvalidNamespaceError):
            await store.abatch([PutOp(("a.b",), "k", {"n": 2})])
        for value in ({"x": object()}, {"x": {1, 2}}, {7: "x"}, {"x": "y" * 300_000}):
            with pytest.raises(UsageError, match=r"JSON"):
                await store.aput(DOCS, "k", value)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="mapping, not str"):
            await store.aput(DOCS, "k", "words")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="key must be"):
            await store.aput(DOCS, "", {"n": 2})
        with pytest.raises(UsageError, match="256 characters"):
            await store.aput(("x" * 300,), "k", {"n": 2})
        with pytest.raises(UsageError, match=r"\$eq"):
            await store.asearch(DOCS, filter={"n": {"$like": 1}})
        assert (await store.aget(DOCS, "k")).value == {"n": 1}  # type: ignore[union-attr]
        assert await store.alist_namespaces() == [DOCS]


async def test_many_writers_of_one_key_leave_one_value() -> None:
    async with stored() as store:

        async def put(number: int) -> None:
            await store.aput(DOCS, "k", {"n": number})

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(put, number)
        assert len(await store.asearch(DOCS)) == 1
        items = await store._runtime.items(path_of(DOCS), tenant="langgraph", history=True)
        assert len(items) == 1


@pytest.mark.parametrize("seed", range(3))
async def test_it_does_what_the_store_of_langgraph_in_memory_does(seed: int) -> None:
    """The same random puts, deletes, searches and listings, on theirs and on ours."""
    draw = random.Random(seed)
    theirs = InMemoryStore()
    spaces = [("a",), ("a", "b"), ("a", "b", "c"), ("b",), ("b", "a")]
    async with stored() as ours:
        for _ in range(60):
            space, key = draw.choice(spaces), draw.choice("klm")
            value = {
                "n": draw.randrange(4),
                "s": draw.choice(["x", "y"]),
                "l": [draw.choice(string.ascii_letters)],
            }
            for store in (theirs, ours):
                if value["n"]:
                    await store.aput(space, key, value)
                else:
                    await store.adelete(space, key)
            asked: dict[str, Any] = draw.choice(
                [
                    {},
                    {"filter": {"s": "x"}},
                    {"filter": {"n": {"$gte": 2}}},
                    {"filter": {"n": {"$ne": 1}, "s": "y"}},
                ]
            )
            prefix = draw.choice([(), *spaces])
            found = [
                {
                    (one.namespace, one.key): one.value
                    for one in await store.asearch(prefix, limit=99, **asked)
                }
                for store in (theirs, ours)
            ]
            assert found[0] == found[1]
            got = [await store.aget(space, key) for store in (theirs, ours)]
            values = [one and one.value for one in got]
            assert values[0] == values[1]
        filled = {space for space in spaces if theirs.search(space) and [*theirs._data[space]]}
        assert set(await ours.alist_namespaces()) == filled


# --- and what is more -------------------------------------------------------------------------------------


async def test_values_are_there_when_the_folder_is_opened_again_and_no_byte_of_a_deleted_one(
    tmp_path: Path,
) -> None:
    async with stored(tmp_path) as store:
        await store.aput(DOCS, "kept", {"text": "quokka 袋鼠"})
        await store.aput(DOCS, "gone", {"text": "zanzibar"})
    async with stored(tmp_path) as store:
        assert sorted(await keys(store, *DOCS)) == ["gone", "kept"]
        await store.adelete(DOCS, "gone")
    async with stored(tmp_path) as store:
        assert (await store.aget(DOCS, "kept")).value == {"text": "quokka 袋鼠"}  # type: ignore[union-attr]
    assert files_holding(tmp_path, "zanzibar") == []


async def test_a_namespace_is_an_owner_whom_one_call_forgets() -> None:
    async with opened() as runtime:
        store, other = MemoryStore(runtime), MemoryStore(runtime, tenant="another")
        await runtime.remember("The user's word is zanzibar.", user=path_of(DOCS))
        for one in (store, other):
            await one.aput(DOCS, "k", {"text": "door"})
            assert await keys(one, query="zanzibar") == ["k"]
        await runtime.forget_user(path_of(DOCS), tenant="langgraph")
        assert await keys(store) == []
        assert await keys(other) == ["k"]
        assert {row.owner for row in await runtime.owners()} == {
            Owner("", path_of(DOCS)),
            Owner("another", path_of(DOCS)),
        }


async def test_filters_of_the_runtime_take_secrets_out_of_values_and_leave_the_rest_whole() -> None:
    async with stored() as store:
        key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
        await store.aput(DOCS, "k", {"a": key, "password": "hunter2zz", "b": [1, "two"], "c": "x"})
        got = await store.aget(DOCS, "k")
        assert got is not None
        assert got.value == {
            "a": "[redacted key]",
            "password": "[redacted password]",
            "b": [1, "two"],
            "c": "x",
        }


async def test_a_memory_that_is_none_of_the_store_is_passed_over() -> None:
    async with stored() as store:
        await store.aput(DOCS, "k", {"n": 1})
        runtime = store._runtime
        await runtime.remember("x is y", user=path_of(DOCS), tenant="langgraph")
        [item] = [one for one in await runtime.items(path_of(DOCS), tenant="langgraph") if entry_of(one)]
        await runtime.remember(
            "x", user=path_of(DOCS), tenant="langgraph", attribute=item.attribute, value="no"
        )
        assert await keys(store) == ["k"]


class State(TypedDict):
    found: Annotated[list[str], lambda _, new: new]


def graph_of(store: MemoryStore) -> Any:
    def node(_: State) -> State:
        of_run = get_store()
        of_run.put(("memories", "ada"), "tea", {"text": "Ada likes green tea."})
        return {"found": [one.value["text"] for one in of_run.search(("memories", "ada"), query="tea")]}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile(store=store)


async def test_a_node_that_is_no_coroutine_uses_it_from_its_thread() -> None:
    async with stored() as store:
        assert (await graph_of(store).ainvoke({"found": []}))["found"] == ["Ada likes green tea."]
        with pytest.raises(UsageError, match="event loop of the runtime"):
            store.get(DOCS, "k")


def opened_in_thread() -> Iterator[MemoryStore]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opened()) as runtime:
        yield MemoryStore(runtime, portal=portal)


def test_a_synchronous_program_uses_it_and_so_does_another_loop() -> None:
    for store in opened_in_thread():
        assert graph_of(store).invoke({"found": []})["found"] == ["Ada likes green tea."]

        async def elsewhere(store: MemoryStore) -> Any:
            return await store.aget(("memories", "ada"), "tea")

        for _ in range(2):  # a loop, and another one after it
            assert anyio.run(elsewhere, store).value == {"text": "Ada likes green tea."}
    with pytest.raises(UsageError, match="has ended"):
        store.get(DOCS, "k")


def test_without_a_loop_it_is_not_made() -> None:
    async def on_trio() -> None:
        async with opened() as runtime:
            with pytest.raises(UsageError, match="asyncio"):
                MemoryStore(runtime)

    anyio.run(on_trio, backend="trio")


def test_what_it_packs_it_reads_and_its_limits_are_those_of_memories() -> None:
    assert store_values.TEXT_CHARS_MAX == ITEM_TEXT_CHARS_MAX
    entry = Entry(key="k", value={"": "\n", "a\nb: c": ["x: y", "\\u00"]}, created="", updated="")
    text = packed(entry)
    item = actormem.Item(
        id="m1",
        owner=Owner("", "a"),
        kind="fact",
        text="x",
        attribute=store_values.attribute_of("k"),
        value=text,
    )
    assert entry_of(item) == entry


@pytest.mark.parametrize(
    ("number", "printed"), [(0, "food Ada is allergic to peanuts."), (1, "Ada likes green tea.")]
)
def test_the_examples_run(number: int, printed: str) -> None:
    assert printed_by("actormem.integrations.langgraph", number) == f"{printed}\n"
