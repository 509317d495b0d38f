"""What a runtime says of itself, and the receipt of a forgetting."""

import msgspec

from actormem.actors.services import Counters, Services
from actormem.kernel import KindStatistics, SystemStatistics
from actormem.ports import RecordStatistics

__all__ = ["Receipt", "RuntimeStatistics", "runtime_statistics"]


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was erased.

    Attributes:
        item_count: Memory items, all their versions counted.
        text_count: Texts of sessions (messages, notes, summaries) that were rewritten or erased.
        session_count: Sessions that were changed or erased.
        scanned_bytes: Of all files of the folder, looked at when they had been cleared; 0 where all is in memory, and
            where nothing was erased that tells enough to be sought.
        found_count: Of at most 64 of the erased texts, those of 8 bytes or more that tell most by themselves, how many
            the files hold still; what others said in the same words does not count. It is to be 0.
        elsewhere: Where a copy may stand that is not in our reach, and was not looked at: a database's log, backups and
            replicas. Nothing for a folder.
    """

    item_count: int
    text_count: int
    session_count: int
    scanned_bytes: int = 0
    found_count: int = 0
    elsewhere: tuple[str, ...] = ()


class RuntimeStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """Counts since opening, and what is in memory now.

    Attributes:
        sessions, summarizer, longterm, upkeep: Of the actors of each kind.
        record: Of the disk.
        summaries_llm, summaries_extractive: Blocks made, by how.
        summaries_refused: Requests that did not get through; they were asked again.
        summaries_over_daily_tokens: Calls that `daily_llm_tokens` did not allow; those summaries are extractive.
        values_repaired: Sentences left out of an LLM's summaries because of a value their source does not have.
        extractions, extractions_failed, extractions_over_daily_tokens: Calls for facts in a batch of messages, by what
            came of them; messages of the others wait for another call, or the rules' reading is all there is.
        extractions_dropped: Messages that wait no more, because too many waited or too many calls failed.
        extracted_facts, extracted_facts_refused: Facts that an LLM found beside the rules, and those left out because
            their message does not say them in these words.
        expansions, expansions_late, expansions_failed, expansions_over_daily_tokens: Calls for other words for a query,
            by what came of them; recall went on without those of the others.
        expansions_skipped: Calls for them that were not made: they had just failed or were late, or were too many.
        news_refused: News for long-term memory that did not get through; it was read from the record later.
        orphan_tool_calls: Calls that were closed with a marked "no result", because none had come.
        orphan_results: Results that came for no open call: kept and listed, never shown.
        usage_above_count: Requests of a model whose vocabulary is known for which its provider counted more.
        llm_failures, embed_failures: Background calls that failed.
        queries_embedded, query_calls: Queries that were embedded, and calls that took: what came while one ran went
            together in the next.
        llm_prompt_tokens, llm_reply_tokens: Of background calls, failed ones too, as we count.
        embedded_texts: Texts embedded, caches apart.
        prewarms, prewarm_failures, prewarms_dropped: Contexts sent ahead of a turn, by what came of it; dropped
            are those that were not wanted any more.
        hits_shown, hits_used: Memories recalled that a note showed; of these, those whose value, or half of whose
            words, stands in the reply of the turn.
        corrections: Values that users took back for another ("no, it's …", "不对，是…").
        supersessions: Facts that were live and that something newer took the place of, or took back.
        gate_skips: User messages for which nothing was recalled, since nothing could come of it.
        erasures_resumed, erasures_failed: Of those that whoever began them did not end, by a crash or because he was
            cancelled: brought to their end, and not yet; these are tried again at the next opening.
        redactions, refusals: Texts that filters changed, or refused, on their way into memory or to an LLM.
        retention_failures: Sessions and owners whose retention could not be seen to; it is tried again a day later.
    """

    sessions: KindStatistics
    summarizer: KindStatistics
    longterm: KindStatistics
    embedding: KindStatistics
    upkeep: KindStatistics
    record: RecordStatistics
    summaries_llm: int
    summaries_extractive: int
    summaries_refused: int
    summaries_over_daily_tokens: int
    values_repaired: int
    extractions: int
    extractions_failed: int
    extractions_over_daily_tokens: int
    extractions_dropped: int
    extracted_facts: int
    extracted_facts_refused: int
    expansions: int
    expansions_late: int
    expansions_failed: int
    expansions_over_daily_tokens: int
    expansions_skipped: int
    news_refused: int
    orphan_tool_calls: int
    orphan_results: int
    usage_above_count: int
    llm_failures: int
    llm_prompt_tokens: int
    llm_reply_tokens: int
    embed_failures: int
    query_calls: int
    queries_embedded: int
    embedded_texts: int
    prewarms: int
    prewarm_failures: int
    prewarms_dropped: int
    hits_shown: int
    hits_used: int
    gate_skips: int
    retention_failures: int
    erasures_resumed: int
    erasures_failed: int
    corrections: int
    supersessions: int
    redactions: int
    refusals: int


def runtime_statistics(system: SystemStatistics, services: Services) -> RuntimeStatistics:
    """The statistics of a runtime, from those of its parts."""
    counters: Counters = services.counters
    return RuntimeStatistics(
        sessions=system.kinds["session"],
        summarizer=system.kinds["summarizer"],
        longterm=system.kinds["longterm"],
        embedding=system.kinds["embedding"],
        upkeep=system.kinds["upkeep"],
        record=services.record.statistics(),
        summaries_llm=counters.summaries_llm,
        summaries_extractive=counters.summaries_extractive,
        summaries_refused=counters.summaries_refused,
        summaries_over_daily_tokens=counters.summaries_over_daily_tokens,
        values_repaired=counters.values_repaired,
        extractions=counters.extractions,
        extractions_failed=counters.extractions_failed,
        extractions_over_daily_tokens=counters.extractions_over_daily_tokens,
        extractions_dropped=counters.extractions_dropped,
        extracted_facts=counters.extracted_facts,
        extracted_facts_refused=counters.extracted_facts_refused,
        expansions=counters.expansions,
        expansions_late=counters.expansions_late,
        expansions_failed=counters.expansions_failed,
        expansions_over_daily_tokens=counters.expansions_over_daily_tokens,
        expansions_skipped=counters.expansions_skipped,
        news_refused=counters.news_refused,
        orphan_tool_calls=counters.orphan_tool_calls,
        orphan_results=counters.orphan_results,
        usage_above_count=counters.usage_above_count,
        llm_failures=counters.llm_failures,
        llm_prompt_tokens=counters.llm_prompt_tokens,
        llm_reply_tokens=counters.llm_reply_tokens,
        embed_failures=counters.embed_failures,
        query_calls=counters.query_calls,
        queries_embedded=counters.queries_embedded,
        embedded_texts=counters.embedded_texts,
        prewarms=counters.prewarms,
        prewarm_failures=counters.prewarm_failures,
        prewarms_dropped=counters.prewarms_dropped,
        hits_shown=counters.hits_shown,
        hits_used=counters.hits_used,
        gate_skips=counters.gate_skips,
        retention_failures=counters.retention_failures,
        erasures_resumed=counters.erasures_resumed,
        erasures_failed=counters.erasures_failed,
        corrections=counters.corrections,
        supersessions=counters.supersessions,
        redactions=counters.redactions,
        refusals=counters.refusals,
    )
