"""`benchmarks.durability` and `benchmarks.sessions` at a tiny size; processes are killed. No time is asserted."""

import os
import shutil
from pathlib import Path

import anyio
import msgspec
import pytest

import actormem
from benchmarks import durability, durability_folder, durability_recovery, report, sessions
from benchmarks.postgres_server import installed
from benchmarks.process import ChildError, output_of

TINY = durability.Size(
    session_count=3, messages_each=2, measure_s=0.0, alone_count=1, repeat_count=1, recovered=()
)
MESSAGES = 4


def empty(folder: Path) -> bool:
    return not list(folder.iterdir())


@pytest.mark.anyio
async def test_durability_is_measured_at_both_levels(tmp_path: Path) -> None:
    found = await durability.measure(TINY, tmp_path)
    assert list(found)[:2] == ["power", "process"]
    assert list(found)[2:] == (["postgres power", "postgres process"] if installed() else [])
    for figures in found.values():
        assert all(one.median > 0 for one in figures.values())
        assert figures["ack_p50_ms"].median <= figures["ack_p95_ms"].median
    assert empty(tmp_path)


def test_a_session_adds_until_it_has_said_enough_and_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = [10.0]
    monkeypatch.setattr(durability, "perf_counter", lambda: now_s[0])
    done = durability.enough(durability.Size(messages_each=3, measure_s=5.0))
    assert not done(100)
    now_s[0] = 15.0
    assert (done(2), done(3)) == (False, True)
    assert durability.FULL.measure_s >= 5


def test_a_folder_whose_process_was_killed_is_opened_and_holds_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durability_recovery, "SESSION_MESSAGES", MESSAGES)
    monkeypatch.setattr(durability_recovery, "LEFT_SESSIONS", 3)
    found = anyio.run(durability_recovery.recovering, 14, 1, tmp_path)
    assert list(found) == ["14 messages", "14 messages, log held"]
    for [figures] in found.values():
        assert set(figures) <= {column.figure for column in durability.COLUMNS}
        assert all(value > 0 for value in figures.values())
    assert len(durability.charted(report.over_repeats(found))[0].series) == 4
    assert empty(tmp_path)


@pytest.mark.parametrize(("message_count", "expected"), [(1_000, (2, 600)), (100_000, (480, 4_000))])
def test_a_folder_has_as_many_messages_as_asked_for_with_those_before_the_kill(
    message_count: int, expected: tuple[int, int]
) -> None:
    assert durability_recovery.shares(message_count) == expected
    assert expected[0] * durability_recovery.SESSION_MESSAGES + expected[1] == message_count


def test_a_copied_folder_holds_sessions_of_as_many_users_with_their_items_and_a_loss_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    durability_folder.main("fill", str(tmp_path), 3, MESSAGES)

    async def found(user: str) -> tuple[int, int]:
        async with actormem.open(tmp_path, embedder="hashing") as runtime:
            session = await runtime.spawn("talk", user=user)
            return len(await session.messages()), len(await runtime.items(user))

    first, last = anyio.run(found, "user-1"), anyio.run(found, "user-2")
    assert first == last
    assert first[0] == MESSAGES
    assert first[1] >= MESSAGES
    durability_folder.main("recover", str(tmp_path), 3, MESSAGES)
    steps = msgspec.json.decode(capsys.readouterr().out)
    assert set(steps) >= {"recovery_s", "open_s", "spawn_s", "context_s"}
    with pytest.raises(SystemExit, match="3 acknowledged messages are lost, of user-0, user-2"):
        durability_folder.main("recover", str(tmp_path), 3, MESSAGES, "[1, 0, 2]")
    with pytest.raises(SystemExit, match="4 acknowledged messages are lost, of user-3"):
        durability_folder.main("recover", str(tmp_path), 4, MESSAGES)


@pytest.mark.anyio
async def test_a_process_that_fails_is_told_with_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "file"
    place.write_text("no folder")
    with pytest.raises(ChildError, match=r"durability_folder, exit code 1: .*UsageError: .*file"):
        await output_of("benchmarks.durability_folder", "leave", str(place), "2", "5", seconds_max=60)


def test_a_failing_process_ends_the_benchmark_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def measure(size: durability.Size, place: Path | None) -> dict[str, dict[str, report.Spread]]:
        raise ChildError("3 acknowledged messages are lost")

    monkeypatch.setattr(durability, "measure", measure)
    assert durability.main(["--quick"]) == 1
    assert capsys.readouterr().err == "benchmarks.durability: 3 acknowledged messages are lost\n"


def test_what_memory_alone_holds_is_void_for_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(durability, "QUICK", TINY)
    monkeypatch.setattr(durability, "installed", lambda: False)
    monkeypatch.setattr(durability, "filesystem_of", lambda path: "tmpfs")
    written = tmp_path / "figures.json"
    assert durability.main(["--quick", "--folder", str(tmp_path), "--json", str(written)]) == 0
    held = msgspec.json.decode(written.read_bytes())
    assert list(held["figures"]) == ["power, void on tmpfs", "process"]
    assert held["settings"]["filesystem"] == held["machine"]["filesystem"] == "tmpfs"
    assert [verdict["met"] for verdict in held["targets"]] == [None, None, None]
    assert "in folders on tmpfs" in capsys.readouterr().out
    assert durability.voided({"power": {}}, "ext4") == {"power": {}}


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        durability.main(["--folder", str(tmp_path / "nowhere")])
    assert "must be a folder that can be written" in capsys.readouterr().err


def test_files_are_read_from_the_disk_again_where_the_system_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_bytes(b"kept")
    assert durability_recovery.drop_cached(tmp_path) == hasattr(os, "posix_fadvise")
    assert (tmp_path / "inner" / "file").read_bytes() == b"kept"
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    assert not durability_recovery.drop_cached(tmp_path)
    shutil.rmtree(tmp_path / "inner")


def test_the_cost_of_idle_sessions_at_a_tiny_size_has_every_figure_and_leaves_nothing_behind() -> None:
    size = sessions.Size(
        session_count=6, active_count=3, turn_count=2, wake_count=10, stay_max=3, repeat_count=1
    )
    found = anyio.run(sessions.measure, size)["sessions"]
    assert set(found) == {column.figure for column in sessions.COLUMNS}
    assert max(found[name].median for name in ("tasks_left", "threads_left", "files_left")) <= 0
    assert len(sessions.charted({"sessions": found})[0].series[0].y) == 4
    assert {target.figure for target in sessions.TARGETS} <= set(found)
    assert sessions.FULL.repeat_count == 3
