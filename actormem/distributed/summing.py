"""What several shards say, as one answer. Pure."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeVar

import msgspec

from actormem.errors import UsageError
from actormem.knowledge import Imported
from actormem.ports import BaseRow, OwnerRow
from actormem.remote import wire
from actormem.statistics import Receipt, RuntimeStatistics

__all__ = ["JOINED", "metrics_sum", "struct_sum"]

T = TypeVar("T", bound=msgspec.Struct)
GAUGE_PARTS = {"counter", "gauge", "histogram"}


def struct_sum(structs: Sequence[T]) -> T:
    """The sum of every number, in structs within it too; of words the first that are not empty."""
    first = structs[0]
    fields: dict[str, Any] = {}
    for name in first.__struct_fields__:
        values = [getattr(one, name) for one in structs]
        if isinstance(values[0], msgspec.Struct):
            fields[name] = struct_sum(values)
        elif isinstance(values[0], (int, float)):
            fields[name] = sum(values)
        else:
            fields[name] = next((one for one in values if one), values[0])
    return type(first)(**fields)


def metrics_sum(texts: Sequence[str]) -> str:
    """Prometheus texts as one: samples of the same name and labels are added, gauges too: they are sizes.

    Raises:
        UsageError: prometheus-client is not installed.
    """
    try:
        from prometheus_client.core import Metric
        from prometheus_client.exposition import generate_latest
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        raise UsageError(
            "metrics need prometheus-client, which is not installed",
            hint="pip install 'actormem[prometheus]'",
        ) from None
    families: dict[str, Any] = {}
    sums: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
    for family in chain.from_iterable(map(text_string_to_metric_families, texts)):
        families.setdefault(family.name, family)
        found = sums.setdefault(family.name, {})
        for sample in family.samples:
            if sample.name.endswith("_created"):
                continue  # when a counter was made: no count
            place = (sample.name, tuple(sample.labels.items()))
            found[place] = found.get(place, 0.0) + sample.value
    made: list[Any] = []
    for name, family in families.items():
        summed = Metric(name, family.documentation, family.type)
        for (sample, labels), value in sums[name].items():
            summed.add_sample(sample, dict(labels), value)
        made.append(summed)
    return generate_latest(_Fixed(made)).decode()  # pyright: ignore[reportArgumentType]


class _Fixed:
    """A registry of what was found."""

    def __init__(self, families: Sequence[Any]) -> None:
        self._families = families

    def collect(self) -> Sequence[Any]:
        """All of it."""
        return self._families


def _health(answers: Sequence[wire.Health], _: Mapping[str, object]) -> wire.Health:
    return wire.Health(version=answers[0].version, open_turns=sum(one.open_turns for one in answers))


def _statistics(answers: Sequence[RuntimeStatistics], _: Mapping[str, object]) -> RuntimeStatistics:
    return struct_sum(answers)


def _owners(answers: Sequence[Sequence[OwnerRow]], query: Mapping[str, object]) -> tuple[OwnerRow, ...]:
    """The newest of each shard in turn: no row says when."""
    mixed = [row for rows in zip_longest(*answers) for row in rows if row is not None]
    limit = query.get("limit", 100)
    return tuple(mixed[:limit] if isinstance(limit, int) else mixed)


def _knowledge(answers: Sequence[Sequence[BaseRow]], _: Mapping[str, object]) -> tuple[BaseRow, ...]:
    """Every shard has every base; where an import did not reach all, the one that has most."""
    counts: dict[str, int] = {}
    for row in chain.from_iterable(answers):
        counts[row.name] = max(row.passage_count, counts.get(row.name, 0))
    return tuple(BaseRow(name, counts[name]) for name in sorted(counts))


def _imported(answers: Sequence[Imported], _: Mapping[str, object]) -> Imported:
    """Of one copy: the one in which most was new."""
    return max(answers, key=lambda one: (one.added_count, one.removed_count))


def _receipt(answers: Sequence[Receipt], _: Mapping[str, object]) -> Receipt:
    return struct_sum(answers)


def _nothing(_: Sequence[object], __: Mapping[str, object]) -> wire.Nothing:
    return wire.Nothing()


JOINED: Mapping[str, Callable[[Any, Mapping[str, object]], Any]] = {
    "health": _health,
    "statistics": _statistics,
    "owners": _owners,
    "knowledge": _knowledge,
    "import_knowledge": _imported,
    "remove_knowledge": _receipt,
    "settle": _nothing,
}
"""How the answers of all shards become one, for operations that are on no user's memory."""
