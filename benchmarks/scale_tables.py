"""The tables, the targets and the chart of `benchmarks.scale`. No two columns have one title: some show all at once."""

from benchmarks import report

__all__ = ["COLUMNS", "OURS", "OURS_COLUMNS", "TARGETS", "charted", "tables"]

OURS = "actormem"
LEAST_MS = 1e-3  # on a logarithmic axis
SEARCHING = (
    report.Column("recall p50 ms", "warm_p50_ms", "{:,.2f}", better="less"),
    report.Column("recall p95 ms", "warm_p95_ms", "{:,.2f}", better="less"),
    report.Column("recall, processor p95 ms", "warm_processor_p95_ms", "{:,.2f}", better="less"),
    report.Column("recall, gap max ms", "searching_gap_max_ms", better="less"),
)
HOLDING = (
    report.Column("added /s", "add_per_s", "{:,.0f}", better="more"),
    report.Column("adding, processor ms", "add_processor_ms", "{:,.3f}", better="less"),
    report.Column("adding, gap max ms", "adding_gap_max_ms", better="less"),
    report.Column("bytes an item", "resident_bytes_per_item", "{:,.0f}", better="less"),
    report.Column("× vectors", "resident_times_vectors", "{:.2f}", better="less"),
)
OPENING = (
    report.Column("open ms", "open_ms", better="less"),
    report.Column("first ms", "first_ms", better="less"),
    report.Column("first, processor ms", "first_processor_ms", better="less"),
    report.Column("first whole", "first_whole", "{:.2g}", better="more"),
    report.Column("until whole ms", "until_whole_ms", better="less"),
    report.Column("same hits", "loading_same_share", "{:.2f}", better="more"),
    report.Column("loading p95 ms", "loading_p95_ms", better="less"),
    report.Column("loading s", "loading_s", better="less"),
    report.Column("loading, gap p99 ms", "loading_gap_p99_ms", better="less"),
    report.Column("loading, gap max", "loading_gap_max_ms", better="less"),
    report.Column("loading, held", "loading_held_max_ms", better="less"),
)
BUILDING = (
    report.Column("indexing s", "indexing_s", better="less"),
    report.Column("indexing, gap p99 ms", "indexing_gap_p99_ms", better="less"),
    report.Column("indexing, gap max", "indexing_gap_max_ms", better="less"),
    report.Column("indexing, held", "indexing_held_max_ms", better="less"),
    report.Column("graph", "graph_recall", "{:.3f}", better="more"),
    report.Column("graph, of ten", "graph_recall_of_ten", "{:.3f}", better="more"),
)
COLUMNS = (*SEARCHING, *HOLDING)
OURS_COLUMNS = (*OPENING, *BUILDING)
LARGEST = f"{OURS}, 100,000 items"
TARGETS = (
    report.Target(
        about="recall p95 at 100,000 items of one owner, ms",
        row=LARGEST,
        figure="warm_p95_ms",
        at_most=20,
    ),
    report.Target(
        about="first recall after a cold start, 100,000 items of one owner, ms",
        row=LARGEST,
        figure="first_ms",
        at_most=300,
    ),
    report.Target(
        about="resident at 100,000 items of one owner, × vectors",
        row=LARGEST,
        figure="resident_times_vectors",
        at_most=1.3,
    ),
)


def charted(found: report.Found) -> list[report.Chart]:
    """A recall's p95 over the number of items of one owner, for each store."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row, figures in found.items():
        store, _, size = row.partition(", ")
        if "owners" not in size:
            count = float(size.partition(" ")[0].replace(",", ""))
            points.setdefault(store, []).append((count, max(figures["warm_p95_ms"].median, LEAST_MS)))
    series = tuple(
        report.Series(store, tuple(x for x, _ in each), tuple(y for _, y in each))
        for store, each in points.items()
    )
    return [
        report.Chart(
            name="latency",
            title="a recall of ten, one owner, p95",
            x_title="items",
            y_title="ms",
            series=series,
            logarithmic="xy",
        )
    ]


def tables(found: report.Found) -> str:
    """What is searched, added and held by all, and how ours opens and builds, each under its title."""
    own = {row: figures for row, figures in found.items() if row.startswith(f"{OURS},")}
    shown = (
        ("search", SEARCHING, found),
        ("adding, memory", HOLDING, found),
        ("opening", OPENING, own),
        ("building", BUILDING, own),
    )
    return "\n\n".join(report.spread_table(title, columns, rows) for title, columns, rows in shown if rows)
