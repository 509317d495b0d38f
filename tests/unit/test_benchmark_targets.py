"""Every target is of a figure that its benchmark yields, and says the same of what is better as the figure's column."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import anyio
import msgspec
import pytest

from benchmarks import failover, flat_cost, kernel, report, survival, tokens
from benchmarks.suite import benchmark_names

TINY_TOKENS = tokens.Size(turn_count=16, seeds=(5,), work_s=0.0)


def targets_of(module: Any) -> Sequence[report.Target]:
    made = getattr(module, "TARGETS", None) or getattr(module, "targets", tuple)
    return made() if callable(made) else made


@pytest.mark.parametrize("name", benchmark_names())
def test_every_figure_of_a_target_has_a_column_that_says_the_same_way(name: str) -> None:
    module = import_module(f"benchmarks.{name}")
    columns = (*getattr(module, "COLUMNS", ()), *getattr(module, "OURS_COLUMNS", ()))
    ways = {column.figure: column.better for column in columns}
    for target in targets_of(module):
        assert ways[target.figure] == ("less" if target.at_most is not None else "more"), target


@pytest.mark.parametrize(
    ("module", "size"),
    [
        (failover, failover.QUICK),
        (flat_cost, flat_cost.Size(old_messages=40, young_messages=10, young_sessions=1, turn_count=2)),
        (kernel, kernel.Size(tell_count=100, ask_count=10, session_count=5, repeat_count=1)),
        (survival, survival.Size(log_count=1, turn_count=10, seeds=(3,))),
        (tokens, TINY_TOKENS),
    ],
)
def test_every_target_is_of_a_row_and_a_figure_that_are_measured(
    module: Any, size: msgspec.Struct, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("ACTORMEM_DATA", str(tmp_path))  # none: rows of logs are not measured
    given = (size, "hashing") if module is tokens else (size,)
    found = anyio.run(module.measure, *given)
    wanted = {
        (target.row, target.figure)
        for target in targets_of(module)
        if not target.row.startswith("log,") and (target.row != "uvloop" or report.version("uvloop"))
    }
    assert wanted
    assert {(row, figure) for row, figure in wanted if figure not in found.get(row, {})} == set()
