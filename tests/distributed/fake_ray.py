"""Ray as far as a cluster uses it, in the test's own event loop: actors that die when they are told to, and come back.

Law: a call of a dead actor fails as Ray's do, and what it had begun is cut off; nothing is answered twice.
"""

import types
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel

__all__ = ["FakeRay"]


class RayError(Exception):
    """As Ray's."""


class RayActorError(RayError):
    """As Ray's."""


class ActorUnavailableError(RayActorError):
    """As Ray's."""


class PendingCallsLimitExceeded(RayError):
    """As Ray's."""


class FakeRay(types.ModuleType):
    """The module. Put it into `sys.modules` as `ray`.

    Attributes:
        actors: By name, those that are known.
        full: Whether clients have as many calls on their way as they may.
        unseen: How many of the next looks for an actor come before it is made.
        options: What the newest actor was made with.
        pickles: Whether what an actor is made with can be pickled.
    """

    def __init__(self, *, initialised: bool = True) -> None:
        super().__init__("ray")
        self.exceptions = types.SimpleNamespace(
            RayError=RayError,
            RayActorError=RayActorError,
            ActorUnavailableError=ActorUnavailableError,
            PendingCallsLimitExceeded=PendingCallsLimitExceeded,
        )
        self.actors: dict[str, FakeActor] = {}
        self.cancelled: list[object] = []
        self.full = False
        self.unseen = 0
        self.options: dict[str, Any] = {}
        self.pickles = True
        self._initialised = initialised

    def is_initialized(self) -> bool:
        """As Ray's."""
        return self._initialised

    def remote(self, kind: Callable[..., Any]) -> "Kind":
        """As Ray's."""
        return Kind(self, kind, {})

    def get_actor(self, name: str, namespace: str) -> "FakeActor":
        """As Ray's."""
        if self.unseen or name not in self.actors:
            self.unseen = max(0, self.unseen - 1)
            raise ValueError(name)
        return self.actors[name]

    def kill(self, actor: "FakeActor", *, no_restart: bool) -> None:
        """As Ray's."""
        assert no_restart
        actor.dead = True
        self.actors = {name: one for name, one in self.actors.items() if one is not actor}

    def cancel(self, stream: object) -> None:
        """As Ray's."""
        self.cancelled.append(stream)


class Kind:
    """A class that is made actors of."""

    def __init__(self, ray: FakeRay, kind: Callable[..., Any], options: dict[str, Any]) -> None:
        self._ray, self._kind, self._options = ray, kind, options

    def options(self, **options: Any) -> "Kind":
        """As Ray's."""
        return Kind(self._ray, self._kind, options)

    def remote(self, *arguments: object) -> "FakeActor":
        """Make one, at its first call: it belongs to the event loop."""
        if not self._ray.pickles:
            raise TypeError(f"Could not serialize the argument {arguments!r}")
        self._ray.options = self._options
        known = self._ray.actors.get(self._options["name"])
        if known is not None:
            if self._options.get("get_if_exists"):
                return known
            raise ValueError("the name is already taken")
        actor = FakeActor(self._ray, lambda: self._kind(*arguments))
        self._ray.actors[self._options["name"]] = actor
        return actor


class FakeActor:
    """An actor that can be ended, and is begun anew by its next call.

    Attributes:
        away: Whether calls fail: it has died, and is not back.
        knocked: Set when it was called while it was away.
        lost: Words of calls the first of whose answers is lost, its process dying when it is done.
    """

    def __init__(self, ray: FakeRay, make: Callable[[], Any]) -> None:
        self.dead = self.away = False
        self.knocked = anyio.Event()
        self.lost: list[bytes] = []
        self.ray = ray
        self._make = make
        self._made: Any = None

    @property
    def made(self) -> Any:
        """The object."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def __getattr__(self, name: str) -> "Method":
        return Method(self, name)

    def check(self) -> None:
        """Raises as Ray does where the actor is not there."""
        if self.dead:
            raise RayActorError
        if self.away:
            self.knocked.set()
            raise ActorUnavailableError

    async def die(self) -> None:
        """Its process ends; what it had open is closed, for the next to take over."""
        self.away = True
        if self._made is not None:
            await self._made.stop()
            self._made = None

    async def call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """What a method gives, as Ray gives it."""
        self.check()
        made = self.made
        answer = await getattr(made, name)(*arguments)
        if any(
            word in argument for word in self.lost for argument in arguments if isinstance(argument, bytes)
        ):
            self.lost.clear()
            await self.die()
            self.away = False
            raise ActorUnavailableError
        if made is not self._made and name != "stop":
            raise ActorUnavailableError
        return answer


class Method:
    """A method of an actor."""

    def __init__(self, actor: FakeActor, name: str) -> None:
        self._actor, self._name = actor, name

    def options(self, **_: object) -> "Stream":
        """As Ray's, for streams."""
        if self._actor.ray.full:
            raise PendingCallsLimitExceeded
        return Stream(self._actor, self._name)

    def remote(self, *arguments: Any) -> Awaitable[Any]:
        """Call it; begun whether it is awaited or not."""
        if self._actor.ray.full:
            raise PendingCallsLimitExceeded
        if self._name == "left":
            return _Sent(self._actor, arguments)
        return self._actor.call(self._name, arguments)


class _Sent:
    """A call that nobody waits for."""

    def __init__(self, actor: FakeActor, arguments: tuple[Any, ...]) -> None:
        import asyncio

        self._task = asyncio.get_running_loop().create_task(actor.call("left", arguments))

    def __await__(self) -> Any:
        return self._task.__await__()


class Stream:
    """A method that streams."""

    def __init__(self, actor: FakeActor, name: str) -> None:
        self._actor, self._name = actor, name

    async def remote(self, *arguments: Any) -> AsyncGenerator[Awaitable[Any], None]:
        """Its parts."""
        async for part in getattr(self._actor.made, self._name)(*arguments):
            yield _given(part)


async def _given(part: Any) -> Any:
    await anyio.lowlevel.checkpoint()
    return part
