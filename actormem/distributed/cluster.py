"""Opening a cluster: its shards as named Ray actors, made where there are none, and closed in order."""

import inspect
import os
import types
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from pickle import PicklingError
from typing import Any, cast

import anyio.to_thread
import sniffio

import actormem
from actormem.actors.watching import WATCHERS_MAX
from actormem.core.placement import SHARDS_MAX, shard_name
from actormem.distributed.asking import ShardsAsking, together
from actormem.distributed.calling import PENDING_MAX, ShardCaller
from actormem.distributed.notes import POSTGRES, notes_of
from actormem.distributed.runtime import ClusterRuntime
from actormem.distributed.shard import CALLS_MAX, ENDING_MAX, Shard, ShardSettings
from actormem.errors import AskTimeoutError, UsageError, given_as
from actormem.front import positive, switch
from actormem.kernel import SystemClock
from actormem.limits import TURN_WAIT_S
from actormem.remote.beating import beating
from actormem.storage.urls import check_name

__all__ = ["Cluster"]

NAMESPACE = "actormem"
STOP_S = 30.0  # for a shard to close its record
REFUSALS = 256  # calls that may be on their way to a refusal
CONCURRENCY = CALLS_MAX + ENDING_MAX + REFUSALS + WATCHERS_MAX  # who looks on takes no place of a call
OURS = ("path", "lock_wait_s", "clock")  # options of `open` that are the shards' own matter


class Cluster:
    """A memory on shards, each a Ray actor with a runtime and a record of its own; an async context manager.

    `async with Cluster("/data/memory", shards=8, llm="openai:gpt-4o-mini") as runtime:` gives a `ClusterRuntime`.
    Entered and left in one task, on asyncio, after `ray.init`. Who opens the same place in the same Ray cluster shares
    the shards that are there, with the options they were made with.

    Args:
        place: A folder that every node sees, or a `postgresql://` URL; its `schema` parameter (default `actormem`) is
            what the schemas of the shards begin with.
        shards: How many, 1 to 1,000. Chosen once: take four times what `benchmarks.capacity` says. A shard uses one
            core at most, and with nothing to do some 0.2 GB of memory.
        turn_wait_s: Seconds a turn waits at most for the turn before it.
        start_s: Seconds the shards have to open, one after another where cores are few.
        detached: Whether the shards go on when this is left, or its process ends; `stop` ends them. Where False, they
            end with whoever made them.
        ray_options: Of the actors, in Ray's words: `{"num_cpus": 1, "resources": {"memory_node": 1}}`. Without any a
            shard asks for no core of its own, and Ray spreads them over the nodes.
        options: Of `actormem.open`; objects are pickled for the shards.

    Raises:
        UsageError: An argument is wrong, Ray is not installed or not initialised, or the place has another number of
            shards; nothing changed.
        FolderInUseError: Another Ray cluster, or process, has a shard's record open.
        StorageError: A shard's record is gone, or the database cannot be reached.
        AskTimeoutError: The shards did not open in time.
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        shards: int,
        turn_wait_s: float = TURN_WAIT_S,
        start_s: float = 120.0,
        detached: bool = False,
        ray_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= SHARDS_MAX:
            raise UsageError(f"shards must be a whole number from 1 to {SHARDS_MAX}, not {given_as(shards)}")
        self._place, self._shards = _checked_place(place), shards
        self._turn_wait_s, self._start_s = positive("turn_wait_s", turn_wait_s), positive("start_s", start_s)
        self._detached = switch("detached", detached)
        self._ray_options = dict(ray_options or {})
        self._options = _checked_options(options) | {"turn_wait_s": turn_wait_s}
        self._stack = AsyncExitStack()
        self._callers: list[ShardCaller] = []

    async def __aenter__(self) -> ClusterRuntime:
        ray = _initialised_ray()
        clock = SystemClock()
        made = await anyio.to_thread.run_sync(self._actors, ray)
        self._callers = [
            ShardCaller(
                ray,
                actor,
                number=number,
                shards=self._shards,
                name=self._name(number),
                namespace=NAMESPACE,
                clock=clock,
            )
            for number, (actor, _) in enumerate(made)
        ]
        own = [caller for caller, (_, is_own) in zip(self._callers, made, strict=True) if is_own]
        try:
            shards = ShardsAsking(self._callers)
            await _opened(shards, self._start_s)
        except BaseException:
            await self._end(own)
            raise
        async with AsyncExitStack() as stack:
            if not self._detached:
                stack.push_async_callback(self._end, own)
            beats = await stack.enter_async_context(beating(shards, clock))
            self._stack = stack.pop_all()
        return ClusterRuntime(shards, beats, clock, self._turn_wait_s)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    async def stop(self) -> None:
        """Close the shards' records and end the actors, whoever made them; inside the block, as the last thing."""
        await self._end(self._callers)

    async def _end(self, callers: list[ShardCaller]) -> None:
        with anyio.CancelScope(shield=True):
            await together([lambda one=one: one.stop(STOP_S) for one in callers])

    def _actors(self, ray: Any) -> list[tuple[Any, bool]]:
        """The actor of every shard, and whether it was made here."""
        kind = ray.remote(Shard)
        return [self._actor(ray, kind, number) for number in range(self._shards)]

    def _actor(self, ray: Any, kind: Any, number: int) -> tuple[Any, bool]:
        name = self._name(number)
        try:
            return ray.get_actor(name, namespace=NAMESPACE), False
        except ValueError:
            chosen = {
                "num_cpus": 0,
                "scheduling_strategy": "SPREAD",
                **self._ray_options,
                "name": name,
                "namespace": NAMESPACE,
                "lifetime": "detached" if self._detached else None,
                "max_restarts": -1,
                "max_task_retries": 0,
                "max_concurrency": CONCURRENCY,
                "max_pending_calls": PENDING_MAX,
            }
        settings = ShardSettings(number=number, shards=self._shards, place=self._place, options=self._options)
        try:
            return kind.options(**chosen).remote(settings), True
        except ValueError as error:
            # Another may have made it since: then it is his to end. (Ray's `get_if_exists` does not tell.)
            with suppress(ValueError):
                return ray.get_actor(name, namespace=NAMESPACE), False
            raise UsageError(f"Ray does not take these options: {error}") from None
        except (TypeError, AttributeError, PicklingError) as error:  # its words repeat what it was given
            raise UsageError(
                f"Ray does not take these options, or cannot pickle an object in them ({type(error).__name__})"
            ) from None

    def _name(self, number: int) -> str:
        digest = blake2b(self._place.encode(), digest_size=8).hexdigest()
        return f"actormem {digest} {shard_name(number)}"


async def _opened(shards: ShardsAsking, start_s: float) -> None:
    try:
        await shards.ask("health", timeout_s=start_s)
    except AskTimeoutError:
        raise AskTimeoutError(
            f"the shards are not open after {start_s:g} s; has a node what ray_options ask for?"
        ) from None


def _checked_place(place: object) -> str:
    if isinstance(place, str) and place.startswith(POSTGRES):
        notes_of(place)
        return place
    named: object = os.fspath(cast("os.PathLike[str]", place)) if isinstance(place, os.PathLike) else place
    if not isinstance(named, str) or not named:
        raise UsageError("place must be the name of a folder, or a postgresql:// URL")
    check_name(named)
    return str(Path(named).absolute())


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    known = [name for name in inspect.signature(actormem.open).parameters if name not in OURS]
    for name in options:
        if name not in known:
            raise UsageError(f"{name} is no option of a cluster", hint=f"known are {', '.join(known)}")
    return options


def _initialised_ray() -> Any:
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise UsageError(
            "a cluster needs Ray, which is not installed", hint="pip install 'actormem[ray]'"
        ) from None
    if sniffio.current_async_library() != "asyncio":
        raise UsageError("a cluster is opened on asyncio: Ray knows no other event loop")
    if not ray.is_initialized():
        raise UsageError(
            "Ray is not initialised", hint="call ray.init() before, in a cluster ray.init('auto')"
        )
    return ray
