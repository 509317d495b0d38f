"""The trace, as it is printed."""

from actormem.core.context.trace import Included, LeftOut, Section, Step, Trace

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
