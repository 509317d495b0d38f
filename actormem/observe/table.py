"""Every metric: its name, kind, unit, labels and meaning, and where its number comes from. Pure.

`python -m actormem.observe.table` prints it as the table of `docs/metrics.md`.
"""

import sys
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

__all__ = ["ACTOR_KINDS", "METRICS", "UNMEASURED", "Metric", "markdown"]

Kind = Literal["counter", "gauge", "histogram"]
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
TOKENS: Final = (64.0, 256.0, 1_024.0, 2_048.0, 4_096.0, 8_192.0, 16_384.0, 65_536.0, 262_144.0)
ACTOR_KINDS: Final = ("sessions", "summarizer", "longterm", "embedding", "upkeep")
UNMEASURED: Final = ("last_error", "last_crash")  # words; the log has them


class Metric(msgspec.Struct, frozen=True):
    """One metric.

    Attributes:
        name: As Prometheus shows it; of a counter without its `_total`.
        kind: What sort it is.
        unit: Of its number.
        meaning: What is counted, in one line.
        labels: Names of its labels; each has few values, and none of them is anybody's id.
        source: The field of `Runtime.statistics()`; of actors that of each kind, of the record `record.FIELD`; empty
            where it is counted from what observers are told.
        buckets: Upper ends, of a histogram.
    """

    name: str
    kind: Kind
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()
    source: str = ""
    buckets: tuple[float, ...] = ()

    @property
    def shown(self) -> str:
        """The name as a query has it."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


def _actors(field: str, meaning: str, *, kind: Kind = "counter", unit: str = "1") -> Metric:
    return Metric(f"actormem_actor_{field}", kind, unit, meaning, ("kind",), f"actors.{field}")


def _record(name: str, field: str, meaning: str, kind: Kind = "counter", unit: str = "1") -> Metric:
    return Metric(f"actormem_record_{name}", kind, unit, meaning, (), f"record.{field}")


def _count(field: str, meaning: str, *, name: str = "", unit: str = "1") -> Metric:
    return Metric(f"actormem_{name or field}", "counter", unit, meaning, (), field)


def _timed(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(f"actormem_{name}_seconds", "histogram", "seconds", meaning, labels, "", SECONDS)


def _told(name: str, meaning: str, *labels: str, unit: str = "1") -> Metric:
    return Metric(f"actormem_{name}", "counter", unit, meaning, labels)


METRICS: Final = (
    _told("turns", "turns that were left, by how they ended", "outcome"),
    _timed("turn", "from entering a turn to its record"),
    _timed("first_token", "from a context to the first word of the streamed reply"),
    _timed("context", "from the question for a context to its messages"),
    _timed("context_step", "one step of building a context", "step"),
    Metric("actormem_context_tokens", "histogram", "tokens", "size of a context", (), "", TOKENS),
    _told("stable_prefix_tokens", "tokens of contexts that stood in the one before, byte for byte", unit="tokens"),
    _told("full_history_tokens", "tokens the contexts would have taken with all of their history", unit="tokens"),
    _told("prompt_tokens", "tokens of turns' last requests, as their providers counted", unit="tokens"),
    _told("epochs_ended", "contexts that began a new epoch, by why the one before ended", "reason"),
    _told("degraded", "steps of contexts and recalls that missed their deadline or failed", "step"),
    _told("memory_operations", "calls for a user's memory, by what came of them", "operation", "result"),
    _timed("memory_operation", "one call for a user's memory", "operation"),
    _told("llm_calls", "background calls to the LLM, by what came of them", "result"),
    _timed("llm_call", "one background call to the LLM"),
    _actors("residents", "actors in memory", kind="gauge"),
    _actors("waiting", "messages in mailboxes, and those of senders that wait for room", kind="gauge"),
    _actors("activations", "instances made, restarts included"),
    _actors("passivations", "idle instances ended, to be made again when a message comes"),
    _actors("restarts", "crashes after which a new instance was made at once"),
    _actors("given_up", "times an actor crashed too often and was left alone for a while"),
    _actors("messages", "messages that entered a mailbox"),
    _actors("refused", "messages not taken: the mailbox was full, or the actor given up or stopped"),
    _actors("waited", "messages that had to wait for room"),
    _actors("coalesced", "waiting messages replaced by a newer one of the same key"),
    _actors("discarded", "tells that were in a mailbox when their actor was given up or cut off"),
    _actors("cut_off", "actors that closing did not wait for any longer"),
    _actors("errors", "errors that nobody waited for"),
    _record("commits", "commit_count", "transactions on disk"),
    _record("writes", "write_count", "writes in them"),
    _record("failed_commits", "failed_commit_count", "transactions the disk refused"),
    _record("waiting", "waiting_count", "transactions that wait for the disk", "gauge"),
    _record("size_bytes", "size_bytes", "size of the database", "gauge", "bytes"),
    _record("damaged_rows", "damaged_rows", "derived rows found damaged, and made anew"),
    _count("summaries_llm", "summary blocks written by the LLM"),
    _count("summaries_extractive", "summary blocks made by rules"),
    _count("summaries_refused", "requests for summaries that did not get through, and were made again"),
    _count("summaries_over_daily_tokens", "summaries that an owner's tokens of the day did not allow the LLM"),
    _count("values_repaired", "sentences left out of summaries: their source does not have a value of theirs"),
    _count("extractions", "calls for facts"),
    _count("extractions_failed", "calls for facts that failed"),
    _count("extractions_over_daily_tokens", "calls for facts that an owner's tokens of the day did not allow"),
    _count("extractions_dropped", "messages that wait no more for a call for facts"),
    _count("extracted_facts", "facts an LLM found beside the rules"),
    _count("extracted_facts_refused", "facts left out: their message does not say them in these words"),
    _count("expansions", "calls for other words for a query"),
    _count("expansions_late", "such calls whose answer came too late"),
    _count("expansions_failed", "such calls that failed"),
    _count("expansions_over_daily_tokens", "such calls that an owner's tokens of the day did not allow"),
    _count("expansions_skipped", "such calls that were not made: they had just failed, or were too many"),
    _count("news_refused", "news for long-term memory that was read from the record later"),
    _count("orphan_tool_calls", "tool calls closed with a marked \"no result\""),
    _count("orphan_results", "tool results that came for no open call"),
    _count("usage_above_count", "requests for which the provider counted more than we", name="usage_above"),
    _count("llm_failures", "background calls to the LLM that failed"),
    _count("llm_prompt_tokens", "tokens of background requests, as we count", unit="tokens"),
    _count("llm_reply_tokens", "tokens of their replies, as we count", unit="tokens"),
    _count("embed_failures", "background calls to the embedder that failed"),
    _count("query_calls", "calls for vectors of queries"),
    _count("queries_embedded", "queries that were embedded"),
    _count("embedded_texts", "texts embedded, caches apart"),
    _count("prewarms", "contexts sent to the model ahead of a turn"),
    _count("prewarm_failures", "of these, those that failed"),
    _count("prewarms_dropped", "of these, those not wanted any more"),
    _count("hits_shown", "memories recalled that a note showed"),
    _count("hits_used", "of these, those that stand in the reply of their turn"),
    _count("gate_skips", "user messages for which nothing was recalled: nothing could come of it"),
    _count("retention_failures", "sessions and owners whose retention could not be seen to"),
    _count("erasures_resumed", "erasures that another began, brought to their end"),
    _count("erasures_failed", "erasures that are still to be brought to their end"),
    _count("corrections", "values that users took back for another, and edits"),
    _count("supersessions", "live facts whose place something newer took"),
    _count("redactions", "texts that filters changed"),
    _count("refusals", "texts that filters refused"),
)  # fmt: skip
"""All of them, those of turns first."""


def markdown(metrics: Sequence[Metric] = METRICS) -> str:
    """The table as Markdown."""
    head = ("| metric | kind | unit | labels | meaning |", "|---|---|---|---|---|")
    rows = (
        f"| `{one.shown}` | {one.kind} | {one.unit} | {' '.join(f'`{name}`' for name in one.labels)} | {one.meaning} |"
        for one in metrics
    )
    return "\n".join((*head, *rows)) + "\n"


if __name__ == "__main__":
    sys.stdout.write(markdown())
