"""The benchmark of shards, at a tiny size: it runs, and its figures are what they say. No time is asserted."""

import pytest

from benchmarks import shards

pytest.importorskip("ray", reason="Ray is not installed: pip install 'actormem[ray]'")


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
async def test_every_figure_is_there_and_what_the_cores_do_not_allow_is_not_judged() -> None:
    size = shards.Size(turn_count=3, session_count=4, turns_a_session=2, repeat_count=1, pause_s=0.0)
    found = await shards.measure(size)
    assert list(found) == ["local", "through Ray", "added", "one shard", "two shards"]
    assert ("speedup" in found["two shards"]) is (shards.cores() >= shards.CORES_MIN)
    assert bool(shards.notes()) is (shards.cores() < shards.CORES_MIN)
    assert found["two shards"]["turns_per_s"].median > 0
    assert found["one shard"]["shard_ms"].median >= 0
    assert [series.name for series in shards.charted(found)[0].series] == ["p50", "p95"]
