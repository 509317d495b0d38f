"""The benchmarks, at a tiny size: that they run, and that their figures are what they say. No time is asserted."""

from pathlib import Path

import anyio
import msgspec
import numpy as np
import pytest

import actormem
from benchmarks import (
    flat_cost,
    kernel,
    large_owner,
    recall,
    reply_path,
    report,
    survival,
    tokens,
)
from benchmarks.conversation import conversation
from benchmarks.counting import Counter
from benchmarks.dataset import DataError, Question, read_set, set_names

TURNS = (
    {"conv": "c", "user": "mei", "session": "1", "turn": "1", "speaker": "user", "text": "我对花生过敏。"},
    {"conv": "c", "user": "mei", "session": "1", "turn": "2", "speaker": "assistant", "text": "记下了。"},
    {"conv": "c", "user": "mei", "session": "2", "turn": "3", "speaker": "user", "text": "我的猫叫豆包。"},
    {
        "conv": "c",
        "user": "tom",
        "session": "3",
        "turn": "4",
        "speaker": "user",
        "text": "My cat is Biscuit.",
    },
    {
        "conv": "c",
        "user": "tom",
        "session": "3",
        "turn": "5",
        "speaker": "user",
        "text": "I parked the blue van behind the bakery.",
        "time": "2024-05-01",
        "caption": "a van",
    },
)
QUESTIONS = (
    {"conv": "c", "user": "mei", "category": "health", "text": "我对什么过敏？", "evidence": ["1"]},
    {"conv": "c", "user": "tom", "category": "place", "text": "Where is the blue van?", "evidence": ["5"]},
    {"conv": "c", "user": "tom", "category": "place", "text": "Who has a cat?", "evidence": ["4", "3"]},
    {"conv": "c", "user": "tom", "category": "none", "text": "What is my shoe size?", "evidence": []},
)


def answer(found: tuple[str, ...], evidence: set[str]) -> recall.Answer:
    return recall.Answer(
        category="",
        found=found,
        evidence=frozenset(evidence),
        own=frozenset(evidence),
        foreign_count=0,
        degraded=False,
        elapsed_ms=1.0,
    )


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one made-up set, named by the environment."""
    folder = tmp_path / "data"
    (folder / "made_up").mkdir(parents=True)
    for name, rows in (("turns", TURNS), ("questions", QUESTIONS)):
        (folder / "made_up" / f"{name}.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(rows))
    monkeypatch.setenv("ACTORMEM_DATA", str(folder))
    return folder


def test_the_conversation_is_the_same_each_time_and_names_every_order_once() -> None:
    turns = conversation(200, seed=3)
    assert turns == conversation(200, seed=3)
    assert turns != conversation(200, seed=4)
    orders = [turn.order for turn in turns if turn.order]
    assert len({order.question for order in orders}) == len({order.number for order in orders}) == 40
    words = "".join(turn.user + turn.reply for turn in turns)
    assert all(words.count(order.number) == 1 and order.number not in order.question for order in orders)


def test_recall_measures_a_folder_of_data_and_writes_its_figures(
    data_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "figures.json"
    assert recall.main(["--json", str(written)]) == 0
    held = msgspec.json.decode(written.read_bytes())
    assert held["name"] == "recall"
    assert held["machine"]["cores"]
    assert held["versions"]["actormem"]
    for embedder in ("local", "hashing"):
        found = {row: held["figures"][f"made_up.{embedder}.{row}"] for row in ("all", "health", "place")}
        assert found["all"]["question_count"]["median"] == 3
        assert found["health"]["recall_at_10"]["median"] == 1
        assert found["all"]["foreign_count"]["median"] == 0
        # The third question names a turn of another owner, too: it is not found, and cannot be.
        assert found["place"]["ceiling"]["median"] == 0.75
        assert found["place"]["recall_at_10"]["median"] == 0.75
    assert [verdict["met"] for verdict in held["targets"]] == [True, True]
    assert "made_up" in capsys.readouterr().out


def test_recall_figures_are_means_over_questions() -> None:
    others = tuple(f"x{number}" for number in range(6))
    figures = recall.figures(
        [answer(("a", "x"), {"a", "b"}), answer((*others, "a"), {"a"}), answer((), {"a"})]
    )
    assert figures["recall_at_5"] == pytest.approx(0.5 / 3)
    assert figures["recall_at_10"] == pytest.approx(1.5 / 3)
    assert figures["mrr"] == pytest.approx((1 + 1 / 7) / 3)
    assert figures["recall_at_10_low"] < figures["recall_at_10"] < figures["recall_at_10_high"]


class LeakingRuntime:
    """A runtime that brings an item of another owner, made of a message of a third one."""

    async def recall(self, query: str, *, user: str, limit: int, deadline_s: float) -> actormem.Recall:
        other = actormem.Owner("", "c/tom")
        item = actormem.Item(id="m1", owner=other, kind="episode", text="", source_ids=("c/1", "c/9"))
        return actormem.Recall(hits=(actormem.Hit(item=item, score=1.0),))


@pytest.mark.anyio
async def test_items_and_messages_of_others_are_counted_and_fail_the_benchmark() -> None:
    question = Question(conv="c", user="mei", text="?", evidence=["1", "9"])
    found = await recall.ask(LeakingRuntime(), question, {"c/1": "c/mei", "c/9": "c/ann"})
    assert found.foreign_count == 2
    assert found.own == {"c/1"}
    assert recall.exit_code({"a": {"foreign_count": 0, "question_count": 3}}) == 0
    assert recall.exit_code({"a": {"foreign_count": 0}, "b": {"foreign_count": 2}}) == 1


def test_missing_data_is_said_plainly(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recall.main(["another"]) == 2
    assert "no set another in" in capsys.readouterr().err
    monkeypatch.setenv("ACTORMEM_DATA", str(data_folder / "nowhere"))
    assert recall.main([]) == 2
    assert "ACTORMEM_DATA" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", [b"[", b'{"conv": 1}', msgspec.json.encode(TURNS[0] | {"time": "yesterday"})]
)
def test_a_wrong_line_is_named(data_folder: Path, line: bytes) -> None:
    turns = data_folder / "made_up" / "turns.jsonl"
    turns.write_bytes(turns.read_bytes() + line)
    with pytest.raises(DataError, match=f"line {len(TURNS) + 1}"):
        read_set(data_folder, "made_up")


def test_a_quick_set_keeps_whole_conversations_and_the_first_questions_of_each(data_folder: Path) -> None:
    assert set_names(data_folder, []) == ["made_up"]
    whole = read_set(data_folder, "made_up")
    quick = whole.first(1, 2)
    assert quick.turns == whole.turns
    assert quick.questions == whole.questions[:2]


def test_a_percentile_is_the_smallest_value_that_covers_the_share() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert [report.percentile(values, share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 50, 95, 100]
    assert report.percentile([3.0], 0.95) == 3


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        reply_path.main(["--json", str(tmp_path / "nowhere" / "figures.json")])
    assert "folder that exists" in capsys.readouterr().err


def test_a_question_is_asked_in_the_words_of_what_was_ordered_and_not_of_its_number() -> None:
    asked = [one for one in tokens.talk(60, 5) if one.asked]
    assert len(asked) >= 8
    for one in asked:
        assert one.asked is not None
        assert one.user.endswith(one.asked.question)
        assert one.asked.number not in one.user


@pytest.mark.anyio
async def test_tokens_stay_within_the_budget_and_questions_find_their_answer() -> None:
    size = tokens.Size(turn_count=30, seeds=(5, 77), budgets=(2_000,), work_s=0.0)
    found = await tokens.measure(size, "hashing")
    assert all(figures["sent"].least < figures["sent"].greatest for figures in found.values()), (
        "of both seeds"
    )
    figures = found["2000"]
    assert figures["over"].median == 0
    assert figures["answered"].median == 1
    assert 0 < figures["sent"].median < 1
    assert 0 < figures["prefix"].median < 1
    assert figures["survived"].median == 1
    for row in ("2000, LLM", "2000, LLM, pauses"):
        assert found[row]["side"].median > 0
        assert found[row]["survived"].median == 1, "whatever the model says"
    assert len(tokens.charted(found)[0].series) == 3


@pytest.mark.anyio
async def test_a_context_takes_as_many_tokens_as_its_trace_says_and_full_history_holds_no_note() -> None:
    counter = Counter()
    tools = [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
    tools.append({"role": "tool", "tool_call_id": "c1", "content": "found"})
    async with actormem.open(None, embedder="hashing") as runtime:
        session = await runtime.spawn("talk", user="ada", model="gpt-4o", system=tokens.SYSTEM)
        for spoken in tokens.talk(4, 5):
            async with session.turn(spoken.user) as turn:
                assert counter.tokens(turn.messages) == turn.trace.tokens
                turn.reply(spoken.reply)
        whole = counter.tokens((await session.context()).messages)
    assert counter.tokens(tools) > counter.tokens(tools[1:]) > counter.text("found") + 7 - 1
    sent = await tokens.play(actormem.Budget(context=6_000), "hashing", 4, 5)
    assert sent.tokens >= sent.full_tokens, "four turns are all there, and their notes"
    assert sent.over_count == 0
    assert whole > counter.text(tokens.SYSTEM)


def test_a_setting_that_another_beats_in_both_is_not_on_the_frontier() -> None:
    def one(sent: float, prefix: float) -> dict[str, report.Spread]:
        return {"sent": report.spread([sent]), "prefix": report.spread([prefix])}

    found = {"a": one(0.2, 0.9), "b": one(0.1, 0.8), "c": one(0.3, 0.85)}
    assert tokens.unbeaten(found) == ["b", "a"]


def test_the_flat_cost_of_a_tiny_size_has_every_figure_of_both_sessions() -> None:
    size = flat_cost.Size(old_messages=40, young_messages=10, young_sessions=1, turn_count=2)
    found = anyio.run(flat_cost.measure, size)
    assert set(found) == {"old", "young", "ratio"}
    for figures in found.values():
        assert set(figures) == {column.figure for column in flat_cost.COLUMNS}
        assert all(one.median >= 0 for one in figures.values())
    assert len(flat_cost.charted(found)[0].series[0].y) == len(flat_cost.COLUMNS)


def test_jittered_vectors_are_near_what_they_were_made_from_and_all_different() -> None:
    pages = list(large_owner.jittered(np.eye(6, 512, dtype=np.float32), 20))
    made = np.concatenate(pages)
    assert len(np.unique(made, axis=0)) == 20
    cosines = made[np.arange(20), np.arange(20) % 6]
    assert cosines.min() > 0.9
    assert cosines.max() < 0.99


@pytest.mark.anyio
async def test_the_kernel_is_measured_on_every_loop_that_is_here_and_beside_its_floor() -> None:
    size = kernel.Size(tell_count=100, ask_count=10, session_count=5, repeat_count=1)
    found = await kernel.measure(size)
    shown = {column.figure for column in kernel.COLUMNS}
    for loop in kernel.loops():
        assert set(found[loop]) == shown
        assert found[loop]["ask_times_queue"].median > 0
        assert found[loop]["ask_times_deadline"].median > 0
        apart = {"ask_p50_us", "ask_p99_us", "ask_p99_processor_us"}
        assert set(found[f"queue, deadline, on {loop}"]) == {"ask_us", "asks_per_s"} | apart
        assert set(found[f"queue on {loop}"]) == {"tell_us", "tells_per_s", "ask_us", "asks_per_s"}
    assert ("pykka" in found) == (not any("pykka" in line for line in kernel.missing()))
    assert [chart.name for chart in kernel.charted(found)] == ["tell", "ask"]


CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"flight": "HAT271"}'}}
LOG = {
    "id": "airline_0",
    "messages": [
        {"role": "system", "content": "policy"},
        {"role": "user", "content": "My flight is HAT271, and I am mia_li_3668."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ],
}


@pytest.mark.anyio
async def test_values_of_a_log_are_looked_for_before_the_call_they_were_given_to(data_folder: Path) -> None:
    (data_folder / survival.FOLDER).mkdir()
    probes = [
        {"conv": "airline_0", "at": 2, "key": "flight", "value": "HAT271", "age_last": 1},
        {"conv": "airline_0", "at": 2, "key": "seat", "value": "17F", "age_last": 9},
    ]
    for name, rows in (("transcripts", [{"id": "_system", "messages": []}, LOG]), ("probes", probes)):
        path = data_folder / survival.FOLDER / f"{name}.jsonl"
        path.write_bytes(msgspec.json.Encoder().encode_lines(rows))
    found = await survival.measure(survival.Size(budgets=(1_000,), turn_count=10, seeds=(3,)))
    assert list(found) == ["log, 1,000", "made up, 1,000"]
    log = {name: one.median for name, one in found["log, 1,000"].items()}
    assert log == {"probe_count": 2, "survived": 0.5, "old_survived": 0, "over": 0, "orphan_count": 0}
    made_up = found["made up, 1,000"]
    assert made_up["probe_count"].median == 2
    assert made_up["named_survived"].median == 1
    assert made_up["over"].median == 0
    assert survival.missing() == []


@pytest.mark.anyio
async def test_without_logs_the_rest_is_measured_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTORMEM_DATA", str(tmp_path))
    found = await survival.measure(survival.Size(budgets=(1_000,), turn_count=5, seeds=(3,)))
    assert list(found) == ["made up, 1,000"]
    assert "ACTORMEM_DATA" in survival.missing()[0]


def test_no_share_is_told_of_probes_that_nobody_asked() -> None:
    probe = survival.Probe("c", 2, "flight", "HAT271", age_last=1)
    assert survival.figures(survival.Seen([])) == {"probe_count": 0, "over": 0, "orphan_count": 0}
    recent = survival.figures(survival.Seen([survival.Asked(probe, stood=True)]))
    assert recent["survived"] == 1
    assert "old_survived" not in recent
    found = {
        "none": report.spreads([survival.figures(survival.Seen([]))]),
        "recent": report.spreads([recent]),
    }
    assert survival.charted(found)[0].labels == ("recent",)
    verdict = report.judged(survival.TARGETS, {"log, 1,000": found["none"]})
    assert [one.met for one in verdict][:4] == [None, None, True, True]


def test_calls_without_results_and_results_without_calls_are_orphans() -> None:
    system, said, calling, result = LOG["messages"]
    assert survival.orphans([system, said, calling, result]) == 0
    assert survival.orphans([said, calling]) == 0, "the newest call may still be open"
    assert survival.orphans([said, result]) == 1
    assert survival.orphans([calling, said, result]) == 2
