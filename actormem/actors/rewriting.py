"""Rewrites of a query by the LLM, for a recall that waits for them no longer than it is told.

The law of the file: whatever the LLM does, the answer is a few short texts to search for, or none; the query leaves
as filters let it, and the only other words that go with it are our own.
"""

from actormem.actors.llm_calls import LLMRequest
from actormem.actors.memory_messages import RecallItems
from actormem.actors.services import Services
from actormem.core.recall.rewrites import (
    QUERY_CHARS_MAX,
    REPLY_CHARS_MAX,
    REPLY_TOKENS,
    REWRITES_SCHEMA,
    read_rewrites,
    rewrites_prompt,
)
from actormem.core.values import Owner
from actormem.ports import LLM

__all__ = ["rewritten"]


async def rewritten(services: Services, owner: Owner, asked: RecallItems, within_s: float) -> tuple[str, ...]:
    """Other texts to search for, from the LLM or from what it gave a moment ago; none where they do not come in time.

    Args:
        within_s: Seconds after which nobody waits any more; 0: only what is known is wanted.
    """
    llm, state, counters = services.llm, services.rewrites, services.counters
    query = _sendable(services, owner, asked)
    if llm is None or not query:
        return ()
    known = state.find(owner, query)
    if known is not None or within_s <= 0:
        return known or ()
    if (
        services.llm_calls.rest_s
        or state.resting.rests(within_s)
        or services.pools.rewriting.available_tokens < 1
    ):
        counters.expansions_skipped += 1
        return ()
    found: tuple[str, ...] = ()
    with services.clock.deadline(within_s) as scope:
        async with services.pools.rewriting:
            found = await _asked(services, llm, owner, query, within_s)
    if scope.cancelled_caught:
        counters.expansions_late += 1
        state.resting.failed(within_s)
    return found


def _sendable(services: Services, owner: Owner, asked: RecallItems) -> str:
    """The query as it may be sent; empty where it may not, or where other words could not help."""
    query = asked.query.strip()
    if len(query) > QUERY_CHARS_MAX or not any(map(str.isalnum, query)):
        return ""
    return services.filters.query(query, owner, asked.session_id)[:QUERY_CHARS_MAX]


async def _asked(services: Services, llm: LLM, owner: Owner, query: str, within_s: float) -> tuple[str, ...]:
    state, counters, count = services.rewrites, services.counters, services.tokenizer_for("").count
    prompt, prompt_tokens = rewrites_prompt(query, count)
    call = LLMRequest(
        prompt=prompt, prompt_tokens=prompt_tokens, reply_tokens=REPLY_TOKENS, schema=REWRITES_SCHEMA
    )
    if prompt_tokens + REPLY_TOKENS > llm.window_tokens:
        counters.expansions_skipped += 1
        return ()
    erasure_count, began_s = services.erasure_count, services.clock.monotonic_s()
    replied = await services.llm_calls.once(llm, owner, call, within_s)
    if replied.over:
        counters.expansions_over_daily_tokens += 1
        return ()
    found = None if replied.text is None else read_rewrites(replied.text, query)
    if found is None:
        counters.expansions_failed += 1
        state.resting.failed()
    else:
        counters.expansions += 1
        state.resting.succeeded(services.clock.monotonic_s() - began_s)
        if erasure_count == services.erasure_count and owner not in services.forgetting:
            state.keep(owner, query, found)
    if replied.text is not None:
        head = replied.text[:REPLY_CHARS_MAX]
        await services.llm_calls.counted(owner, call, count(head) * len(replied.text) // len(head))
    return found or ()
