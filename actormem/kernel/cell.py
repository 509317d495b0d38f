"""The loop of one actor: wakes an instance, hands it messages, heals it, lets it rest.

Law of this file: at most one instance at a time, and everything that waits for the actor is answered
before the cell ends. Nothing but the exit of the interpreter leaves `run` as an exception.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

import anyio
from anyio.lowlevel import checkpoint

from actormem.errors import ActorMemError, StoppedError
from actormem.kernel.actor import Actor
from actormem.kernel.kind import ForeignCancelError, Kind
from actormem.kernel.life import Life
from actormem.kernel.mailbox import Mailbox
from actormem.kernel.passivation import Residents
from actormem.kernel.ref import Ref
from actormem.kernel.reply import Envelope, Reply
from actormem.kernel.turnstile import is_urgent

__all__ = ["PASSIVATED", "Cell", "Ending"]

PASSIVATED = "passivated"
"""The reason that `stopped` is told when an actor rests."""
HOLD_COUNT = 64
"""Messages handled without waiting before other tasks get their turn: a full mailbox of the default size."""
HOLD_S = 0.005
"""The same in seconds, for messages that are slow: a quarter of the gap that design P12 allows."""


class Ending:
    """An end that was asked for, and the tells that are still to be handled before it."""

    __slots__ = ("ended", "last", "reason")

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.last: deque[Envelope] = deque()
        self.ended = anyio.Event()


class Cell:
    """One actor in memory."""

    __slots__ = (
        "_ending", "_kind", "_life", "_ref", "_residents", "_resting", "_scope", "_trial", "_waiting", "key",
        "mailbox", "task_id", "used_s",
    )  # fmt: skip

    def __init__(self, kind: Kind, key: Hashable, ref: Ref, residents: Residents[Cell]) -> None:
        self.key = key
        self.mailbox = Mailbox(kind.mailbox_limit, kind.counters)
        self.used_s = kind.clock.monotonic_s()
        self.task_id: int | None = None
        self._kind = kind
        self._ref = ref
        self._residents = residents
        self._life: Life | None = None
        self._ending: Ending | None = None
        self._resting = False
        self._waiting = False
        self._trial = False
        # Shielded: a cancelled caller must not tear actors down; only the system ends them, in order.
        self._scope = anyio.CancelScope(shield=True)

    async def run(self) -> None:
        """Be the task of this actor, until it rests or ends."""
        self.task_id = anyio.get_current_task().id
        reason = "cut off"
        try:
            with self._scope:
                alive = True
                while alive:
                    alive, reason = await self._live()
        except anyio.get_cancelled_exc_class():
            # Somebody cancelled the task itself, as asyncio.run does at its end. Let it end, but count it;
            # were it raised again, it would cancel the whole task group.
            self._kind.crashed(self.key, ForeignCancelError())
            reason = ForeignCancelError.__name__
            await self._close_foreign(reason)
        finally:
            self._residents.leave(self.key)
            self.dismiss(reason)

    @property
    def waiting(self) -> int:
        """Messages that wait for this actor, in its mailbox or before it."""
        last = len(self._ending.last) if self._ending is not None else 0
        return len(self.mailbox) + self.mailbox.senders + last

    def is_idle(self) -> bool:
        """True if it waits for messages and could rest."""
        return self._waiting and not self._resting and self._may_rest()

    def rest(self) -> None:
        """Rest when the loop comes to it, unless a message comes first."""
        self._resting = True
        self.mailbox.wake()

    def end(self, reason: str) -> Ending:
        """Begin to end: queued askers are answered, queued tells will be handled, then `stopped`.

        Messages that come later are for the next instance.
        """
        if self._ending is not None:
            return self._ending
        self._ending = Ending(reason)
        entered, outside = self.mailbox.drain()
        for envelope in entered:
            if envelope.reply is None:
                self._ending.last.append(envelope)
            else:
                envelope.reply.fail(self._unhandled(reason))
        for reply in outside:
            reply.fail(self._unhandled(reason))
        self.mailbox.wake()
        return self._ending

    def force(self) -> None:
        """End the instance now, whatever it is doing."""
        if self._life is not None:
            self._life.ending = True
            self._life.cancel.cancel()

    def cut(self, reason: str) -> None:
        """End the cell now, whatever it is doing, and answer everyone without waiting for it."""
        self.dismiss(reason)
        self._scope.cancel()

    def dismiss(self, reason: str) -> None:
        """Answer everyone who waits for this actor; discard, counted, what no one waits for."""
        entered, outside = self.mailbox.drain()
        ending = self._ending
        if ending is not None:
            entered.extend(ending.last)
            ending.last.clear()
        for envelope in entered:
            if envelope.reply is None:
                self._kind.counters.discarded += 1
            else:
                envelope.reply.fail(self._unhandled(reason))
        for reply in outside:
            reply.fail(self._unhandled(reason))
        if self._life is not None:
            self._life.answer_all(f"{self._kind.name} ended, the outcome is unknown", reason)
            self._life.cancel_children()
        if ending is not None:
            ending.ended.set()

    async def _live(self) -> tuple[bool, str]:
        """One instance. Returns whether another one is to follow, and why this one ended."""
        kind = self._kind
        life = self._life = Life(kind, self.key, self._ref, self._residents.shed)
        kind.counters.activations += 1
        self._trial = kind.book.on_trial(self.key)
        reason = ""
        try:
            with life.cancel:
                actor = await life.start()
                reason = await self._serve(actor, life)
                life.ending = True
                await self._say_goodbye(actor, reason)
        except Exception as error:
            life.failure = life.failure or error
        if life.failure is not None:
            return await self._after_crash(life, life.failure)
        reason = reason or (self._ending.reason if self._ending is not None else "cut off")
        life.answer_all(f"{kind.name} stopped, the outcome is unknown", reason)
        await life.close()
        self._life = None
        if reason == PASSIVATED:
            kind.counters.passivations += 1
            self._stay()
        if self._ending is not None and (reason != PASSIVATED or not self._ending.last):
            self._finish_ending()
        return bool(self.mailbox) or self._ending is not None, reason

    async def _serve(self, actor: Actor, life: Life) -> str:
        """Hand over messages until there is a reason to end."""
        monotonic_s, mailbox = self._kind.clock.monotonic_s, self.mailbox
        turnstile = self._kind.turnstile
        handled, since_s = 0, monotonic_s()
        while True:
            if life.failure is not None:
                raise life.failure  # a child crashed, and the message being handled was past its last wait
            envelope = mailbox.take() if self._ending is None else self._next_last()
            if envelope is not None:
                if self._resting:
                    self._stay()
                # Handled here and not in a function of its own, which would cost a fifth of a tell.
                reply = envelope.reply
                if reply is not None:
                    reply.hold(life.replies)
                elif not (mailbox or is_urgent(envelope.message) or turnstile.passes()):
                    await turnstile.wait()  # nobody waits for it, and nobody stands behind it
                try:
                    await actor.receive(envelope.message, reply)
                except ActorMemError as error:
                    self._answer(reply, error)
                if self._trial:
                    self._trial = False
                    self._kind.book.survived(self.key)
                self.used_s = monotonic_s()
                handled += 1
                if handled >= HOLD_COUNT or self.used_s - since_s >= HOLD_S:
                    self._residents.touch(self.key, self)
                    await checkpoint()
                    handled, since_s = 0, monotonic_s()
                continue
            if handled:
                self._residents.touch(self.key, self)
            if self._ending is not None:
                return self._ending.reason
            if self._resting:
                if self._may_rest():
                    return PASSIVATED
                self._stay()
            # Who waits for the next message does not keep the last one and its answer.
            envelope = reply = None
            self._waiting = True
            self._residents.shed()
            if not self._resting:
                await mailbox.wait(self._kind.new_wakeup)
            self._waiting = False
            handled, since_s = 0, monotonic_s()

    def _answer(self, reply: Reply | None, error: ActorMemError) -> None:
        if reply is None or reply.answered:
            self._kind.note(error)
        else:
            reply.fail(error)

    async def _say_goodbye(self, actor: Actor, reason: str) -> None:
        try:
            with self._kind.clock.deadline(self._kind.stop_s) as scope:
                await actor.stopped(reason)
        except Exception as error:
            self._kind.note(error)
        else:
            if scope.cancelled_caught:
                self._kind.note(TimeoutError())

    async def _after_crash(self, life: Life, error: Exception) -> tuple[bool, str]:
        kind = self._kind
        name = type(error).__name__
        given_up = kind.crashed(self.key, error)
        life.answer_all(f"{kind.name} crashed, the outcome is unknown", name)
        await life.close()
        self._life = None
        self._waiting = False
        self._stay()
        if self._ending is not None:
            self._finish_ending()
            return bool(self.mailbox) and not given_up, name
        if given_up:
            return False, f"given up after {name}"
        kind.counters.restarts += 1
        await checkpoint()
        return True, name

    async def _close_foreign(self, reason: str) -> None:
        if self._life is not None:
            self._life.answer_all(f"{self._kind.name} was cancelled, the outcome is unknown", reason)
            with anyio.CancelScope(shield=True):
                await self._life.close()

    def _stay(self) -> None:
        """Forget the wish that it should rest."""
        if self._resting:
            self._resting = False
            self._residents.stay(self.key)

    def _next_last(self) -> Envelope | None:
        assert self._ending is not None
        return self._ending.last.popleft() if self._ending.last else None

    def _may_rest(self) -> bool:
        life = self._life
        return (
            life is not None
            and self._ending is None
            and not self.mailbox
            and not life.is_pending()
            and life.actor_is_idle()
        )

    def _finish_ending(self) -> None:
        assert self._ending is not None
        self._kind.counters.discarded += len(self._ending.last)
        self._ending.ended.set()
        self._ending = None

    def _unhandled(self, reason: str) -> StoppedError:
        return StoppedError(f"{self._kind.name} ended before it handled this", reason=reason)
