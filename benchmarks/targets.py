"""What a figure ought to be, and whether it is: a target is met, missed, or not measured, never guessed."""

from collections.abc import Sequence

import msgspec

from benchmarks.figures import Found

__all__ = ["Target", "Verdict", "judged", "told"]


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A bound of one figure.

    Attributes:
        about: What is bound, for a reader who has not seen the table.
        row: The row of the figure.
        figure: Its name.
        at_most: Upper bound; None where there is a lower one.
        at_least: Lower bound; None where there is an upper one.
        worst: Every repeat is to keep it, and not the median alone.
    """

    about: str
    row: str
    figure: str
    at_most: float | None = None
    at_least: float | None = None
    worst: bool = False


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A target and what became of it; `value` and `met` are None where the figure was not measured.

    `value` is the median of the repeats, or the worst of them where each is to keep the bound.
    """

    about: str
    bound: str
    value: float | None
    met: bool | None


def judged(targets: Sequence[Target], found: Found) -> tuple[Verdict, ...]:
    """The verdict on each target, in their order."""
    return tuple(_judged(target, found) for target in targets)


def _judged(target: Target, found: Found) -> Verdict:
    assert (target.at_most is None) != (target.at_least is None), "a target has one bound"
    bound = f"≤ {target.at_most:,g}" if target.at_most is not None else f"≥ {target.at_least:,g}"
    bound += " in every repeat" if target.worst else ""
    measured = found.get(target.row, {}).get(target.figure)
    if measured is None:
        return Verdict(about=target.about, bound=bound, value=None, met=None)
    value = measured.median
    if target.worst:
        value = measured.greatest if target.at_most is not None else measured.least
    met = value <= target.at_most if target.at_most is not None else value >= (target.at_least or 0.0)
    return Verdict(about=target.about, bound=bound, value=value, met=met)


def told(verdict: Verdict) -> str:
    """It in a line."""
    word = {True: "met", False: "MISSED", None: "not measured"}[verdict.met]
    value = "" if verdict.value is None else f": {verdict.value:,.4g}"
    return f"{word:<12}  {verdict.about} {verdict.bound}{value}"
