"""Prometheus: a collector of one runtime's metrics, and their text for `/metrics`.

    import anyio, actormem
    from actormem.observe.metrics import RuntimeMetrics

    async def main() -> None:
        async with actormem.open(None) as runtime:
            metrics = RuntimeMetrics(runtime)
            with runtime.observe(metrics):
                session = await runtime.spawn("s-1", user="ada")
                async with session.turn("Hello.") as turn:
                    turn.reply("Hello, Ada.")
                for line in metrics.text().splitlines():
                    if line.startswith("actormem_turns_total"):
                        print(line)

    anyio.run(main)

With a registry of your own, or prometheus_client's: `REGISTRY.register(metrics)`. What is measured is listed in
`actormem.observe.table`, and in `docs/metrics.md`. No label is an id of anybody's.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from actormem.core.observed import ContextBuilt, MemoryUsed, ModelCalled, Observed, TurnEnded
from actormem.observe.table import ACTOR_KINDS, METRICS, Metric

try:
    from prometheus_client import CollectorRegistry, Counter, Histogram, exposition
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.registry import Collector
except ImportError as missing:
    raise ImportError(
        "actormem.observe.metrics needs prometheus-client: pip install 'actormem[prometheus]'"
    ) from missing

__all__ = ["CONTENT_TYPE", "Measured", "RuntimeMetrics"]

CONTENT_TYPE = exposition.CONTENT_TYPE_PLAIN_0_0_4
"""Of `RuntimeMetrics.text`, for an HTTP answer."""
FAMILIES: Mapping[str, Any] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}
LABELS_MAX = 32  # values of one label; names of ours are fewer, and what a program adds is `other`
READ_TRIES = 3  # another thread may ask while an actor is made


class Measured(Protocol):
    """A runtime, as far as it is measured."""

    def statistics(self) -> Any:
        """Counts since opening."""
        ...


class RuntimeMetrics(Collector):
    """The metrics of one runtime; also an observer: what is not among `statistics` is counted while it observes.

    Args:
        runtime: Stays yours to close. After that the last numbers stay.
    """

    def __init__(self, runtime: Measured) -> None:
        self._runtime = runtime
        self._own = CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        self._values: dict[tuple[str, str], set[str]] = {}
        for metric in METRICS:
            if metric.source:
                continue
            if metric.kind == "histogram":
                self._histograms[metric.name] = Histogram(
                    metric.name, metric.meaning, metric.labels, registry=self._own, buckets=metric.buckets
                )
            else:
                self._counters[metric.name] = Counter(
                    metric.name, metric.meaning, metric.labels, registry=self._own
                )

    def __call__(self, observed: Observed) -> None:
        """Count one step."""
        match observed:
            case ContextBuilt():
                self._context(observed)
            case TurnEnded():
                self._turn(observed)
            case MemoryUsed():
                result = "error" if observed.error else "ok"
                self._add("memory_operations", 1, observed.operation, result)
                self._time("memory_operation", observed.elapsed_ms, observed.operation)
                for step in observed.degraded:
                    self._add("degraded", 1, step)
            case ModelCalled():
                self._add("llm_calls", 1, "error" if observed.error else "ok")
                self._time("llm_call", observed.elapsed_ms)

    def collect(self) -> Iterable[Family]:
        """All metrics as they are now. Cost: O(actors in memory)."""
        statistics = self._statistics()
        for metric in METRICS:
            if metric.source:
                yield _family(metric, statistics)
        yield from self._own.collect()

    def describe(self) -> Iterable[Family]:
        """All metrics without a number: a registry refuses a second runtime's under the same names."""
        return [
            FAMILIES[metric.kind](metric.name, metric.meaning, labels=metric.labels) for metric in METRICS
        ]

    def text(self) -> str:
        """All metrics in Prometheus' text format; answer with `CONTENT_TYPE`."""
        return exposition.generate_latest(self).decode()  # pyright: ignore[reportArgumentType]

    def _statistics(self) -> Any:
        for _ in range(READ_TRIES - 1):
            try:
                return self._runtime.statistics()
            except RuntimeError:
                continue
        return self._runtime.statistics()

    def _context(self, built: ContextBuilt) -> None:
        trace = built.trace
        self._time("context", built.elapsed_ms)
        self._histograms["actormem_context_tokens"].observe(trace.tokens)
        self._add("stable_prefix_tokens", trace.stable_prefix_tokens)
        self._add("full_history_tokens", trace.full_tokens)
        for step in trace.steps:
            self._time("context_step", step.elapsed_ms, step.name)
        for name in trace.degraded:
            self._add("degraded", 1, name)
        if trace.epoch_end:
            self._add("epochs_ended", 1, trace.epoch_end)

    def _turn(self, ended: TurnEnded) -> None:
        self._add("turns", 1, ended.outcome)
        self._time("turn", ended.elapsed_ms)
        self._add("prompt_tokens", ended.prompt_tokens)
        if ended.first_token_ms is not None:
            self._time("first_token", ended.first_token_ms)

    def _add(self, name: str, count: int, *labels: str) -> None:
        counter = self._counters[f"actormem_{name}"]
        (counter.labels(*self._bounded(name, labels)) if labels else counter).inc(count)

    def _time(self, name: str, elapsed_ms: float, *labels: str) -> None:
        histogram = self._histograms[f"actormem_{name}_seconds"]
        (histogram.labels(*self._bounded(name, labels)) if labels else histogram).observe(elapsed_ms / 1000)

    def _bounded(self, name: str, labels: tuple[str, ...]) -> list[str]:
        """The labels, `other` for whatever would be one value too many."""
        found: list[str] = []
        for place, label in enumerate(labels):
            seen = self._values.setdefault((name, str(place)), set())
            if label not in seen and len(seen) < LABELS_MAX:
                seen.add(label)
            found.append(label if label in seen else "other")
        return found


def _family(metric: Metric, statistics: Any) -> Family:
    """One metric from the statistics."""
    made = FAMILIES["counter" if metric.kind == "counter" else "gauge"](
        metric.name, metric.meaning, labels=metric.labels
    )
    part, _, field = metric.source.rpartition(".")
    if part == "actors":
        for kind in ACTOR_KINDS:
            made.add_metric([kind], getattr(getattr(statistics, kind), field))
    else:
        made.add_metric([], getattr(statistics.record if part else statistics, field))
    return made
