"""`benchmarks.scale` at a tiny size: every figure is there, and what is not installed is named."""

from pathlib import Path

import anyio
import msgspec
import numpy as np
import pytest

from benchmarks import large_owner, report, scale, scale_process
from benchmarks.scale_ours import Job, graph_recall
from benchmarks.scale_stores import PACKAGES

SIZE = scale.Size(
    item_counts=(30,),
    owner_counts=(1,),
    text_count=10,
    query_count=3,
    add_count=4,
    embedder="hashing",
    stores=(scale.OURS, "numpy", "qdrant"),
)


def unit_vectors(count: int) -> large_owner.Vectors:
    return np.concatenate(list(large_owner.jittered(np.eye(9, 16, dtype=np.float32), count)))


def test_ours_and_another_are_measured_and_what_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTORMEM_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setitem(PACKAGES, "qdrant", "a-package-that-is-not-there")
    measured = anyio.run(scale.measure, SIZE)
    assert measured.source.startswith("drawn words")
    ours, numpy = measured.found["actormem, 30 items"], measured.found["numpy, 30 items"]
    common = {column.figure for column in scale.COLUMNS}
    own = {column.figure for column in scale.OURS_COLUMNS if not column.figure.startswith("graph")}
    if not report.machine()["system"].startswith("Linux"):
        common = {name for name in common if not name.startswith("resident")}
    assert common <= set(numpy)
    assert common | own <= set(ours)
    assert ours["first_whole"] == 1, "a small owner is loaded before the first answer"
    assert ours["warm_p50_ms"] > 0
    assert ours["search_count"] == numpy["search_count"] == SIZE.query_count
    assert [line for line in measured.missing if "a-package-that-is-not-there" in line] == list(
        measured.missing
    )
    assert [series.x for series in scale.charted(measured.found)[0].series] == [(30.0,)] * 2


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
    measured = anyio.run(scale.measure, msgspec.structs.replace(SIZE, stores=("broken",)))
    assert measured.missing == ("broken, 30 items: not measured, KeyError: 'broken'",)
    assert not measured.found


def test_the_graph_finds_the_true_neighbours_of_a_few_vectors() -> None:
    made = unit_vectors(60)
    assert graph_recall(made, made[:5]) == {"graph_recall": 1, "graph_recall_of_ten": 1}
