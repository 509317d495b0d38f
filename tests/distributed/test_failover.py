"""The model of a failover: the fence lets no two owners write, whatever goes wrong; without it the check finds them."""

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import capacity, failover
from benchmarks.failover import Faults, Record, Size, Took, two_owners

FAULTS = st.builds(
    Faults,
    pause_chance=st.floats(0, 0.3),
    pause_s=st.floats(0.1, 120),
    delay_s=st.floats(0.001, 20),
    skew=st.floats(0, 0.9),
    death_chance=st.floats(0, 0.1),
    false_alarm_chance=st.floats(0, 0.1),
)


@given(faults=FAULTS, seed=st.integers(0, 2**32))
def test_with_the_fence_no_two_owners_write(faults: Faults, seed: int) -> None:
    assert failover.failover(3, 120.0, faults, seed, fenced=True)["two_owners"] == 0


def test_without_the_fence_the_check_finds_two_owners() -> None:
    found = failover.failover(50, 120.0, Faults(), 1, fenced=False)
    assert found["two_owners"] > 0
    assert found["refused"] == 0
    assert found["takeovers"] > 50


def test_nothing_goes_wrong_where_nothing_fails() -> None:
    calm = Faults(
        pause_chance=0.0, pause_s=0.0, delay_s=0.01, skew=0.0, death_chance=0.0, false_alarm_chance=0.0
    )
    found = failover.failover(5, 60.0, calm, 1, fenced=False)
    assert found["takeovers"] == 5
    assert found["two_owners"] == found["refused"] == 0
    assert found["commits"] > 5 * 50


def test_a_lease_is_taken_when_it_has_run_out_and_an_old_number_is_refused() -> None:
    record = Record(fenced=True)
    assert record.take(0.0) == 1
    assert record.take(1.0) == 0
    assert record.renew(1, 5.0)
    assert record.take(10.9) == 0
    assert record.take(11.0) == 2
    assert not record.renew(1, 11.1)
    assert not record.commit(7, 1)
    assert record.commit(8, 2)
    assert record.took == [Took(8, 2)]


def test_two_owners_are_a_commit_of_an_old_number_after_one_of_a_newer() -> None:
    assert two_owners([Took(1, 1), Took(1, 1), Took(2, 2), Took(3, 3)]) == 0
    assert two_owners([Took(1, 1), Took(2, 2), Took(1, 1), Took(2, 2)]) == 1


def test_the_simulation_has_every_figure_and_is_the_same_at_each_run() -> None:
    size = Size(shard_count=20, owner_count=2_000, node_count=4, change_count=20, simulated_s=200.0)
    found = anyio.run(failover.measure, size)
    assert found == anyio.run(failover.measure, size)
    figures = found["20 shards"]
    assert {column.figure for column in failover.COLUMNS} <= set(figures)
    assert figures["two_owners"].median == 0 < figures["two_owners_without_fence"].median
    assert 1 <= figures["owners_of_mean"].median < 1.5
    assert figures["node_of_mean"].median <= 1.4
    assert 0.2 <= figures["death_moves_share"].median <= 0.4, "a node of three to five, and no other"


# --- capacity ---------------------------------------------------------------------------------------------


TURN = capacity.Measured(
    process_mb=256.0, turn_ms=10.0, turn_bytes=4_096.0, turn_rows=8.0, turn_texts=3.0, vector_texts=2.0
)


def test_the_capacity_of_a_service_follows_from_its_assumptions() -> None:
    given = capacity.Assumptions(
        users=864_000, daily_turns=10.0, peak=2.0, core_share=0.5, ray_ms=5.0, node_cores=4, days=10.0,
        dimensions=256, copies=1.0, sitting_s=0.0, idle_s=100.0, session_kb=24.0, item_kb=10.0, items_awake=100.0,
    )  # fmt: skip
    found = capacity.computed(given, TURN)
    assert found["load"] == {
        "turns_a_day": 8_640_000,
        "turns_a_second": 100,
        "turns_a_second_at_peak": 200,
        "sessions_awake": 2_000,
    }
    assert found["machines"]["shards"] == 4
    assert found["machines"]["cores"] == 6
    assert found["machines"]["nodes"] == 2
    small = capacity.computed(msgspec.structs.replace(given, shard_gb=10.0, node_gb=0.25), TURN)
    assert (small["machines"]["shards"], small["machines"]["nodes"]) == (50, 58)
    assert found["machines"]["memory_gb"] == pytest.approx(1 + 2_000 * 1_024 / 1024**2)
    assert found["database"]["rows"] == 86_400_000 * 8
    assert found["database"]["tb"] == pytest.approx(86_400_000 * (4_096 + 2 * 256 * 4) / 1024**4)
    twice = capacity.computed(msgspec.structs.replace(given, users=2 * 864_000), TURN)
    assert twice["a month"]["prompt_mtokens"] == 2 * found["a month"]["prompt_mtokens"]
    assert twice["a month"]["usd_a_user"] == pytest.approx(found["a month"]["usd_a_user"])


def test_capacity_says_every_assumption_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert capacity.main(["--quick", "--embedder", "hashing", "--users", "100_000_000"]) == 0
    out = capsys.readouterr().out
    assert "--users" in out
    assert "100,000,000" in out
    assert all(source in out for source in capacity.SOURCES.values())


@pytest.mark.parametrize(
    "wrong",
    [
        ["--users", "0"],
        ["--users", "-1"],
        ["--peak", "nan"],
        ["--core-share", "2"],
        ["--days", "x"],
        ["--days", "0"],
        ["--users", "0.5"],
        ["--peak", "0.1"],
    ],
)
def test_a_number_that_is_none_is_refused_in_a_line(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        capacity.main(["--quick", *wrong])
    assert len(capsys.readouterr().err.splitlines()[-1]) < 200
