"""A chart as data, and its drawing as SVG by matplotlib, which is asked for only then.

A drawing has no colour of its own for axes and words: it takes those of the page it stands in.
"""

import io
import re
from collections.abc import Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec

__all__ = ["Chart", "Series", "drawable", "drawing", "style_of", "write_charts"]

MISSING = "plots need matplotlib, which is not installed: pip install '.[bench]'"
WORDS = "#010203"  # stands for the page's own colour until the drawing is done
# Okabe and Ito's, told apart by colour-blind people too; grey and violet for their black and yellow, of which each is
# lost on a light or a dark page. Series differ in their markers as well.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a8f98", "#8f6fd8")
MARKERS = "osD^vPX*"
# A file that stands in a page as a picture does not see the page's colours, but whether its reader likes it dark.
ALONE = "<style>svg{color:#24292f}@media(prefers-color-scheme:dark){svg{color:#d0d7de}}</style>"
SIZE_INCHES = (7.2, 3.4)
LABEL_CHARS = 80  # of all labels beside each other; more are turned
PLAIN = "{x:,g}"  # a thousand is 1,000, on a logarithmic axis too


class Series(msgspec.Struct, frozen=True):
    """Points of one name, in order; of bars `x` is left empty and `y` has a value for each label."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """What is drawn.

    Attributes:
        kind: `lines` joins the points, `points` does not, `bars` stand in groups, one for each label.
        labels: Names of the groups of bars.
        logarithmic: Axes with a logarithmic scale: any of `x` and `y`.
        limit: A dashed line across at this height, such as a target; None for none.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    kind: Literal["lines", "points", "bars"] = "lines"
    labels: tuple[str, ...] = ()
    logarithmic: str = ""
    limit: float | None = None


def drawable() -> str:
    """Empty where charts can be drawn, else one line that says why not."""
    return "" if find_spec("matplotlib") is not None else MISSING


def write_charts(folder: Path, benchmark: str, charts: Sequence[Chart]) -> list[Path]:
    """Draw each into `folder`, as BENCHMARK-CHART.svg; gives the files."""
    written: list[Path] = []
    for chart in charts:
        path = folder / f"{benchmark}-{chart.name}.svg"
        opening, rest = drawing(chart).split(">", 1)
        path.write_text(f"{opening}>{ALONE}{rest}\n", encoding="utf-8")
        written.append(path)
    return written


def style_of(place: int) -> tuple[str, str]:
    """Colour and marker of a series by its place: each pair comes once among the first 64."""
    rounds, at = divmod(place, len(COLOURS))
    return COLOURS[at], MARKERS[(at + rounds) % len(MARKERS)]


def drawing(chart: Chart, benchmark: str = "") -> str:
    """The chart as an `<svg>` element with its title; the same chart gives the same text.

    Args:
        benchmark: Whose it is: ids of several drawings in one page begin with it and are apart.
    """
    matplotlib: Any = import_module("matplotlib")
    figures: Any = import_module("matplotlib.figure")
    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": chart.name + chart.title,
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": WORDS,
        "axes.edgecolor": WORDS,
        "axes.labelcolor": WORDS,
        "xtick.color": WORDS,
        "ytick.color": WORDS,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "grid.color": WORDS,
    }
    text = io.StringIO()
    with matplotlib.rc_context(style):
        figure = figures.Figure(figsize=SIZE_INCHES, layout="constrained")
        _plot(figure.add_subplot(), chart)
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    drawn = re.sub(r"<metadata>.*?</metadata>", "", text.getvalue(), flags=re.DOTALL)
    drawn = re.sub(r'(\bid="|="#|url\(#)', rf"\1{benchmark}-{chart.name}-", drawn)
    opening, rest = drawn[drawn.index("<svg") :].replace(WORDS, "currentColor").split(">", 1)
    return f'{opening} role="img"><title>{escape(chart.title)}</title>{rest}'


def _plot(axes: Any, chart: Chart) -> None:
    axes.set(title=chart.title, xlabel=chart.x_title, ylabel=chart.y_title)
    if chart.kind == "bars":
        _bars(axes, chart)
    else:
        joined = "-" if chart.kind == "lines" else "none"
        for place, series in enumerate(chart.series):
            colour, marker = style_of(place)
            axes.plot(
                series.x,
                series.y,
                color=colour,
                marker=marker,
                markersize=4,
                linestyle=joined,
                label=series.name,
            )
    if "x" in chart.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(PLAIN)
    if "y" in chart.logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(PLAIN)
    if chart.limit is not None:
        axes.axhline(chart.limit, color=WORDS, linestyle="--", linewidth=1, label="target")
    if len(chart.series) > 1 or chart.limit is not None:
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside what is drawn


def _bars(axes: Any, chart: Chart) -> None:
    width = 0.8 / len(chart.series)
    for place, series in enumerate(chart.series):
        lefts = [group + (place - (len(chart.series) - 1) / 2) * width for group in range(len(chart.labels))]
        axes.bar(lefts, series.y, width * 0.92, color=style_of(place)[0], label=series.name)
    crowded = sum(map(len, chart.labels)) > LABEL_CHARS
    turned = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(range(len(chart.labels)), chart.labels, **turned)
    axes.grid(visible=False, axis="x")
    axes.set_axisbelow(True)
