"""Results as one HTML page that needs nothing else: no network, no script; in the reader's dark or light."""

from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.charts import MISSING, drawable, drawing
from benchmarks.figures import Column, Found, Spread, tables_of
from benchmarks.report import SMALL, Result
from benchmarks.targets import Verdict

__all__ = ["page"]

STYLE = """
:root { color-scheme: light dark; --page: #fbfbf9; --words: #23262b; --soft: #666c75; --line: #d9dbdf;
  --card: #ffffff; --good: #1d7a46; --bad: #b3361f; }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --words: #e3e5e8; --soft: #9ba1ab; --line: #34383f;
  --card: #1d2025; --good: #58c48a; --bad: #f08a70; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--words);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 0; }
p { margin: .4rem 0; } .soft { color: var(--soft); } code { font-size: .9em; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1.1rem 1.25rem;
  margin-top: 1.25rem; }
.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; }
th, td { padding: .3rem .55rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); } th[scope=col] { white-space: normal; vertical-align: bottom; }
th[scope=row] { font-weight: 400; color: inherit; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
caption { text-align: left; font-size: .8rem; color: var(--soft); padding-bottom: .25rem; }
td small { display: block; color: var(--soft); }
.met { color: var(--good); } .missed { color: var(--bad); font-weight: 600; } .none { color: var(--soft); }
.words th, .words td { text-align: left; white-space: normal; }
.words .number { text-align: right; font-variant-numeric: tabular-nums; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
.charts svg { flex: 1 1 26rem; max-width: 44rem; min-width: 0; height: auto; color: var(--words); }
details { margin-top: .6rem; } summary { cursor: pointer; color: var(--soft); }
pre { white-space: pre-wrap; font-size: .8rem; } nav { margin: .75rem 0; } nav a { margin-right: .9rem; }
a { color: inherit; }
"""
WORDS = {True: ("met", "met"), False: ("missed", "missed"), None: ("none", "not measured")}


def page(results: Sequence[Result], not_run: Mapping[str, str]) -> str:
    """The page of a set of results.

    Args:
        not_run: Why a benchmark was not measured, by its name.
    """
    links = " ".join(f'<a href="#{escape(one.name)}">{escape(one.name)}</a>' for one in results)
    missing = drawable() if any(one.charts for one in results) else ""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>actormem: benchmarks</title><style>{STYLE}</style></head><body>",
            "<h1>actormem: benchmarks</h1>",
            *_where(results),
            f"<nav>{links}</nav>",
            f'<p class="soft">{escape(MISSING)}</p>' if missing else "",
            *_verdicts(
                [(one.name, verdict) for one in results for verdict in one.targets],
                title="Targets" + (SMALL if any(one.quick for one in results) else ""),
            ),
            *(_section(one, drawn=not missing) for one in results),
            *_not_run(not_run),
            "</body></html>",
            "",
        ]
    )


def _where(results: Sequence[Result]) -> list[str]:
    if not results:
        return ["<p>Nothing was measured.</p>"]
    first, last = results[0], results[-1]
    machine = ", ".join(f"{name} {value}" for name, value in first.machine.items() if name != "load")
    loads = [one for result in results for values in result.load.values() for one in values[:1]]
    versions = " · ".join(f"{name} {value}" for name, value in first.versions.items())
    return [
        f"<p>{escape(machine)}</p>",
        f'<p class="soft">{escape(first.measured_at)} to {escape(last.measured_at)}; '
        f"load average {min(loads):.1f} to {max(loads):.1f}</p>",
        f'<p class="soft">{escape(versions)}</p>',
    ]


def _section(result: Result, *, drawn: bool) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in result.settings.items())
    loads = " → ".join(f"{values[0]:.1f}" for values in result.load.values())
    return "\n".join(
        [
            f'<section id="{escape(result.name)}"><h2>{escape(result.name)}</h2>',
            f"<p>{escape(result.question)}</p>",
            *(
                _table(result.name, columns, found)
                for columns, found in tables_of(result.columns, result.figures)
            ),
            *(f'<p class="soft">{escape(note)}</p>' for note in result.notes),
            _charts(result) if drawn and result.charts else "",
            *_verdicts([(result.name, verdict) for verdict in result.targets]),
            f'<p class="soft">{escape(settings)}; load average {loads}; '
            f"<code>python -m benchmarks.{result.name}</code></p>",
            "<details><summary>what is measured, what is not, how to read it</summary>",
            f"<pre>{escape(result.about)}</pre></details></section>",
        ]
    )


def _charts(result: Result) -> str:
    drawings = "\n".join(drawing(chart, result.name) for chart in result.charts)
    return f'<div class="charts">{drawings}</div>'


def _table(name: str, columns: Sequence[Column], figures: Found) -> str:
    head = "".join(_heading(column.title_among(columns)) for column in columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(row)}</th>'
        f"{''.join(_cell(column, found.get(column.figure)) for column in columns)}</tr>"
        for row, found in figures.items()
    )
    caption = f"<caption>{escape(name)}: medians, below them the least and the greatest</caption>"
    return f'<div class="wide"><table>{caption}<tr><td></td>{head}</tr>{rows}</table></div>'


def _heading(title: str) -> str:
    return f'<th scope="col">{escape(title)}</th>'


def _cell(column: Column, one: Spread | None) -> str:
    if one is None:
        return '<td class="none">-</td>'
    least, greatest = column.cell(one.least), column.cell(one.greatest)
    spread = f"<small>{least}–{greatest}</small>" if least != greatest else ""
    return f"<td>{column.cell(one.median)}{spread}</td>"


def _verdicts(verdicts: Sequence[tuple[str, Verdict]], title: str = "") -> list[str]:
    """Their table; with a title each says whose it is."""
    if not verdicts:
        return []
    rows: list[str] = []
    for name, verdict in verdicts:
        kind, word = WORDS[verdict.met]
        link = f'<td><a href="#{escape(name)}">{escape(name)}</a></td>' if title else ""
        value = "-" if verdict.value is None else f"{verdict.value:,.4g}"
        rows.append(
            f'<tr>{link}<td class="{kind}">{word}</td><td class="number">{value}</td>'
            f"<td>{escape(verdict.bound)}</td><td>{escape(verdict.about)}</td></tr>"
        )
    head = f"<h2>{escape(title)}</h2>" if title else ""
    titles = ["benchmark"] if title else []
    return [
        head
        + _words_table(
            "of all benchmarks" if title else "targets", [*titles, "", "measured", "bound", "of what"], rows
        )
    ]


def _words_table(caption: str, titles: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(_heading(one) if one else "<td></td>" for one in titles)
    table = f"<caption>{escape(caption)}</caption><tr>{head}</tr>{''.join(rows)}"
    return f'<div class="wide"><table class="words">{table}</table></div>'


def _not_run(not_run: Mapping[str, str]) -> list[str]:
    if not not_run:
        return []
    rows = [
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(why)}</td></tr>' for name, why in not_run.items()
    ]
    table = _words_table("what was to be measured and was not", ["benchmark", "reason"], rows)
    return [f"<section><h2>Not measured</h2>{table}</section>"]
