"""Results as one HTML page that needs nothing else: no network, no script; in the reader's dark or light."""

from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.charts import MISSING, drawable, drawing
from benchmarks.figures import Column, Spread
from benchmarks.report import Result
from benchmarks.targets import Verdict

__all__ = ["page"]

STYLE = """
:root { color-scheme: light dark; --page: #fbfbf9; --words: #23262b; --soft: #666c75; --line: #d9dbdf;
  --card: #ffffff; --good: #1d7a46; --bad: #b3361f; }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --words: #e3e5e8; --soft: #9ba1ab; --line: #34383f;
  --card: #1d2025; --good: #58c48a; --bad: #f08a70; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--words);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 0; }
p { margin: .4rem 0; } .soft { color: var(--soft); } code { font-size: .9em; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1.1rem 1.25rem;
  margin-top: 1.25rem; }
.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); } th:first-child, td:first-child { text-align: left; padding-left: 0; }
td small { display: block; color: var(--soft); }
.met { color: var(--good); } .missed { color: var(--bad); font-weight: 600; } .none { color: var(--soft); }
.verdicts td { text-align: left; white-space: normal; }
svg { max-width: 100%; height: auto; color: var(--words); }
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
            *_verdicts([(one.name, verdict) for one in results for verdict in one.targets], named=True),
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
            _table(result.columns, result.figures),
            *(f'<p class="soft">{escape(note)}</p>' for note in result.notes),
            *(drawing(chart) for chart in result.charts if drawn),
            *_verdicts([(result.name, verdict) for verdict in result.targets], named=False),
            f'<p class="soft">{escape(settings)}; load average {loads}; '
            f"<code>python -m benchmarks.{result.name}</code></p>",
            "<details><summary>what is measured, what is not, how to read it</summary>",
            f"<pre>{escape(result.about)}</pre></details></section>",
        ]
    )


def _table(columns: Sequence[Column], figures: Mapping[str, Mapping[str, Spread]]) -> str:
    head = "".join(f"<th>{escape(column.title)}</th>" for column in columns)
    rows = "".join(
        f"<tr><td>{escape(row)}</td>{''.join(_cell(column, found.get(column.figure)) for column in columns)}</tr>"
        for row, found in figures.items()
    )
    return f'<div class="wide"><table><tr><th></th>{head}</tr>{rows}</table></div>'


def _cell(column: Column, one: Spread | None) -> str:
    if one is None:
        return '<td class="none">-</td>'
    least, greatest = column.cell(one.least), column.cell(one.greatest)
    spread = f"<small>{least}–{greatest}</small>" if least != greatest else ""
    return f"<td>{column.cell(one.median)}{spread}</td>"


def _verdicts(verdicts: Sequence[tuple[str, Verdict]], *, named: bool) -> list[str]:
    if not verdicts:
        return []
    rows: list[str] = []
    for name, verdict in verdicts:
        kind, word = WORDS[verdict.met]
        link = f'<td><a href="#{escape(name)}">{escape(name)}</a></td>' if named else ""
        value = "-" if verdict.value is None else f"{verdict.value:,.4g}"
        about = f"{escape(verdict.about)} {escape(verdict.bound)}"
        rows.append(f'<tr>{link}<td class="{kind}">{word}</td><td>{value}</td><td>{about}</td></tr>')
    title = "<h2>Targets</h2>" if named else ""
    return [f'{title}<div class="wide"><table class="verdicts">{"".join(rows)}</table></div>']


def _not_run(not_run: Mapping[str, str]) -> list[str]:
    if not not_run:
        return []
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(why)}</td></tr>" for name, why in not_run.items())
    table = f'<div class="wide"><table class="verdicts">{rows}</table></div>'
    return [f"<section><h2>Not measured</h2>{table}</section>"]
