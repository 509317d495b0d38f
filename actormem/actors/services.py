"""What every actor is given: the ports behind which the world stands, and the ways to the other actors."""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from itertools import count
from typing import Protocol, cast

import msgspec
import numpy as np
from anyio.lowlevel import checkpoint

from actormem import limits
from actormem.actors.burials import Burials
from actormem.actors.calibrations import Calibrations
from actormem.actors.daily_tokens import DailyTokens
from actormem.actors.filtering import BUILT_IN, Filter, Filters
from actormem.actors.llm_calls import LLMCalls
from actormem.actors.moments import Moments
from actormem.actors.observers import Observers
from actormem.actors.pools import Pools
from actormem.actors.precedence import Precedence
from actormem.actors.rewrites import Rewrites
from actormem.actors.unfinished import Unfinished
from actormem.actors.watching import Watchers, watched
from actormem.core.facts.declared import NONE_DECLARED, Attributes
from actormem.core.health.retention import Retention
from actormem.core.prices import Prices
from actormem.core.recall.words import Words
from actormem.core.values import Owner, SessionKey
from actormem.errors import ProviderError
from actormem.kernel import Clock, Ref
from actormem.ports import LLM, Cache, Embedder, Labels, Record, Tokenizer, VectorIndex, Vectors, Warmer

__all__ = ["Counters", "Options", "Services"]

EMBED_DEADLINE_S = 60.0  # of one call: a remote embedder that hangs must not hold its owner for ever


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What `open` was told, as numbers.

    Attributes:
        recall_deadline_s: What a turn waits at most for its memories.
        turn_hits: Hits a note may hold.
        write_threshold: Importance below which what the user says in passing is not written as a fact.
        summaries_at_once: Summaries that are made at the same time.
        llm_deadline_s: What one background call to the LLM may take.
        daily_llm_tokens: What one owner's background calls may take in a UTC day; None for no limit.
        extract: Whether the LLM finds facts beside the rules.
        expand_queries: Whether a recall asks the LLM for other words for its query.
        retention: How long what is remembered is kept.
        attributes: How many values the attributes of facts have, and what asks for them.
        filters: What texts pass before they are remembered.
    """

    recall_deadline_s: float = limits.RECALL_DEADLINE_S
    turn_hits: int = limits.TURN_HITS
    write_threshold: float = limits.WRITE_THRESHOLD
    summaries_at_once: int = limits.SUMMARIES_AT_ONCE
    llm_deadline_s: float = limits.LLM_DEADLINE_S
    daily_llm_tokens: int | None = None
    extract: bool = True
    expand_queries: bool = False
    retention: Retention = Retention()
    attributes: Attributes = NONE_DECLARED
    filters: tuple[Filter, ...] = BUILT_IN


class Counters(msgspec.Struct):
    """What actors count since opening; the only thing they share that changes."""

    summaries_llm: int = 0
    summaries_extractive: int = 0
    summaries_refused: int = 0
    summaries_over_daily_tokens: int = 0
    values_repaired: int = 0
    extractions: int = 0
    extractions_failed: int = 0
    extractions_over_daily_tokens: int = 0
    extractions_dropped: int = 0
    extracted_facts: int = 0
    extracted_facts_refused: int = 0
    llm_failures: int = 0
    llm_prompt_tokens: int = 0
    llm_reply_tokens: int = 0
    expansions: int = 0
    expansions_late: int = 0
    expansions_failed: int = 0
    expansions_over_daily_tokens: int = 0
    expansions_skipped: int = 0
    embed_failures: int = 0
    query_calls: int = 0
    queries_embedded: int = 0
    embedded_texts: int = 0
    news_refused: int = 0
    orphan_tool_calls: int = 0
    orphan_results: int = 0
    usage_above_count: int = 0
    prewarms: int = 0
    prewarm_failures: int = 0
    prewarms_dropped: int = 0
    hits_shown: int = 0
    hits_used: int = 0
    gate_skips: int = 0
    retention_failures: int = 0
    erasures_resumed: int = 0
    erasures_failed: int = 0
    corrections: int = 0
    supersessions: int = 0
    redactions: int = 0
    refusals: int = 0


class Counting(Protocol):
    """How to count for each model.

    `get` gives its tokenizer, `base` the known vocabulary that is made of, `calibrated` the tokenizer with a
    measured factor (0.0 for none), `prices` what parts that are no text cost.
    """

    def get(self, model: str) -> Tokenizer: ...
    def base(self, model: str) -> Tokenizer: ...
    def calibrated(self, model: str, factor: float, wide: bool) -> Tokenizer: ...
    def prices(self, model: str) -> Prices: ...


class Services:
    """The ports and the ways to other actors; one for a runtime, shared by all of its actors."""

    def __init__(
        self,
        *,
        clock: Clock,
        record: Record,
        cache: Cache,
        embedder: Embedder,
        llm: LLM | None,
        counting: Counting,
        ref: Callable[[str, Hashable], Ref],
        stop: Callable[[str, Hashable, str], Awaitable[None]],
        keys: Callable[[str], tuple[Hashable, ...]],
        build_index: Callable[[Labels, Vectors, Callable[[Labels], Vectors]], VectorIndex],
        draw_nonce: Callable[[], str],
        draw_share: Callable[[], float],
        options: Options,
        warmer: Warmer | None = None,
        queries_at_once: int = 1,
        give_way: Callable[[], Awaitable[None]] = checkpoint,
    ) -> None:
        self.clock = clock
        self.watchers = Watchers(clock.now_ms)
        self.record = watched(record, self.watchers)
        self.moments = Moments(clock, record.newest_ms())
        self.cache = cache
        self.embedder = embedder
        self.llm = llm
        self.tokenizer_for = counting.get
        self.base_for = counting.base
        self.calibrated_for = counting.calibrated
        self.prices_for = counting.prices
        self.calibrations = Calibrations()
        self.ref = ref
        self.stop = stop
        self._keys = keys
        self.build_index = build_index
        self.draw_nonce = draw_nonce
        self.draw_share = draw_share
        self.options = options
        self.warmer = warmer
        self.queries_at_once = queries_at_once
        self.give_way = give_way
        self.counters, self.observers = Counters(), Observers()
        self.filters = Filters(options.filters, self.counters)
        self.request_numbers = count(1)  # of summaries: none is ever taken for another one's
        self.erasure_count = 0  # an answer that was in the making meanwhile may hold what was erased
        self.forgetting: set[Owner] = set()  # users that take nothing in, bases not looked into meanwhile
        self.unfinished = Unfinished()
        self.burials = Burials(self.moments.now_ms())
        self.precedence, self.rewrites = Precedence(clock), Rewrites(clock)
        self.llm_calls = LLMCalls(
            clock=clock,
            daily_tokens=DailyTokens(cache, clock, options.daily_llm_tokens),
            counts=self.counters,
            draw_share=draw_share,
            deadline_s=options.llm_deadline_s,
            observers=self.observers,
        )
        self.words = Words()
        self.pools = Pools(options.summaries_at_once)

    def sessions(self) -> tuple[SessionKey, ...]:
        """The sessions that are in memory now."""
        return cast("tuple[SessionKey, ...]", self._keys("session"))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts.

        Raises:
            ProviderError: Whatever the embedder raised, or gave: one of the caller's own may do anything.
        """
        embedder = self.embedder
        failure = ProviderError(f"no answer within {EMBED_DEADLINE_S:g} s", provider=embedder.name)
        with self.clock.deadline(EMBED_DEADLINE_S):
            try:
                vectors = await embedder.embed(texts)
                sound = vectors.shape == (len(texts), embedder.dimensions) and bool(
                    np.isfinite(vectors).all()
                )
            except ProviderError:
                raise
            except Exception as error:
                failure = ProviderError(f"raised {type(error).__name__}", provider=embedder.name)
            else:
                if sound:
                    return vectors
                failure = ProviderError("gave no vectors of its dimensions", provider=embedder.name)
        raise failure  # outside of the handler: the embedder's own error may hold the texts
