"""Facts found by the LLM in user messages of one owner, in batches, beside everything else.

Runs as a child of the long-term actor. The law of the file: the rules have read every message before, so that a
failing LLM costs only what they do not read; what waits is durable, by ids alone, until it was done or given up; and
what was forgotten, rewound or changed while a call was on its way is not taken from its answer.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, TypeAlias, TypeVar

import anyio
import anyio.to_thread
import msgspec

from actormem.actors.llm_calls import LLMRequest
from actormem.actors.memory_messages import Extracted
from actormem.actors.services import Services
from actormem.actors.summary_calls import find_politely
from actormem.core.facts.found import Found
from actormem.core.facts.reply import FactsRead, read_facts
from actormem.core.facts.request import (
    EXTRACTION_WINDOW_TOKENS_MIN,
    FACTS_SCHEMA,
    ExtractionRequest,
    Said,
    extraction_request,
)
from actormem.core.facts.worth import content_words, worth
from actormem.core.values import Fact, Item, Owner
from actormem.errors import ActorMemError
from actormem.kernel import Scope
from actormem.ports import LLM, DeleteIntent, PutIntent, Write

__all__ = ["EXTRACT_INTENTS", "Extracting"]

EXTRACT_INTENTS: Final = "extract:"  # what the names of our intents begin with
BATCH_MESSAGES: Final = 12  # of one call: enough to share the instructions, few enough to be read with care
# Without a message of the owner before fewer than a batch are read: who thinks or types comes back.
QUIET_S: Final = 300.0
ELSEWHERE_S: Final = 30.0  # the same once somebody has asked who does not see those messages himself
WAITING_MAX: Final = 64  # messages of one owner that wait for a dead LLM; the oldest gives way
CALLS_MAX: Final = 2  # failed calls for one message, of three tries each, before it is given up
RETRY_S: Final = 60.0  # after a failed call nothing is called for this owner for as long
OVER_S: Final = 3_600.0  # and after one that the day's tokens did not allow
HEARD_MESSAGES: Final = 16  # the newest messages that scored too little: what is said again is worth more
RIPE_S: Final = 1e-6  # rounding of float seconds

Source: TypeAlias = tuple[str, str]
Made = TypeVar("Made")


class Waiting(msgspec.Struct):
    """A message that waits to be read, and how many calls for it have failed."""

    name: str
    urgent: bool = False
    failed_count: int = 0


class Extracting:
    """What waits to be read by the LLM, and its calls, one at a time.

    Args:
        done: Called when a run of calls has ended.
    """

    def __init__(self, owner: Owner, services: Services, done: Callable[[], None]) -> None:
        self._owner = owner
        self._services = services
        self._done = done
        self._said: Callable[[Source], Said | None] = nobody_said
        self._scope: Scope | None = None
        self._waiting: dict[Source, Waiting] = {}
        self._heard: deque[frozenset[str]] = deque(maxlen=HEARD_MESSAGES)
        self._heard_s = 0.0
        self._rest_until_s = 0.0
        self._running = False
        self._hurried = False
        self._asked_elsewhere = False
        self._wake = anyio.Event()
        self._taken = anyio.Event()

    @property
    def pending(self) -> bool:
        """Whether a call is being made or waited for."""
        return self._running

    async def started(self, scope: Scope, said: Callable[[Source], Said | None]) -> None:
        """Take up what waited when the owner was last in memory.

        Args:
            said: The user message of a session as it is now, or None where it is gone.
        """
        self._scope, self._said = scope, said
        self._heard_s = self._services.clock.monotonic_s()
        stored = await self._services.record.intents(self._owner)
        own = [one for one in stored if one[0].startswith(EXTRACT_INTENTS)]
        for name, body in sorted(own, key=lambda one: (len(one[0]), one[0])):
            source = msgspec.msgpack.decode(body, type=tuple[str, str])
            self._waiting[source] = Waiting(name)
        self.want()

    # --- what waits ---------------------------------------------------------------------------------------

    def offer(self, episode: Item, read: Sequence[Fact], previous: str) -> list[Write]:
        """See whether a message just heard may say more than the rules have read; what makes it wait is durable."""
        self._heard_s = self._services.clock.monotonic_s()
        if self._llm() is None:
            return []
        enough = self._services.options.write_threshold
        found = worth(episode.text, read=read, previous=previous, heard=self._heard, enough=enough)
        if found.score < enough:
            if found.score > 0:
                self._heard.append(content_words(episode.text))
            return []
        source = episode.sources[0]
        writes: list[Write] = []
        if len(self._waiting) >= WAITING_MAX:
            writes += self._given_up([next(iter(self._waiting))])
        name = f"{EXTRACT_INTENTS}{episode.id}"
        self._waiting[source] = Waiting(name, found.urgent)
        writes.append(PutIntent(self._owner, name, msgspec.msgpack.encode(source)))
        if found.urgent or len(self._waiting) >= BATCH_MESSAGES:
            self._wake.set()
        return writes

    def dropped(self, items: Iterable[Item]) -> list[Write]:
        """The messages of these items are not to be read, nor what is being read in them kept."""
        self._heard.clear()
        writes: list[Write] = []
        for item in items:
            for source in item.sources if item.source != "summary" else ():
                waiting = self._waiting.pop(source, None)
                if waiting is not None:
                    writes.append(DeleteIntent(self._owner, waiting.name))
        return writes

    def taken(self, news: Extracted) -> tuple[tuple[Found, ...], list[Write]]:
        """What still holds of an answer, and the writes that end its messages' waiting."""
        self._taken.set()
        live = {said.source for said in news.said if self._is_as_it_was(said)}
        writes = list[Write]()
        for source in (*(said.source for said in news.said), *news.gone):
            waiting = self._waiting.pop(source, None) if source in live or source in news.gone else None
            if waiting is not None:
                writes.append(DeleteIntent(self._owner, waiting.name))
        return tuple(one for one in news.found if one.said.source in live), writes

    def _is_as_it_was(self, said: Said) -> bool:
        now = self._said(said.source) if said.source in self._waiting else None
        return now is not None and now.text == said.text

    def _given_up(self, sources: Iterable[Source]) -> list[Write]:
        gone = [self._waiting.pop(source) for source in sources]
        self._services.counters.extractions_dropped += len(gone)
        return [DeleteIntent(self._owner, one.name) for one in gone]

    # --- calls --------------------------------------------------------------------------------------------

    def want(self) -> None:
        """See to it that what waits is read in time."""
        if self._scope is not None and not self._running and self._due():
            self._running = True
            self._scope.start(self._run)

    def hurry(self) -> None:
        """Do not wait for more messages: somebody waits until all is done. What comes later waits again."""
        self.want()
        if self._running:
            self._hurried = True
            self._wake.set()

    def asked(self, session_id: str) -> None:
        """A query came from this session, or from outside of all: what others have said is wanted sooner."""
        if not self._asked_elsewhere and any(session != session_id for session, _ in self._waiting):
            self._asked_elsewhere = True
            self._wake.set()

    def _llm(self) -> LLM | None:
        """The LLM, if it is to be asked for facts."""
        llm = self._services.llm
        if llm is None or not self._services.options.extract:
            return None
        return llm if llm.window_tokens >= EXTRACTION_WINDOW_TOKENS_MIN else None

    def _due(self) -> bool:
        rested = self._services.clock.monotonic_s() >= self._rest_until_s - RIPE_S
        return bool(self._waiting) and rested and self._llm() is not None

    async def _run(self) -> None:
        try:
            while self._due():
                if not await self._time_has_come():
                    await self._call()
        except ActorMemError:
            # The actor ends, or its disk has failed: what waits is in the record.
            self._services.counters.extractions_failed += 1
            self._rest_until_s = self._services.clock.monotonic_s() + RETRY_S
        finally:
            self._running = self._hurried = self._asked_elsewhere = False
            self._done()

    async def _time_has_come(self) -> bool:
        """Wait for a reason to call; True where one has to look again."""
        ready = self._hurried or len(self._waiting) >= BATCH_MESSAGES
        quiet_s = ELSEWHERE_S if self._asked_elsewhere else QUIET_S
        left_s = self._heard_s + quiet_s - self._services.clock.monotonic_s()
        if ready or left_s <= RIPE_S or any(one.urgent for one in self._waiting.values()):
            return False
        self._wake = anyio.Event()
        with self._services.clock.deadline(left_s):
            await self._wake.wait()
        return True

    async def _call(self) -> None:
        """One call for the messages that wait longest; what comes of it is told to the actor."""
        async with self._services.pools.extracting:
            gone, said = self._batch()
            news = await self._answer(said) if said else Extracted((), ())
        self._services.counters.extractions_dropped += len(gone) + len(news.gone)
        news = msgspec.structs.replace(news, gone=(*gone, *news.gone))
        if news.said or news.gone:
            await self._tell(news)

    async def _answer(self, said: Sequence[Said]) -> Extracted:
        """What the LLM finds in as many of the messages as it can read at once; where it fails, nobody calls soon."""
        services, llm = self._services, self._llm()
        assert llm is not None
        count = services.tokenizer_for("").count
        make = partial(extraction_request, said, window_tokens=llm.window_tokens, count=count)
        request = await self._in_thread(make)
        call = LLMRequest(
            prompt=request.prompt,
            prompt_tokens=request.prompt_tokens,
            reply_tokens=request.reply_tokens,
            schema=FACTS_SCHEMA,
        )
        rest_s = services.llm_calls.rest_s
        if not rest_s:
            replied = await services.llm_calls.reply(llm, self._owner, call)
            if replied.text is not None:
                read, reply_tokens = await self._in_thread(partial(_read, replied.text, request, count))
                await services.llm_calls.counted(self._owner, call, reply_tokens)
                if read is not None:
                    services.counters.extractions += 1
                    services.counters.extracted_facts_refused += read.refused_count
                    return Extracted(request.said, read.found)
            if replied.over:
                services.counters.extractions_over_daily_tokens += 1
                rest_s = OVER_S
        self._rest_until_s = services.clock.monotonic_s() + max(RETRY_S, rest_s)
        return Extracted((), (), () if rest_s else self._failed(request.said))

    def _batch(self) -> tuple[tuple[Source, ...], tuple[Said, ...]]:
        """Messages that are gone, and the next ones to be read: urgent ones first, then those that wait longest."""
        order = sorted(self._waiting.items(), key=lambda one: not one[1].urgent)
        gone: list[Source] = []
        said: list[Said] = []
        for source, _ in order[:BATCH_MESSAGES]:
            one = self._said(source)
            if one is None:
                gone.append(source)
            else:
                said.append(one)
        return tuple(gone), tuple(said)

    def _failed(self, said: Sequence[Said]) -> tuple[Source, ...]:
        """A call has failed; gives the messages for which enough have."""
        self._services.counters.extractions_failed += 1
        lost: list[Source] = []
        for one in said:
            waiting = self._waiting.get(one.source)
            if waiting is not None:
                waiting.failed_count += 1
                if waiting.failed_count >= CALLS_MAX:
                    lost.append(one.source)
        return tuple(lost)

    async def _tell(self, news: Extracted) -> None:
        """Hand it to the actor, which does one thing at a time, and wait until it has it."""
        assert self._scope is not None
        self._taken = anyio.Event()
        await self._scope.ref.send(news)
        await self._taken.wait()

    async def _in_thread(self, make: Callable[[], Made]) -> Made:
        return await anyio.to_thread.run_sync(make, limiter=self._services.pools.background)


def nobody_said(_: Source) -> Said | None:
    """What is said before the owner's memory is loaded: nothing."""
    return None


def _read(
    reply: str, request: ExtractionRequest, count: Callable[[str], int]
) -> tuple[FactsRead | None, int]:
    """The facts of the reply, None where it is none; and its tokens."""
    return read_facts(reply, request.said, find=find_politely), count(reply)
