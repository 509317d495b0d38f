"""One shard as a client asks it: over Ray, within a deadline, and once more where its actor has died and that is safe.

Law: what may be asked twice is asked until the shard is back or the time is up; all else is sent once, to a shard that
answers, and where it dies meanwhile the error says that the outcome is unknown.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NoReturn
from uuid import uuid4

import anyio
import anyio.to_thread
import msgspec

from actormem.core.live import LiveEvent
from actormem.core.values import Owner
from actormem.distributed.messages import ANSWERED, BEGINNING_ANEW, NOT_OPEN, Asked, Told, told
from actormem.errors import AskTimeoutError, OverloadedError, StoppedError
from actormem.kernel import Clock
from actormem.remote.asking import LOST
from actormem.remote.connection import fail

__all__ = ["PENDING_MAX", "ShardCaller"]

PENDING_MAX = 4_096  # calls of one client to one shard
RETRY_S = 0.1
REPEATABLE = frozenset({
    "spawn", "settings", "context", "recall", "task", "set_task", "update_task", "clear_task",
    "open_turn", "add_in_turn", "turn_context", "reply", "leave_turn", "keep_turns",
    "sessions", "messages", "turns", "trace", "turn", "summaries", "items", "item", "archive", "value",
    "import_history", "import_knowledge", "export_user", "knowledge", "owners", "statistics", "health", "settle",
})  # fmt: skip
"""Operations that may be asked twice: they read, or name what they write by its id."""
FAILED = 400  # of `fail`, which tells by the text alone


class Died(Exception):  # noqa: N818 - a word between two functions
    """The actor is not there; `for_good` where Ray will not begin it anew."""

    def __init__(self, *, for_good: bool) -> None:
        super().__init__()
        self.for_good = for_good


class ShardCaller:
    """Asks one shard.

    Attributes:
        number: Which.
        life: The name of the life of the newest answer; empty before the first one.
    """

    def __init__(
        self, ray: Any, actor: Any, *, number: int, shards: int, name: str, namespace: str, clock: Clock
    ) -> None:
        self.number = number
        self.life = b""
        self._ray = ray
        self._actor = actor
        self._shards = shards
        self._name, self._namespace = name, namespace
        self._clock = clock
        self._missing = False
        self._looking = anyio.Lock()

    async def ask(self, name: str, query: Mapping[str, Any], body: bytes | None, timeout_s: float) -> bytes:
        """The answer of an operation, in JSON.

        Raises:
            As `Asking.ask`.
        """
        until_s = self._clock.monotonic_s() + timeout_s
        repeatable = name in REPEATABLE or (name == "add" and _named(body))
        while True:
            if self._missing:
                await self._look(until_s)
            try:
                answer = await self._once(
                    name, query, body, max(until_s - self._clock.monotonic_s(), RETRY_S)
                )
                break
            except Died as died:
                if died.for_good or not repeatable:
                    self._gone(died)
        return answer.raw if answer.kind == ANSWERED else fail(FAILED, answer.raw)

    async def metrics(self, timeout_s: float) -> str:
        """Its metrics, in Prometheus' text format."""
        answer = None
        with anyio.move_on_after(timeout_s):
            try:
                answer = told(await self._actor.metrics.remote())
            except self._ray.exceptions.PendingCallsLimitExceeded:
                _refuse()
            except self._ray.exceptions.RayError as error:
                self._gone(await self._died(error))
        if answer is None:
            raise AskTimeoutError(f"no answer within {timeout_s:g} s")
        return answer.raw.decode() if answer.kind == ANSWERED else fail(FAILED, answer.raw)

    @asynccontextmanager
    async def events(self, owner: Owner) -> AsyncGenerator[AsyncIterator[LiveEvent]]:
        """What happens to an owner's memory from here on."""
        try:
            stream = self._actor.events.options(num_returns="streaming").remote(msgspec.msgpack.encode(owner))
        except self._ray.exceptions.PendingCallsLimitExceeded:
            _refuse()
        try:
            await self._next(stream)  # it is looked on from here
            yield self._events(stream)
        finally:
            self._ray.cancel(stream)

    async def stop(self, timeout_s: float) -> None:
        """Have it close its record, and end it for good."""
        with anyio.move_on_after(timeout_s, shield=True):
            try:
                await self._actor.stop.remote()
            except self._ray.exceptions.RayError:
                self._missing = True  # it has nothing open
        self._ray.kill(self._actor, no_restart=True)

    # --- beneath -----------------------------------------------------------------------------------------

    async def _look(self, until_s: float) -> None:
        """Return when the shard is back; one caller looks for all that wait.

        Raises:
            StoppedError: The time is up, or it does not come back.
        """
        with anyio.move_on_after(until_s - self._clock.monotonic_s()):
            async with self._looking:
                while self._missing:
                    try:
                        await self._once(
                            "health", {}, None, max(until_s - self._clock.monotonic_s(), RETRY_S)
                        )
                    except Died as died:
                        if died.for_good:
                            self._gone(died)
                        await self._clock.sleep(RETRY_S)
                return
        self._gone(Died(for_good=False))

    async def _once(self, name: str, query: Mapping[str, Any], body: bytes | None, timeout_s: float) -> Told:
        call = uuid4().hex if name == "open_turn" else ""
        asked = msgspec.msgpack.encode(Asked(name, dict(query), body, timeout_s, call, self._shards))
        answer: Told | None = None
        try:
            with anyio.move_on_after(timeout_s):
                answer = told(await self._actor.ask.remote(asked))
        except self._ray.exceptions.PendingCallsLimitExceeded:
            _refuse()
        except self._ray.exceptions.RayError as error:
            self._missing = True
            died = await self._died(error)
            raise died from None
        except BaseException:  # cancelled: the turn is not to begin
            self._leave(call)
            raise
        if answer is None:
            self._leave(call)
            raise AskTimeoutError(f"no answer within {timeout_s:g} s; {LOST}")
        if answer.kind == NOT_OPEN and not self.life:
            return answer
        if answer.kind in (BEGINNING_ANEW, NOT_OPEN):
            self._missing = True
            raise Died(for_good=False)
        self._missing, self.life = False, answer.life
        return answer

    def _leave(self, call: str) -> None:
        if call:
            with suppress(
                self._ray.exceptions.RayError
            ):  # too many calls are on their way: the turn ends by its time
                self._actor.left.remote(call)

    async def _died(self, error: Exception) -> Died:
        """What an error of Ray's says of the actor."""
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.ActorUnavailableError):
            return Died(for_good=False)
        if isinstance(error, exceptions.RayActorError):
            return Died(for_good=not await anyio.to_thread.run_sync(self._is_known))
        return Died(for_good=True)

    def _is_known(self) -> bool:
        try:
            self._ray.get_actor(self._name, namespace=self._namespace)
        except (ValueError, self._ray.exceptions.RayError):
            return False
        return True

    def _gone(self, died: Died) -> NoReturn:
        if died.for_good:
            raise StoppedError(
                LOST, reason=f"shard {self.number} has been stopped, or cannot be run"
            ) from None
        raise StoppedError(LOST, reason=f"shard {self.number} has died, and is begun anew") from None

    async def _next(self, stream: Any) -> bytes:
        try:
            answer = told(await (await anext(stream)))
        except StopAsyncIteration:
            raise StoppedError("no more events come", reason="the shard has stopped") from None
        except self._ray.exceptions.RayError:
            raise StoppedError("no more events come", reason=f"shard {self.number} has died") from None
        return answer.raw if answer.kind == ANSWERED else fail(FAILED, answer.raw)

    async def _events(self, stream: Any) -> AsyncIterator[LiveEvent]:
        while True:
            event = await self._next(stream)
            if event:
                yield msgspec.json.decode(event, type=LiveEvent)


def _refuse() -> NoReturn:
    raise OverloadedError(
        "nothing was sent", mailbox="calls to the shard", waiting=PENDING_MAX, limit=PENDING_MAX
    ) from None


def _named(body: bytes | None) -> bool:
    """Whether all messages of an `add` have ids of their own: the same once more is not stored again."""
    messages = msgspec.json.decode(body or b"{}").get("messages", ())
    return all("id" in message for message in messages)
