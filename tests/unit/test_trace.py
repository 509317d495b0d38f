"""The trace: as it is printed, and as data."""

import unicodedata

import msgspec

from actormem.core.context.trace import (
    Included,
    LeftOut,
    Section,
    Step,
    Trace,
    pack_trace,
    packed_tokens,
    unpack_trace,
)

FULL = Trace(
    turn_id="#7",
    tokens=812,
    budget_tokens=1_000,
    full_tokens=3_904,
    exact=True,
    tokenizer="o200k_base",
    sections=(Section("format", 3), Section("system", 14), Section("summary", 240), Section("newest", 555)),
    included=(
        Included(id="m4", kind="fact", score=0.914, why="vector 0.61, lexical 0.30"),
        Included(id="m9", kind="episode", score=0.5, why="recent 0.50"),
    ),
    left_out=(LeftOut("m2", "no room in the note"), LeftOut("#1–#5", "summarised (extractive)")),
    gate="a question",
    degraded=("vector", "recall"),
    steps=(Step("recall", 12.3456), Step("fit", 0.004)),
    epoch=2,
    epoch_end="compaction",
    stable_prefix_tokens=14,
)

PRINTED = """\
context 812 of 1000 tokens (o200k_base), 12.3 ms, full history 3904
├─ epoch 2: 14 tokens as before, new because of compaction
├─ sections
│  ├─ format 3
│  ├─ system 14
│  ├─ summary 240
│  └─ newest 555
├─ recall: a question
│  ├─ m4 fact 0.91 (vector 0.61, lexical 0.30)
│  └─ m9 episode 0.50 (recent 0.50)
├─ left out
│  ├─ m2: no room in the note
│  └─ #1–#5: summarised (extractive)
├─ degraded: vector, recall
└─ steps
   ├─ recall 12.35 ms
   └─ fit 0.00 ms"""


def test_a_full_trace_is_a_tree_a_person_can_read() -> None:
    assert str(FULL) == PRINTED


def test_a_bare_trace_leaves_out_the_branches_that_have_nothing_to_say() -> None:
    bare = Trace(
        turn_id="",
        tokens=3,
        budget_tokens=64,
        full_tokens=3,
        exact=False,
        tokenizer="bytes",
        sections=(Section("format", 3),),
    )
    assert str(bare).split("\n") == [
        "context 3 of 64 tokens (bytes, a bound), 0.0 ms, full history 3",
        "├─ epoch 1: 0 tokens as before",
        "├─ sections",
        "│  └─ format 3",
        "└─ steps",
    ]


def test_the_steps_add_up() -> None:
    assert abs(FULL.elapsed_ms - 12.3496) < 1e-9


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in line)


def test_whatever_is_in_it_a_line_stays_within_100_columns() -> None:
    wide = msgspec.structs.replace(
        FULL,
        tokenizer="词表" * 40,
        gate="short message, asked with the one before, " * 4,
        degraded=("vector",) * 30,
        included=(Included(id="m1", kind="fact", score=1.0, why="vector 0.61, " * 20),),
        left_out=(LeftOut("编号" * 100, "shortened"),),
    )
    lines = str(wide).split("\n")
    assert max(map(columns, lines)) <= 100
    assert len([line for line in lines if line.endswith("…")]) == 5
    assert [line for line in str(FULL).split("\n") if line.endswith("…")] == []


def test_a_line_of_exactly_100_columns_is_whole() -> None:
    fits = msgspec.structs.replace(FULL, left_out=(LeftOut("m2", "x" * 90),))
    assert columns("│  └─ m2: " + "x" * 90) == 100
    assert "x" * 90 in str(fits)
    cut = msgspec.structs.replace(FULL, left_out=(LeftOut("m2", "x" * 91),))
    assert "x" * 89 + "…" in str(cut)


def test_a_long_list_shows_its_first_dozen_and_says_how_many_more() -> None:
    many = tuple(LeftOut(f"#{number}", "shortened") for number in range(1, 41))
    lines = str(msgspec.structs.replace(FULL, left_out=many)).split("\n")
    assert "│  ├─ #12: shortened" in lines
    assert "│  └─ … 28 more" in lines
    assert not any("#13:" in line for line in lines)
    one_more = str(msgspec.structs.replace(FULL, left_out=many[:13]))
    assert "└─ #13: shortened" in one_more, "a line that says `1 more` could as well be it"


def test_as_data_it_is_whole_and_plain() -> None:
    data = msgspec.to_builtins(FULL)
    assert data == {
        "turn_id": "#7",
        "tokens": 812,
        "budget_tokens": 1_000,
        "full_tokens": 3_904,
        "exact": True,
        "tokenizer": "o200k_base",
        "sections": (
            {"name": "format", "tokens": 3},
            {"name": "system", "tokens": 14},
            {"name": "summary", "tokens": 240},
            {"name": "newest", "tokens": 555},
        ),
        "included": (
            {"id": "m4", "kind": "fact", "score": 0.914, "why": "vector 0.61, lexical 0.30"},
            {"id": "m9", "kind": "episode", "score": 0.5, "why": "recent 0.50"},
        ),
        "left_out": (
            {"id": "m2", "reason": "no room in the note"},
            {"id": "#1–#5", "reason": "summarised (extractive)"},
        ),
        "gate": "a question",
        "degraded": ("vector", "recall"),
        "steps": ({"name": "recall", "elapsed_ms": 12.3456}, {"name": "fit", "elapsed_ms": 0.004}),
        "epoch": 2,
        "epoch_end": "compaction",
        "stable_prefix_tokens": 14,
    }
    assert msgspec.convert(data, Trace) == FULL


def test_it_comes_back_from_json_and_from_the_record_as_it_was() -> None:
    assert msgspec.json.decode(msgspec.json.encode(FULL), type=Trace) == FULL
    assert unpack_trace(pack_trace(FULL)) == FULL
    assert packed_tokens(pack_trace(FULL)) == 812


def test_what_is_no_packed_trace_gives_none() -> None:
    for body in (b"", b"\xc1", b"\x80", pack_trace(FULL)[:-9], msgspec.msgpack.encode({"tokens": "x"})):
        assert unpack_trace(body) is None
    assert packed_tokens(b"") == packed_tokens(b"\xc1") == 0
