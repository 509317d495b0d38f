"""OpenTelemetry: a span for each step, named as the GenAI semantic conventions name such steps where they do.

    import anyio, actormem, sys
    from actormem.observe.tracing import StepSpans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

    async def main() -> None:
        provider = TracerProvider()
        exporter = ConsoleSpanExporter(out=sys.stdout, formatter=lambda span: span.name + "\\n")
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        async with actormem.open(None) as runtime:
            with runtime.observe(StepSpans(provider.get_tracer("my agent"))):
                await runtime.remember("Ada likes tea.", user="ada")
                await runtime.recall("tea", user="ada")

    anyio.run(main)

Of the conventions (GenAI, 0.1, in development) these are kept: memory operations are `create_memory`,
`update_memory`, `search_memory` and `delete_memory` with `gen_ai.memory.record.count`; a background call is `chat`
with `gen_ai.request.model` and `gen_ai.usage.input_tokens`; a turn, for which they have no name, is `actormem.turn`
with `gen_ai.conversation.id`, `gen_ai.request.model`, `gen_ai.usage.input_tokens` and
`gen_ai.response.time_to_first_chunk` (to the first word, in seconds). What is ours alone is named `actormem.*`.
Content is never among it: neither queries nor memories.

A span is made when its step has ended, with the time it began; its parent is the span that is current there.
"""

import time
from collections.abc import Mapping
from typing import Final, TypeAlias

from actormem.core.observed import ContextBuilt, MemoryUsed, ModelCalled, Observed, Operation, TurnEnded

try:
    from opentelemetry import trace
    from opentelemetry.trace import SpanKind, StatusCode, Tracer
except ImportError as missing:
    raise ImportError(
        "actormem.observe.tracing needs opentelemetry-api: pip install 'actormem[otel]'"
    ) from missing

__all__ = ["StepSpans"]

Attributes: TypeAlias = dict[str, str | int | float | bool | tuple[str, ...]]
OPERATIONS: Final[Mapping[Operation, str]] = {
    "recall": "search_memory",
    "remember": "create_memory",
    "import": "create_memory",
    "edit": "update_memory",
    "archive": "update_memory",
    "forget": "delete_memory",
    "forget_session": "delete_memory",
    "forget_user": "delete_memory",
}


class StepSpans:
    """An observer that makes spans.

    Args:
        tracer: Yours; None: the one of the global provider, named `actormem`.
        ids: Whether spans name the session (`gen_ai.conversation.id`) and turn. Users are never named.
    """

    def __init__(self, tracer: Tracer | None = None, *, ids: bool = True) -> None:
        self._tracer = tracer or trace.get_tracer("actormem")
        self._ids = ids

    def __call__(self, observed: Observed) -> None:
        """Make the span of one step."""
        name, kind, attributes = _span(observed)
        if self._ids:
            attributes |= _ids(observed)
        error = "" if isinstance(observed, ContextBuilt) else observed.error
        if error:
            attributes["error.type"] = error
        end_ns = time.time_ns()
        span = self._tracer.start_span(
            name,
            kind=kind,
            attributes=attributes,
            start_time=end_ns - int(observed.elapsed_ms * 1_000_000),
        )
        if error:
            span.set_status(StatusCode.ERROR)
        span.end(end_ns)


def _span(observed: Observed) -> tuple[str, SpanKind, Attributes]:
    match observed:
        case ContextBuilt():
            return "actormem.context", SpanKind.INTERNAL, _context(observed)
        case TurnEnded():
            return "actormem.turn", SpanKind.INTERNAL, _turn(observed)
        case MemoryUsed():
            operation = OPERATIONS[observed.operation]
            attributes: Attributes = {
                "gen_ai.operation.name": operation,
                "gen_ai.provider.name": "actormem",
                "gen_ai.memory.record.count": observed.item_count,
                "actormem.operation": observed.operation,
            }
            if observed.degraded:
                attributes["actormem.degraded"] = observed.degraded
            return operation, SpanKind.INTERNAL, attributes
        case ModelCalled():
            attributes = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": observed.model.partition(":")[0],
                "gen_ai.request.model": observed.model.rpartition(":")[2],
                "gen_ai.usage.input_tokens": observed.prompt_tokens,
            }
            return f"chat {attributes['gen_ai.request.model']}", SpanKind.CLIENT, attributes


def _context(built: ContextBuilt) -> Attributes:
    trace = built.trace
    attributes: Attributes = {
        "actormem.context.tokens": trace.tokens,
        "actormem.context.budget_tokens": trace.budget_tokens,
        "actormem.context.full_history_tokens": trace.full_tokens,
        "actormem.context.stable_prefix_tokens": trace.stable_prefix_tokens,
        "actormem.context.hits": len(trace.included),
        "actormem.epoch": trace.epoch,
    }
    for section in trace.sections:
        attributes[f"actormem.context.section.{section.name}"] = section.tokens
    for step in trace.steps:
        attributes[f"actormem.step.{step.name}_ms"] = step.elapsed_ms
    if trace.epoch_end:
        attributes["actormem.epoch_end"] = trace.epoch_end
    if trace.degraded:
        attributes["actormem.degraded"] = trace.degraded
    return attributes


def _turn(ended: TurnEnded) -> Attributes:
    attributes: Attributes = {
        "actormem.outcome": ended.outcome,
        "actormem.context.count": ended.context_count,
        "actormem.context.tokens": ended.tokens,
    }
    if ended.model:
        attributes["gen_ai.request.model"] = ended.model
    if ended.prompt_tokens:
        attributes["gen_ai.usage.input_tokens"] = ended.prompt_tokens
    if ended.first_token_ms is not None:
        attributes["gen_ai.response.time_to_first_chunk"] = ended.first_token_ms / 1000
    return attributes


def _ids(observed: Observed) -> Attributes:
    match observed:
        case ContextBuilt():
            turn_id = observed.trace.turn_id
        case TurnEnded():
            turn_id = observed.turn_id
        case _:
            return {}
    found: Attributes = {"gen_ai.conversation.id": observed.session_id}
    return found | {"actormem.turn.id": turn_id} if turn_id else found
