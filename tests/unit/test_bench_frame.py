"""The frame of the benchmarks: what their files hold, what targets say, how charts are drawn."""

import re
from functools import partial
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import anyio
import msgspec
import pytest

from benchmarks import charts, machine, process, recall, report, tokens
from benchmarks.dataset import Question, Set
from benchmarks.suite import benchmark_names
from benchmarks.targets import judged, told

ONE = report.Chart(
    name="one",
    title="t",
    x_title="x",
    y_title="y",
    series=(report.Series("a", (1.0, 2.0), (3.0, 4.0)), report.Series("b", (1.0, 2.0), (4.0, 5.0))),
    limit=2.0,
)
BARS = msgspec.structs.replace(
    ONE, kind="bars", labels=("g", "h"), series=(report.Series("a", (), (1.0, 2.0)),), limit=None
)


async def measured(size: dict[str, float]) -> report.Found:
    least = size["least"]
    return {"row": {"speed_ms": report.spread([least, least + 2, least + 1]), "count": report.spread([3.0])}}


def run(given: list[str]) -> int:
    return report.run(
        given,
        "made_up",
        "Is it fast?\n\nMeasured: nothing.",
        ({"least": 7.0}, {"least": 1.0}),
        measured,
        lambda size: f"size {size}",
        columns=[report.Column("speed ms", "speed_ms"), report.Column("none", "nothing")],
        targets=[report.Target(about="speed", row="row", figure="speed_ms", at_most=5.0)],
        charted=lambda found: [ONE],
        notes=lambda: ["a peer is not installed"],
    )


def test_a_file_holds_the_question_the_machine_the_versions_the_load_the_settings_and_the_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--json", str(tmp_path / "a.json")]) == 0
    found = msgspec.json.decode((tmp_path / "a.json").read_bytes(), type=report.Result)
    assert (found.name, found.question, found.settings) == ("made_up", "Is it fast?", {"least": 7})
    assert found.machine["cores"]
    assert found.versions["actormem"]
    assert found.versions["commit"]
    assert found.machine["filesystem"]
    assert [len(averages) for averages in found.load.values()] == [3, 3]
    assert found.figures["row"]["speed_ms"] == report.Spread(8, 7, 9)
    assert [verdict.met for verdict in found.targets] == [False]
    assert found.charts == (ONE,)
    out = capsys.readouterr().out
    assert re.search(r"row +8\.0 +-\n +7\.0–9\.0\n", out)
    assert "MISSED        speed ≤ 5: 8" in out
    assert "a peer is not installed" in out


def test_a_quick_run_says_that_the_targets_are_for_the_full_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--quick"]) == 0
    assert "targets, at a small size" in capsys.readouterr().out


def test_a_target_is_met_missed_or_not_measured() -> None:
    bounds = [
        report.Target(about="a", row="row", figure="x", at_most=2.0),
        report.Target(about="b", row="row", figure="x", at_least=3.0),
        report.Target(about="c", row="other", figure="x", at_least=3.0),
    ]
    verdicts = judged(bounds, {"row": {"x": report.spread([2.0])}})
    assert [verdict.met for verdict in verdicts] == [True, False, None]
    assert [told(verdict).split()[0] for verdict in verdicts] == ["met", "MISSED", "not"]


def test_ctrl_c_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    asked = Set("made up", (), (Question(conv="c", user="mei", text="?", evidence=["1"]),))
    monkeypatch.setattr(recall, "data_folder", Path)
    monkeypatch.setattr(recall, "set_names", lambda folder, names: ["made up"])
    monkeypatch.setattr(recall, "read_set", lambda folder, name: asked)
    monkeypatch.setattr(anyio, "run", stop)
    for module in (tokens, recall):
        assert module.main(["--quick"]) == 130
        assert capsys.readouterr().err.splitlines()[-1] == (
            f"benchmarks.{module.NAME}: stopped, nothing is written"
        )
    assert run([]) == 130


def test_a_target_that_binds_every_repeat_is_judged_by_the_worst() -> None:
    found = {"row": {"x": report.spread([10.0, 20.0, 900.0])}}
    bounds = [
        report.Target(about="median", row="row", figure="x", at_most=50.0),
        report.Target(about="most", row="row", figure="x", at_most=50.0, worst=True),
        report.Target(about="least", row="row", figure="x", at_least=15.0, worst=True),
    ]
    assert [(one.met, one.value) for one in judged(bounds, found)] == [(True, 20), (False, 900), (False, 10)]
    assert told(judged(bounds, found)[1]) == "MISSED        most ≤ 50 in every repeat: 900"


def test_without_matplotlib_plot_is_refused_in_one_line_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "drawable", lambda: charts.MISSING)
    with pytest.raises(SystemExit, match="2"):
        run(["--plot", str(tmp_path)])
    assert "pip install '.[bench]'" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("chart", [ONE, BARS], ids=["lines", "bars"])
def test_a_chart_is_drawn_in_the_colours_of_its_page_and_the_same_each_time(chart: report.Chart) -> None:
    pytest.importorskip("matplotlib")
    drawn = charts.drawing(chart)
    assert drawn.startswith("<svg")
    assert "currentColor" in drawn
    assert charts.WORDS not in drawn
    assert drawn == charts.drawing(chart)
    assert 'role="img"><title>t</title>' in drawn


def test_charts_of_one_page_share_no_id_and_refer_to_their_own() -> None:
    pytest.importorskip("matplotlib")
    drawn = [charts.drawing(ONE, "first"), charts.drawing(ONE, "second")]
    ids = [re.findall(r'\bid="([^"]*)"', one) for one in drawn]
    assert not set(ids[0]) & set(ids[1])
    for own, one in zip(ids, drawn, strict=True):
        assert set(re.findall(r'(?:="|url\()#([^")]*)', one)) <= set(own)


def test_eight_series_have_colours_and_markers_of_their_own() -> None:
    pairs = [charts.style_of(place) for place in range(64)]
    assert len(set(pairs)) == 64
    assert [len(set(each)) for each in zip(*pairs[:8], strict=True)] == [8, 8]


def test_the_file_system_of_a_folder_is_that_of_the_mount_it_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw shared:1 - ext4 /dev/a rw\n"
        "23 22 0:9 / /fast\\040disk rw - tmpfs tmpfs rw\n"
        "24 22 0:10 / /fast rw - xfs /dev/b rw\n"
    )
    monkeypatch.setattr(machine, "MOUNTS", mounts)
    places = ("/home/me", "/fast/a", "/fast disk/a", "/fast disks")
    assert [machine.filesystem_of(place) for place in places] == ["ext4", "xfs", "tmpfs", "ext4"]
    monkeypatch.setattr(machine, "MOUNTS", tmp_path / "none")
    assert machine.filesystem_of("/") == "unknown"


def test_a_process_that_fails_is_told_with_the_last_line_it_said() -> None:
    work = partial(process.output_of, "json.tool", "/nowhere/at all", seconds_max=60.0)
    with pytest.raises(process.ChildError, match=r"^json\.tool, exit code 2: .*nowhere/at all"):
        anyio.run(work)


def test_charts_are_written_where_they_are_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert run(["--plot", str(tmp_path)]) == 0
    [path] = tmp_path.iterdir()
    assert path.name == "made_up-one.svg"
    style = ElementTree.parse(path).getroot()[0]
    assert (style.text or "").startswith("svg{color:"), "it has a colour where no page gives one"


@pytest.mark.parametrize("name", benchmark_names())
def test_every_benchmark_says_question_measures_limits_corpus_and_how_to_read_it(name: str) -> None:
    module = import_module(f"benchmarks.{name}")
    about = module.__doc__ or ""
    assert name == module.NAME
    assert report.question_of(about).endswith("?")
    for part in ("Measured", "Not measured", "Corpus:", "To read it:"):
        assert f"\n\n{part}" in about
