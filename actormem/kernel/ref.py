"""The address of an actor, and the three ways to send to it.

Law of this file: a ref holds no actor. It costs nothing until it is used, and works again after the
actor was passivated, crashed or stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Protocol

from actormem.errors import AskTimeoutError, OverloadedError
from actormem.kernel.clock import Clock
from actormem.kernel.mailbox import Mailbox
from actormem.kernel.reply import Envelope, Reply
from actormem.kernel.statistics import Counters
from actormem.kernel.wakeup import Wakeup

__all__ = ["Directory", "Ref"]


class Directory(Protocol):
    """Where the mailbox of a key is found; wakes the actor if need be."""

    name: str
    clock: Clock
    counters: Counters

    @property
    def new_wakeup(self) -> Callable[[], Wakeup]:
        """Makes what a task waits for on the running event loop."""
        ...

    def open(self, key: Hashable) -> Mailbox:
        """The mailbox of `key`. Raises StoppedError if the actor is given up or its kind has stopped."""
        ...


class Ref:
    """Sends to the actor of one key; the first message wakes it."""

    __slots__ = ("_directory", "key")

    def __init__(self, directory: Directory, key: Hashable) -> None:
        self._directory = directory
        self.key = key

    def __repr__(self) -> str:
        return f"<Ref to {self._directory.name}>"

    def tell(self, message: object, *, control: bool = False, coalesce: Hashable | None = None) -> None:
        """Send without waiting and without an answer.

        Args:
            message: Anything; best a frozen struct, since sender and actor share it.
            control: Use the lane that goes before the user lane.
            coalesce: If a message with this key waits in the lane, replace it in its place.

        Raises:
            OverloadedError: The lane is full. Nothing changed.
            StoppedError: The actor is given up for now, or the system stops. Nothing changed.
        """
        directory = self._directory
        mailbox = directory.open(self.key)
        if not mailbox.put(Envelope(message, None, coalesce), control=control):
            directory.counters.refused += 1
            raise OverloadedError(
                "the mailbox is full",
                mailbox=f"{directory.name}, {'control' if control else 'user'} lane",
                waiting=mailbox.lane_count(control=control),
                limit=mailbox.limit,
            )

    async def send(self, message: object) -> None:
        """Send without an answer, waiting for room in the mailbox for as long as it takes.

        If it is cancelled while it waits for room, the message is withdrawn.

        Raises:
            StoppedError: The actor is given up, or stopped while this waited. It was not handled.
        """
        mailbox = self._directory.open(self.key)
        envelope = Envelope(message, None)
        if mailbox.put(envelope, control=False):
            return
        receipt = Reply()
        mailbox.line_up(envelope, control=False, receipt=receipt)
        try:
            await receipt.wait(self._directory.new_wakeup)
        finally:
            if not receipt.answered:
                mailbox.withdraw(envelope, control=False)
        receipt.result()

    async def ask(self, message: object, *, timeout_s: float, control: bool = False) -> object:
        """Send and wait for the answer.

        Cancelling it never disturbs the actor: a message that has entered the mailbox is handled and
        its answer ignored; one that still waits for room is withdrawn.

        Args:
            timeout_s: Longest wait for room and answer together, in seconds, finite. Zero or less
                times out at the first wait.

        Returns:
            What the actor gave to `reply.answer`.

        Raises:
            AskTimeoutError: No answer in time; its text says whether the message had entered.
            StoppedError: The actor crashed, was given up or stopped, or the system stops.
            Exception: What the actor gave to `reply.fail` or raised as an ActorMemError.
        """
        assert timeout_s < math.inf, "every ask has a deadline"
        directory = self._directory
        mailbox = directory.open(self.key)
        reply = Reply()
        envelope = Envelope(message, reply)
        withdrawn = False
        if not mailbox.put(envelope, control=control):
            mailbox.line_up(envelope, control=control, receipt=None)
        try:
            with directory.clock.deadline(timeout_s):
                await reply.wait(directory.new_wakeup)
        finally:
            timed_out = not reply.answered
            if timed_out:
                reply.abandon()
                withdrawn = mailbox.withdraw(envelope, control=control)
        if not timed_out:
            return reply.result()
        if withdrawn:
            raise AskTimeoutError(f"{directory.name}: no room within {timeout_s:g} s; it was not handled")
        raise AskTimeoutError(f"{directory.name}: no answer within {timeout_s:g} s; the outcome is unknown")
