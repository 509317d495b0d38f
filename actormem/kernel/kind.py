"""What all actors of one kind share: settings, counters, the crash book, and how their tasks begin.

Law of this file: it records and reports; it never decides about an actor.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Coroutine, Hashable
from pathlib import PurePath
from typing import Never

import anyio
import anyio.abc
import msgspec

from actormem.errors import ActorMemError
from actormem.kernel.actor import Actor
from actormem.kernel.clock import Clock
from actormem.kernel.statistics import Counters
from actormem.kernel.supervisor import CrashBook, RestartWindow
from actormem.kernel.wakeup import Wakeup, wakeup_maker

__all__ = ["Crash", "ForeignCancelError", "Kind", "Tasks"]

ERROR_TEXT_LIMIT = 300
"""Characters kept of an error's text in `last_error`."""

logger = logging.getLogger("actormem.kernel")


class ForeignCancelError(Exception):
    """A task of ours was cancelled by something that does not own it; counted as a crash."""


class Crash(msgspec.Struct, frozen=True, kw_only=True):
    """One crash, as it is handed to `on_crash`."""

    kind: str
    key: Hashable
    error: Exception
    """The exception itself. Its text may hold words of a user: mind where it goes."""
    where: str
    """File, line and function that raised it."""
    given_up: bool


class Tasks:
    """Starts tasks in the system's task group, in the context in which the system was entered.

    Without that, an actor would keep the context variables of whoever sent its first message.
    """

    __slots__ = ("_context", "_group")

    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self._group = group
        self._context = contextvars.copy_context()

    def start(self, function: Callable[[], Coroutine[object, Never, object]]) -> None:
        self._context.copy().run(self._group.start_soon, function)


class Kind:
    """Settings and books of one kind of actor."""

    __slots__ = (
        "book",
        "clock",
        "counters",
        "factory",
        "mailbox_limit",
        "name",
        "new_wakeup",
        "on_crash",
        "stop_s",
        "tasks",
    )

    def __init__(
        self,
        name: str,
        factory: Callable[[Hashable], Actor],
        *,
        clock: Clock,
        mailbox_limit: int,
        restarts: RestartWindow,
        stop_s: float,
        on_crash: Callable[[Crash], None] | None,
    ) -> None:
        self.name = name
        self.factory = factory
        self.clock = clock
        self.mailbox_limit = mailbox_limit
        self.stop_s = stop_s
        self.on_crash = on_crash
        self.book = CrashBook(restarts)
        self.counters = Counters()
        self.tasks: Tasks | None = None
        self.new_wakeup: Callable[[], Wakeup] = anyio.Event

    def enter(self, tasks: Tasks) -> None:
        """The system was entered: its tasks may begin, and the event loop is known."""
        self.tasks = tasks
        self.new_wakeup = wakeup_maker()

    def start(self, function: Callable[[], Coroutine[object, Never, object]]) -> None:
        """Begin a task of one of its actors."""
        assert self.tasks is not None, "the system was not entered"
        self.tasks.start(function)

    def note(self, error: Exception) -> None:
        """Count an error that nobody waits for."""
        self.counters.errors += 1
        name = type(error).__name__
        ours = isinstance(error, ActorMemError)
        self.counters.last_error = f"{name}: {error}"[:ERROR_TEXT_LIMIT] if ours else name

    def crashed(self, key: Hashable, error: Exception) -> bool:
        """Count a crash and report it. True if the actor is to be given up."""
        name = type(error).__name__
        given_up = self.book.crashed(key, self.clock.monotonic_s(), name)
        self.counters.last_crash = name
        if given_up:
            self.counters.given_up += 1
        where = place(error)
        logger.warning(
            "an actor of kind %s crashed: %s at %s%s",
            self.name,
            name,
            where,
            "; given up" if given_up else "",
        )
        if self.on_crash is not None:
            crash = Crash(kind=self.name, key=key, error=error, where=where, given_up=given_up)
            try:
                self.on_crash(crash)
            except Exception as fault:
                self.note(fault)
        return given_up


def place(error: Exception) -> str:
    """Where an exception was raised, without its text."""
    frames = error.__traceback__
    if frames is None:
        return "an unknown place"
    while frames.tb_next is not None:
        frames = frames.tb_next
    code = frames.tb_frame.f_code
    return f"{PurePath(code.co_filename).name}:{frames.tb_lineno} in {code.co_name}"
