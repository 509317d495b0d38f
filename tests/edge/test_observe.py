"""Metrics, spans and logs of a runtime, by the real libraries: what is told, in which unit, and no word of it."""

import json
import logging
import threading
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

import actormem
from actormem.core.context.trace import Trace
from actormem.core.observed import ContextBuilt, MemoryUsed, ModelCalled, TurnEnded
from actormem.core.values import Owner
from actormem.kernel import KindStatistics
from actormem.observe.logs import StepLog
from actormem.observe.metrics import CONTENT_TYPE, LABELS_MAX, RuntimeMetrics
from actormem.observe.table import ACTOR_KINDS, METRICS, UNMEASURED, markdown
from actormem.observe.tracing import StepSpans
from actormem.ports import RecordStatistics
from actormem.statistics import RuntimeStatistics
from tests.edge.examples import printed_by
from tests.runtimes import FakeClock, answered, chunk, opened

ROOT = Path(__file__).parents[2]
WORD, USER, SESSION = "zanzibar", "user-quokka", "session-wombat"
ADA = Owner("", USER)


async def lived(runtime: actormem.Runtime, clock: FakeClock) -> None:
    """A conversation with some of everything."""
    session = await runtime.spawn(SESSION, user=USER, tenant="tenant-numbat", model="gpt-4o")
    async with session.turn(f"My word is {WORD}.", id="turn-dingo") as turn:
        clock.hold(0.5)
        turn.feed(chunk(f"{WORD}, then."))
        turn.feed({"choices": [], "usage": {"prompt_tokens": 21, "completion_tokens": 3}})
        turn.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    await answered(session, "Thanks.")
    item = await runtime.remember(f"The word is {WORD}.", user=USER)
    await runtime.recall(WORD, user=USER)
    await runtime.forget(item.id, user=USER)
    with pytest.raises(actormem.UsageError):
        await runtime.recall("x", user="")
    await runtime.settle()


def samples(text: str) -> dict[str, float]:
    """Each sample by its name and labels."""
    return {
        sample.name + json.dumps(sample.labels, sort_keys=True): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.anyio
async def test_metrics_are_those_of_the_table_and_hold_no_word_and_no_id() -> None:
    clock = FakeClock()
    async with opened(clock=clock) as runtime:
        metrics = RuntimeMetrics(runtime)
        with runtime.observe(metrics):
            await lived(runtime, clock)
        text = metrics.text()
    for secret in (WORD, USER, SESSION, "numbat", "dingo"):
        assert secret not in text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert {name for name in families if not name.endswith("_created")} == {metric.name for metric in METRICS}
    for metric in METRICS:
        family = families[metric.name]
        assert (family.type, family.documentation) == (metric.kind, metric.meaning)
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == set(metric.labels), sample
    found = samples(text)
    assert found['actormem_turns_total{"outcome": "complete"}'] == 2
    assert found["actormem_first_token_seconds_sum{}"] == 0.5
    assert found["actormem_prompt_tokens_total{}"] == 21
    assert found["actormem_context_seconds_count{}"] == 2
    assert found['actormem_memory_operations_total{"operation": "recall", "result": "error"}'] == 1
    assert found['actormem_memory_operations_total{"operation": "recall", "result": "ok"}'] == 1
    assert found['actormem_actor_residents{"kind": "sessions"}'] == 1
    assert found["actormem_record_commits_total{}"] > 0
    assert CONTENT_TYPE.startswith("text/plain; version=0.0.4")


def test_every_statistic_is_a_metric_and_each_metric_has_its_unit() -> None:
    sources = {metric.source for metric in METRICS if metric.source}
    kinds = {field.name for field in _fields(RuntimeStatistics) if field.type is KindStatistics}
    assert kinds == set(ACTOR_KINDS)
    expected = {field.name for field in _fields(RuntimeStatistics)} - kinds - {"record"}
    expected |= {f"actors.{field.name}" for field in _fields(KindStatistics)}
    expected |= {f"record.{field.name}" for field in _fields(RecordStatistics)}
    assert sources == expected - {f"actors.{name}" for name in UNMEASURED}
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.unit in ("1", "seconds", "tokens", "bytes")
        assert (metric.unit == "seconds") == metric.name.endswith("_seconds")
        assert bool(metric.buckets) == (metric.kind == "histogram")
        assert not {"user", "tenant", "session", "owner", "id", "model"} & set(metric.labels)


def _fields(struct: Any) -> Any:
    import msgspec

    return msgspec.structs.fields(struct)


def test_the_page_of_metrics_is_the_table() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert page.endswith("\n\n" + markdown())
    assert page.count("| `actormem_") == len(METRICS)


@pytest.mark.anyio
async def test_a_label_has_so_many_values_and_then_other() -> None:
    async with opened() as runtime:
        metrics = RuntimeMetrics(runtime)
        for number in range(LABELS_MAX + 9):
            step = (f"step-{number}",)
            metrics(MemoryUsed(owner=ADA, operation="recall", item_count=0, elapsed_ms=1, degraded=step))
        found = {name: value for name, value in samples(metrics.text()).items() if "degraded_total" in name}
        assert len(found) == LABELS_MAX + 1
        assert found['actormem_degraded_total{"step": "other"}'] == 9


@pytest.mark.anyio
async def test_a_registry_and_a_server_of_prometheus_take_it() -> None:
    from prometheus_client import start_http_server

    async with opened() as runtime:
        registry = CollectorRegistry()
        first, second = RuntimeMetrics(runtime), RuntimeMetrics(runtime)
        registry.register(first)
        with pytest.raises(ValueError, match="Duplicated"):
            registry.register(second)
        server, thread = start_http_server(0, "127.0.0.1", registry)
        answers: list[str] = []

        def ask() -> None:
            with urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as answer:
                answers.append(answer.read().decode())

        asking = threading.Thread(target=ask)
        asking.start()
        await runtime.remember("Ada likes tea.", user="ada")
        asking.join(20)
        server.shutdown()
        server.server_close()
        thread.join(20)
    assert "actormem_record_size_bytes" in answers[0]
    assert samples(first.text())['actormem_actor_residents{"kind": "longterm"}'] == 0


# --- spans ------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_spans_follow_the_conventions_and_hold_no_word_and_no_user() -> None:
    clock, exporter, provider = FakeClock(), InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    async with opened(clock=clock) as runtime:
        with runtime.observe(StepSpans(tracer)), tracer.start_as_current_span("request") as request:
            await lived(runtime, clock)
    spans = {span.name: span for span in exporter.get_finished_spans()[::-1]}
    told = "".join(span.to_json() for span in spans.values())
    for secret in (WORD, USER, "numbat"):
        assert secret not in told
    turn = spans["actormem.turn"]
    attributes = turn.attributes or {}
    assert attributes["gen_ai.conversation.id"] == SESSION
    assert attributes["gen_ai.request.model"] == "gpt-4o"
    assert attributes["gen_ai.usage.input_tokens"] == 21
    assert attributes["gen_ai.response.time_to_first_chunk"] == 0.5
    assert attributes["actormem.turn.id"] == "turn-dingo"
    assert turn.start_time is not None
    assert turn.end_time is not None
    assert turn.end_time - turn.start_time == 500_000_000
    assert turn.parent is not None
    assert turn.parent.span_id == request.get_span_context().span_id
    assert (spans["actormem.context"].attributes or {})["actormem.context.budget_tokens"] == 4_096
    found = (spans["create_memory"].attributes or {})["gen_ai.memory.record.count"]
    assert (found, spans["create_memory"].kind) == (1, SpanKind.INTERNAL)
    assert set(spans) == {
        "actormem.turn",
        "actormem.context",
        "create_memory",
        "search_memory",
        "delete_memory",
        "request",
    }
    failed = [span for span in exporter.get_finished_spans() if span.status.status_code is StatusCode.ERROR]
    assert [(span.name, (span.attributes or {})["error.type"]) for span in failed] == [
        ("search_memory", "UsageError")
    ]


def test_spans_of_background_calls_name_the_model_and_ids_can_be_left_out() -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    make = StepSpans(provider.get_tracer("test"), ids=False)
    make(
        ModelCalled(
            owner=ADA, model="openai:gpt-4o-mini", prompt_tokens=7, elapsed_ms=3, error="ProviderError"
        )
    )
    make(ContextBuilt(owner=ADA, session_id=SESSION, trace=trace(degraded=("vector",)), elapsed_ms=3))
    call, context = exporter.get_finished_spans()
    assert call.name == "chat gpt-4o-mini"
    assert call.kind is SpanKind.CLIENT
    assert (call.attributes or {})["gen_ai.provider.name"] == "openai"
    assert call.status.status_code is StatusCode.ERROR
    assert (context.attributes or {})["actormem.degraded"] == ("vector",)
    assert SESSION not in context.to_json()


def trace(**given: Any) -> Trace:
    return Trace(
        turn_id="turn-dingo",
        tokens=7,
        budget_tokens=64,
        full_tokens=9,
        exact=True,
        tokenizer="t",
        sections=(),
        **given,
    )


# --- logs -------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_lines_hold_numbers_and_names_of_ours_alone(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    caplog.set_level(logging.INFO, "actormem.steps")
    async with opened(clock=clock) as runtime:
        with runtime.observe(StepLog()):
            await lived(runtime, clock)
    records = [one for one in caplog.records if one.name == "actormem.steps"]
    for secret in (WORD, USER, SESSION, "numbat", "dingo"):
        assert secret not in caplog.text
        assert secret not in json.dumps([vars(one)["actormem"] for one in records])
    lines = [one.getMessage() for one in records]
    assert any(line.startswith("actormem turn outcome=complete contexts=1 tokens=") for line in lines)
    assert "prompt_tokens=21 first_token_ms=500.0 elapsed_ms=500.0" in " ".join(lines)
    assert [one.levelname for one in records if "UsageError" in one.getMessage()] == ["WARNING"]
    assert all("\n" not in line for line in lines)


def test_ids_are_there_when_they_are_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mine")
    log = StepLog(logging.getLogger("mine"), ids=True)
    end = TurnEnded(
        owner=ADA,
        session_id=SESSION,
        turn_id="turn-dingo",
        model="",
        outcome="failed",
        context_count=1,
        tokens=7,
        prompt_tokens=0,
        first_token_ms=None,
        elapsed_ms=3,
        error="KeyError",
    )
    log(end)
    log(ModelCalled(owner=ADA, model="m", prompt_tokens=7, elapsed_ms=3))
    log(MemoryUsed(owner=None, operation="recall", item_count=0, elapsed_ms=3, error="UsageError"))
    log(ContextBuilt(owner=ADA, session_id=SESSION, trace=trace(epoch_end="a changed prompt"), elapsed_ms=3))
    first, second, third, fourth = caplog.records
    assert vars(first)["actormem"]["turn"] == "turn-dingo"
    assert (first.levelname, second.levelname, third.levelname) == ("WARNING", "INFO", "WARNING")
    assert f"user={USER}" in second.getMessage()
    assert "user" not in third.getMessage()
    assert "epoch_end=a_changed_prompt" in fourth.getMessage()
    logging.getLogger("mine").setLevel(logging.CRITICAL)
    log(end)
    assert len(caplog.records) == 4


@pytest.mark.parametrize(
    ("module", "printed"),
    [
        ("observe.metrics", 'actormem_turns_total{outcome="complete"} 1.0\n'),
        ("observe.tracing", "create_memory\nsearch_memory\n"),
        ("observe", ""),
    ],
)
def test_the_examples_run(module: str, printed: str) -> None:
    assert printed_by(f"actormem.{module}") == printed
