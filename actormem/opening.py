"""Opening a memory: the one place where the parts are put together, and taken apart again in reverse."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from random import SystemRandom
from types import TracebackType
from typing import Literal, TypeAlias, TypeVar, cast

import anyio

from actormem import limits, wiring
from actormem.actors.embedding import EmbeddingActor
from actormem.actors.filtering import Filter, checked_filters
from actormem.actors.longterm import LongTermActor
from actormem.actors.patient_cache import PatientCache
from actormem.actors.services import Options, Services
from actormem.actors.session import SessionActor
from actormem.actors.summarizer import SummarizerActor
from actormem.actors.upkeep import UpkeepActor
from actormem.core.facts.declared import Declaration, declared
from actormem.core.health.retention import Retention
from actormem.core.prices import Prices
from actormem.core.values import Owner, SessionKey
from actormem.errors import UsageError
from actormem.front import positive, share, switch, whole
from actormem.kernel import ActorSystem, Clock, SystemClock
from actormem.ports import LLM, Cache, Embedder, Record, Tokenizer, Warmer
from actormem.runtime import Runtime
from actormem.storage.aside import SetAside
from actormem.storage.cache import DiskCache, MemoryCache
from actormem.storage.record import open_record
from actormem.storage.schema import Durability
from actormem.storage.urls import check_name, names_database

__all__ = ["open"]

CACHE_FOLDER = "cache"
Place: TypeAlias = Path | str | None
"""A folder, the URL of a database, or memory alone."""
CLOCK_METHODS = ("now_ms", "monotonic_s", "sleep", "deadline")
Port = TypeVar("Port", bound=Cache | LLM | Warmer | Embedder | None)


@asynccontextmanager
async def open(
    path: str | os.PathLike[str] | None,
    *,
    llm: str | LLM | None = None,
    embedder: str | Embedder | None = None,
    tokenizer: Tokenizer | None = None,
    prices: Mapping[str, Prices] | None = None,
    durability: Durability = "power",
    recall_deadline_s: float = limits.RECALL_DEADLINE_S,
    turn_wait_s: float = limits.TURN_WAIT_S,
    turn_hits: int = limits.TURN_HITS,
    write_threshold: float = limits.WRITE_THRESHOLD,
    summaries_at_once: int = limits.SUMMARIES_AT_ONCE,
    llm_deadline_s: float = limits.LLM_DEADLINE_S,
    daily_llm_tokens: int | None = None,
    extract: bool = True,
    expand_queries: bool = False,
    attributes: Mapping[str, Declaration] | None = None,
    filters: Sequence[Filter | Literal["secrets"]] | None = None,
    prewarm: str | Warmer | None = None,
    retention: Retention | None = None,
    idle_s: float = limits.IDLE_S,
    resident_limit: int = limits.RESIDENT_LIMIT,
    lock_wait_s: float = 0.0,
    clock: Clock | None = None,
    wrap_record: Callable[[Record], Record] | None = None,
) -> AsyncGenerator[Runtime, None]:
    """Open a memory, in about a second; an async context manager, entered and left in one task.

    Args:
        path: The folder, made where it is missing; `postgresql://user@host/name?schema=memory`, a schema of a database,
            made too; None keeps everything in this process's memory.
        llm: Writes summaries, finds facts: `openai:MODEL`, an object of yours, or None: rules do both.
        embedder: None or `local` (in the wheel; loads in a second), `hashing`, `openai:MODEL`, or an object of yours.
        tokenizer, prices: One for all sessions, None: each model's own; what pictures, sound and files cost by model.
        durability, lock_wait_s: `power` survives power loss, `process` kill -9; seconds to wait for a path in use.
        recall_deadline_s, turn_wait_s: Seconds a turn waits at most for its memories, for the turn before it.
        turn_hits, write_threshold: Memories a note may hold; importance below which what is said in passing is no fact.
        summaries_at_once, llm_deadline_s, daily_llm_tokens: Summaries at once; seconds of one; an owner's tokens a day.
        extract, expand_queries: Whether the LLM finds facts too; whether recalls ask it for other words to search for.
        attributes, filters: How many values facts have, see `declared`; what texts pass before they are remembered.
        prewarm: `openai` or an object of yours: has the model read the context after a compaction; None: nobody.
        retention: How long messages and memories are kept; None: until they are forgotten.
        idle_s, resident_limit: Seconds without a message before an actor leaves memory; how many of each kind may stay.
        clock, wrap_record: Time, a fake one in tests; gives what stands before the record: a fault, in tests.

    Raises:
        FolderInUseError, VersionError: Another process has the folder; a newer version wrote it.
        UsageError, CorruptError: An option is wrong or the path unusable; it is damaged. Nothing changed, in all cases.
    """
    options = Options(
        recall_deadline_s=positive("recall_deadline_s", recall_deadline_s),
        turn_hits=whole("turn_hits", turn_hits),
        write_threshold=share("write_threshold", write_threshold),
        summaries_at_once=whole("summaries_at_once", summaries_at_once),
        llm_deadline_s=positive("llm_deadline_s", llm_deadline_s),
        daily_llm_tokens=None if daily_llm_tokens is None else whole("daily_llm_tokens", daily_llm_tokens),
        extract=switch("extract", extract),
        expand_queries=_checked_expansion(expand_queries, llm),
        retention=_checked_retention(retention),
        attributes=declared(attributes),
        filters=checked_filters(filters),
    )
    tokenizers = wiring.Tokenizers(tokenizer, prices)
    place = _checked_place(path, durability, lock_wait_s)
    opened, left = _record(place, durability, lock_wait_s, wrap_record), _Left()
    async with opened as record, AsyncExitStack() as stack:
        system = ActorSystem(clock=_checked_clock(clock))
        services = await _services(
            stack, system, record, place, tokenizers, options, llm=llm, embedder=embedder, prewarm=prewarm
        )
        _register(system, services, idle_s, resident_limit)
        runtime = Runtime(system, services, tokenizers, positive("turn_wait_s", turn_wait_s))
        await _begin(stack, system, runtime, place)
        with left:
            yield runtime
    left.go_on()


async def _begin(stack: AsyncExitStack, system: ActorSystem, runtime: Runtime, place: Place) -> None:
    """Let actors live until the stack is left, and take up what was in flight."""
    if place is not None:  # what is in memory alone is not taken up again
        stack.push_async_callback(runtime.closed)
    await stack.enter_async_context(system)
    await runtime.resume()


@asynccontextmanager
async def _record(
    place: Place,
    durability: Durability,
    lock_wait_s: float,
    wrap: Callable[[Record], Record] | None,
) -> AsyncGenerator[Record, None]:
    make = _database(place) if isinstance(place, str) else partial(open_record, place)
    async with make(durability=durability, lock_wait_s=lock_wait_s) as record:
        yield record if wrap is None else wrap(record)


async def _services(
    stack: AsyncExitStack,
    system: ActorSystem,
    record: Record,
    place: Place,
    tokenizers: wiring.Tokenizers,
    options: Options,
    *,
    llm: str | LLM | None,
    embedder: str | Embedder | None,
    prewarm: str | Warmer | None,
) -> Services:
    """What every actor is given; the ports it is made of are closed when the stack is left."""
    cache = _kept(stack, PatientCache(_cache(place, system.clock), system.clock))
    found_llm = _kept(stack, wiring.make_llm(llm))
    found_warmer = _kept(stack, wiring.make_warmer(prewarm))
    found_embedder = _kept(stack, await wiring.started_embedder(embedder))
    await tokenizers.load("")
    return Services(
        clock=system.clock,
        record=record,
        cache=cache,
        embedder=found_embedder,
        llm=found_llm,
        counting=tokenizers,
        ref=system.ref,
        stop=system.stop,
        keys=system.keys,
        build_index=wiring.build_index,
        draw_nonce=lambda: f"{SystemRandom().getrandbits(32):08x}",
        draw_share=SystemRandom().random,
        options=options,
        warmer=found_warmer,
        queries_at_once=wiring.calls_at_once(found_embedder),
        give_way=system.give_way,
    )


def _database(url: str) -> Callable[..., AbstractAsyncContextManager[Record]]:
    """What opens the record in a database."""
    try:
        from actormem.storage.postgres.record import open_postgres
    except ImportError as error:
        missing = error.name or "libpq"
        raise UsageError(
            f"a database needs {missing}, which is not installed", hint="pip install 'actormem[postgres]'"
        ) from error
    return partial(open_postgres, url)


def _cache(place: Place, clock: Clock) -> Cache:
    """In a folder beside its record; nothing of it matters where there is none."""
    if not isinstance(place, Path):
        return MemoryCache()
    return DiskCache(place / CACHE_FOLDER, aside=SetAside(place, clock.now_ms))


def _kept(stack: AsyncExitStack, port: Port) -> Port:
    """The port, closed when the stack is left; None is none."""
    if port is not None:
        stack.push_async_callback(port.aclose)
    return port


class _Left:
    """Keeps the error that the block was left by: the task groups inside would wrap it, a SystemExit too."""

    def __init__(self) -> None:
        self._error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, anyio.get_cancelled_exc_class()):
            return False
        self._error = error
        return True

    def go_on(self) -> None:
        """Raise it, if there was one."""
        if self._error is not None:
            raise self._error


def _checked_expansion(given: object, llm: object) -> bool:
    wanted = switch("expand_queries", given)
    if wanted and llm is None:
        raise UsageError("expand_queries needs an llm", hint="give llm too, or leave expand_queries out")
    return wanted


def _checked_retention(given: object) -> Retention:
    if given is not None and not isinstance(given, Retention):
        raise UsageError(f"retention must be an actormem.Retention, not {type(given).__name__}")
    return given or Retention()


def _checked_clock(given: Clock | None) -> Clock:
    missing = [name for name in CLOCK_METHODS if given is not None and not hasattr(given, name)]
    if missing:
        raise UsageError(f"clock has no {', '.join(missing)}", hint="see actormem.testing.FakeClock")
    return given or SystemClock()


def _checked_place(path: object, durability: object, lock_wait_s: float) -> Place:
    if durability not in ("power", "process"):
        raise UsageError(f"durability must be 'power' or 'process', not {durability!r}")
    if lock_wait_s:
        positive("lock_wait_s, where it is not 0,", lock_wait_s)
    if path is None:
        return None
    if isinstance(path, (str, os.PathLike)):
        check_name(cast("str | os.PathLike[str]", path))
    if isinstance(path, (str, Path)) and names_database(path):
        if isinstance(path, Path):
            raise UsageError("a database is named by a str: a Path changes its URL")
        return path
    if isinstance(path, Path) or (isinstance(path, str) and path):
        return Path(path)
    named: object = os.fspath(cast("os.PathLike[str]", path)) if isinstance(path, os.PathLike) else ""
    if not isinstance(named, str) or not named:
        raise UsageError("path must be the name of a folder, the URL of a database, or None")
    return Path(named)


def _register(system: ActorSystem, services: Services, idle_s: float, resident_limit: int) -> None:
    """Kinds end in reverse order: sessions first, then the summarizer, then long-term memory."""

    def longterm(key: object) -> LongTermActor:
        assert isinstance(key, Owner)
        return LongTermActor(key, services)

    def session(key: object) -> SessionActor:
        assert isinstance(key, SessionKey)
        return SessionActor(key, services)

    idle_s, resident_limit = positive("idle_s", idle_s), whole("resident_limit", resident_limit)
    mailbox = limits.MAILBOX_MESSAGES
    queue = limits.QUERY_QUEUE_MAX
    system.register("embedding", lambda _: EmbeddingActor(services), mailbox_limit=queue)
    system.register("longterm", longterm, mailbox_limit=mailbox, idle_s=idle_s, resident_limit=resident_limit)
    system.register("summarizer", lambda _: SummarizerActor(services), mailbox_limit=limits.SUMMARY_QUEUE_MAX)
    system.register("upkeep", lambda _: UpkeepActor(services), mailbox_limit=limits.SUMMARY_QUEUE_MAX)
    system.register("session", session, mailbox_limit=mailbox, idle_s=idle_s, resident_limit=resident_limit)
