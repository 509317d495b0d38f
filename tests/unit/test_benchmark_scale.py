"""`benchmarks.scale` at a tiny size: every figure is there, and what is not installed is named."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
import numpy as np
import pytest
from anyio import to_thread

import actormem
from benchmarks import large_owner, report, scale, scale_process, scale_tables
from benchmarks.scale_ours import Answered, Asking, Job, graph_recall
from benchmarks.scale_stores import PACKAGES, Page, Scan, opened
from tests.runtimes import ScriptedEmbedder
from tests.runtimes import opened as runtime_opened

SIZE = scale.Size(
    item_counts=(30,),
    owner_counts=(1,),
    text_count=10,
    query_count=3,
    add_count=4,
    repeat_count=2,
    embedder="hashing",
    stores=(scale.OURS, "numpy", "qdrant"),
)


async def in_this_process(name: str, folder: Path) -> dict[str, float] | str:
    return await to_thread.run_sync(scale_process.main, name, folder)


def unit_vectors(count: int) -> large_owner.Vectors:
    return np.concatenate(list(large_owner.jittered(np.eye(9, 16, dtype=np.float32), count)))


def test_ours_and_another_are_measured_and_what_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTORMEM_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(scale, "_run", in_this_process)
    monkeypatch.setitem(PACKAGES, "qdrant", "a-package-that-is-not-there")
    measured = anyio.run(scale.measure, SIZE)
    assert measured.source.startswith("drawn words")
    ours, numpy = measured.found["actormem, 30 items"], measured.found["numpy, 30 items"]
    common = {column.figure for column in scale_tables.COLUMNS}
    own = {column.figure for column in scale_tables.OURS_COLUMNS if not column.figure.startswith("graph")}
    own -= {"loading_same_share"}
    if not report.machine()["system"].startswith("Linux"):
        common = {name for name in common if not name.startswith("resident")}
    assert common <= set(numpy)
    assert common | own <= set(ours)
    assert ours["first_whole"].least == 1, "a small owner is loaded before the first answer"
    assert "loading_same_share" not in ours
    assert ours["until_whole_ms"].least >= ours["first_ms"].least
    assert ours["warm_p50_ms"].least > 0
    assert ours["warm_p50_ms"].least < ours["warm_p50_ms"].greatest, "it was measured twice"
    assert ours["search_count"].median == numpy["search_count"].median == SIZE.query_count
    assert [line for line in measured.missing if "a-package-that-is-not-there" in line] == list(
        measured.missing
    )
    assert [series.x for series in scale_tables.charted(measured.found)[0].series] == [(30.0,)] * 2
    tables = scale_tables.tables(measured.found).split("\n\n")
    assert [table.partition("  ")[0] for table in tables] == [
        "search",
        "adding, memory",
        "opening",
        "building",
    ]
    assert ["numpy" in table for table in tables] == [True, True, False, False]


def test_no_two_columns_have_one_title_and_the_full_size_has_a_row_for_every_target() -> None:
    columns = (*scale_tables.COLUMNS, *scale_tables.OURS_COLUMNS)
    assert (
        len({column.title for column in columns})
        == len({column.figure for column in columns})
        == len(columns)
    )
    rows = {scale.row_name(scale.OURS, count, 1) for count in scale.FULL.item_counts}
    assert {target.row for target in scale_tables.TARGETS} <= rows
    assert {target.figure for target in scale_tables.TARGETS} <= {column.figure for column in columns}


@pytest.mark.parametrize("store", ["actormem", "numpy"])
def test_several_owners_are_asked_in_turn(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"What was said of the garden, number {number}." for number in range(9)]
    made = large_owner.Material(words, unit_vectors(9), words[:4], unit_vectors(4), "made up")
    monkeypatch.setattr(scale_process, "resident_bytes", lambda: 0)
    vectors = anyio.run(large_owner.fill, tmp_path / "memory", made, 12, 3)
    np.save(tmp_path / "vectors.npy", vectors)
    np.save(tmp_path / "queries.npy", made.query_vectors)
    job = Job(item_count=12, owner_count=3, queries=tuple(made.queries), add_count=3)
    (tmp_path / "job.json").write_bytes(msgspec.json.encode(job))
    assert [job.owner(number) for number in range(4)] == ["user-0", "user-1", "user-2", "user-0"]
    assert scale_process.main(store, tmp_path)["search_count"] == 4


def test_a_process_that_breaks_is_told_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ACTORMEM_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setitem(PACKAGES, "broken", "numpy")
    measured = anyio.run(scale.measure, msgspec.structs.replace(SIZE, stores=("broken",), repeat_count=1))
    assert measured.missing == ("broken, 30 items: not measured, KeyError: 'broken'",)
    assert not measured.found


def test_the_graph_finds_the_true_neighbours_of_a_few_vectors() -> None:
    made = unit_vectors(60)
    assert graph_recall(made, made[:5]) == {"graph_recall": 1, "graph_recall_of_ten": 1}


def test_the_corpus_is_among_the_settings_and_a_file_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTORMEM_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(scale, "_run", in_this_process)
    monkeypatch.setattr(scale, "QUICK", msgspec.structs.replace(SIZE, repeat_count=1))
    file = tmp_path / "scale.json"
    assert scale.main(["--quick", "--json", str(file), "--only", "numpy"]) == 0
    result = msgspec.json.decode(file.read_bytes(), type=report.Result)
    assert result.settings["corpus"].startswith("drawn words, 10 texts and 3 queries (")
    assert result.peers == ("numpy, 30 items",)
    assert [verdict.met for verdict in result.targets] == [None] * 3


@pytest.mark.anyio
async def test_other_texts_are_another_corpus() -> None:
    embedder = ScriptedEmbedder()
    made = [await large_owner.material(embedder, count, 2) for count in (5, 6)]
    assert made[0].source != made[1].source
    assert made[0].source == (await large_owner.material(embedder, 5, 2)).source


@pytest.mark.parametrize("store", [name for name in PACKAGES if name != "numpy"])
def test_another_store_finds_the_nearest_of_its_owner(store: str, tmp_path: Path) -> None:
    modules = {"faiss": "faiss", "qdrant": "qdrant_client", "chroma": "chromadb"}
    pytest.importorskip(modules.get(store, "langgraph.store." + store.rpartition(" ")[2]))
    if store == "langgraph sqlite" and not hasattr(sqlite3.Connection, "enable_load_extension"):
        pytest.skip("this Python's sqlite3 loads no extensions")
    anyio.run(found_by, store, tmp_path)


async def found_by(name: str, folder: Path) -> None:
    rows = unit_vectors(9)
    async with opened(name, 16, folder) as store:
        await store.add(Page(["ada"] * 5 + ["bob"] * 4, 0, rows))
        await store.added()
        assert await store.search("ada", rows[1], 3) == 3
        assert await store.search("bob", rows[6], 10) == 4


@pytest.mark.anyio
async def test_matrices_are_made_when_all_is_added_and_the_pages_let_go() -> None:
    store, rows = Scan(), unit_vectors(6)
    await store.add(Page(["ada", "bob"] * 2, 0, rows[:4]))
    await store.add(Page(["ada", "ada"], 4, rows[4:]))
    await store.added()
    assert await store.search("ada", rows[0], 10) == 4
    assert await store.search("bob", rows[0], 1) == 1


class Partial(Asking):
    """Its answers are whole only from the third on."""

    async def ask(self, number: int, ending: str = "", *, owner_number: int | None = None) -> Answered:
        answer = await super().ask(number, ending, owner_number=owner_number)
        return msgspec.structs.replace(answer, whole=number >= 2)


def job_of(queries: Sequence[str]) -> Job:
    return Job(item_count=1, owner_count=1, queries=tuple(queries), add_count=0)


@pytest.mark.anyio
async def test_it_asks_on_until_an_answer_is_whole() -> None:
    async with runtime_opened() as runtime:
        await runtime.remember("The jar stands on the shelf", user="ada")
        asking = Partial(runtime, job_of(["Where is the jar?"]))
        answers: list[Answered] = []
        assert await asking.ask_until_whole(answers) >= sum(one.elapsed_ms for one in answers)
        assert [one.whole for one in answers] == [False, False, True]
        assert await asking.same_share(answers) == {"loading_same_share": 1}
        assert await asking.same_share(answers[2:]) == {}


class Loading(Asking):
    """Everything is loaded while its first question is under way."""

    def __init__(self, runtime: actormem.Runtime, job: Job) -> None:
        super().__init__(runtime, job)
        self.loaded = anyio.Event()

    async def ask(self, number: int, ending: str = "", *, owner_number: int | None = None) -> Answered:
        self.loaded.set()
        return await super().ask(number, ending, owner_number=owner_number)


@pytest.mark.anyio
async def test_a_question_under_way_when_all_is_loaded_is_waited_for_and_counted() -> None:
    async with runtime_opened() as runtime:
        asking, answers = Loading(runtime, job_of(["Where is the jar?"])), list[Answered]()
        await asking.ask_until(asking.loaded, answers)
    assert len(answers) == 1


@pytest.mark.anyio
async def test_where_no_answer_is_whole_for_minutes_there_is_no_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.scale_ours.WHOLE_S_MAX", 0.0)
    async with actormem.open(None, embedder=ScriptedEmbedder()) as runtime:
        with pytest.raises(TimeoutError, match="no whole answer within 0 s"):
            await Asking(runtime, job_of(["Where?"])).ask_until_whole([])
