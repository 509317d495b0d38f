"""The front door for programs without an event loop: the same methods, each of which waits for its answer.

    with actormem.blocking.open("memory/") as runtime:
        session = runtime.spawn("s-1", user="ada")
        with session.turn("Where is my parcel?") as turn:
            turn.reply(ask_a_model(turn.messages))
        print(runtime.recall("parcel", user="ada").hits)

The runtime lives in a thread of its own, on an asyncio loop of its own; every call is done there, and any number of
threads may call. An interrupt (Ctrl-C) ends the wait at once and cancels what was waited for, as cancelling a task
does; the memory stays sound, and leaving the `with` block closes it as ever. Programs that have a loop use
`actormem.open`: a wait here would hold it.

A method is made of the one it waits for, so that names, types, defaults and docstrings cannot differ.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager, suppress
from functools import partial, wraps
from inspect import isawaitable
from threading import get_ident
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import anyio
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal, start_blocking_portal

from actormem import opening, runtime, session, task, turn
from actormem.closing import Remaining
from actormem.core.context.trace import Trace
from actormem.core.live import LiveEvent
from actormem.core.values import JsonValue, SessionKey
from actormem.errors import ActorMemError, StoppedError, UsageError
from actormem.interruptible import result_of

__all__ = ["Runtime", "Session", "SessionTask", "Turn", "open"]

P = ParamSpec("P")
Answer = TypeVar("Answer")
Inner = TypeVar("Inner")
Handle = TypeVar("Handle")


class LoopThread:
    """The thread in which the runtime lives, and the way into it."""

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal
        self._thread = portal.call(get_ident)
        self._pid = os.getpid()

    def answer(self, function: Callable[..., Any], *args: object, **named: object) -> Any:
        """What the function returns when it is called in the thread, awaited where it is to be awaited.

        Raises:
            StoppedError: The memory is closed.
            UsageError: This is the thread itself, or a fork of the process.
        """
        if os.getpid() != self._pid:
            raise UsageError(
                f"the runtime was opened in process {self._pid}, and this is a fork of it",
                hint="open one in each process, after it was forked",
            )
        if get_ident() == self._thread:
            raise UsageError(
                "a blocking call from the runtime's own thread would wait for itself",
                hint="make it after the callback has returned",
            )
        work = Work(partial(function, *args, **named))
        try:
            waiting = self._portal.start_task_soon(work.done)
        except RuntimeError:
            raise _closed() from None
        except BaseException:  # an interrupt: it may have begun
            self._abandon(work)
            raise
        try:
            return result_of(waiting)
        except CancelledError:
            raise _closed() from None
        except BaseException:
            if not waiting.done():
                self._abandon(work)
            raise

    def _abandon(self, work: "Work") -> None:
        work.abandoned = True
        with suppress(RuntimeError):  # the loop has ended, and the work with it
            self._portal.start_task_soon(work.stop)


class Work:
    """One call on its way, which may be abandoned before it begins and while it waits.

    Attributes:
        abandoned: Nobody wants its answer any more.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self.abandoned = False
        self._call = call
        self._scope: anyio.CancelScope | None = None

    async def done(self) -> Any:
        """Do it; None where it was abandoned."""
        if self.abandoned:
            return None
        with anyio.CancelScope() as self._scope:
            answer = self._call()
            return await answer if isawaitable(answer) else answer
        return None

    def stop(self) -> None:
        """Cancel it, where it waits; in the loop's thread."""
        if self._scope is not None:
            self._scope.cancel()


def _closed() -> StoppedError:
    return StoppedError("the memory is closed", reason="its `with` block was left")


class Held(Generic[Inner]):
    """A handle for any thread, of one that belongs to the loop."""

    def __init__(self, loop: LoopThread, inner: Inner) -> None:
        self._loop = loop
        self._inner = inner

    def __repr__(self) -> str:
        return repr(self._inner)


@overload
def waits(
    method: Callable[Concatenate[Inner, P], Awaitable[Answer]],
) -> Callable[Concatenate[Held[Inner], P], Answer]: ...
@overload
def waits(
    method: Callable[Concatenate[Inner, P], Awaitable[Answer]], handle: Callable[[LoopThread, Answer], Handle]
) -> Callable[Concatenate[Held[Inner], P], Handle]: ...
def waits(
    method: Callable[..., Awaitable[Any]], handle: Callable[[LoopThread, Any], Any] | None = None
) -> Any:
    """The method of a handle that waits for this one.

    Args:
        handle: Makes a handle of the answer, where that belongs to the loop too.
    """
    return calls(method, handle) if handle is not None else calls(method)


@overload
def calls(
    method: Callable[Concatenate[Inner, P], Answer],
) -> Callable[Concatenate[Held[Inner], P], Answer]: ...
@overload
def calls(
    method: Callable[Concatenate[Inner, P], Answer], handle: Callable[[LoopThread, Answer], Handle]
) -> Callable[Concatenate[Held[Inner], P], Handle]: ...
def calls(method: Callable[..., Any], handle: Callable[[LoopThread, Any], Any] | None = None) -> Any:
    """The method of a handle that calls this one, which waits for nothing, in the loop's thread."""

    @wraps(method)
    def call(held: Held[Any], *args: object, **named: object) -> Any:
        answer = held._loop.answer(method, held._inner, *args, **named)  # pyright: ignore[reportPrivateUsage]
        return answer if handle is None else handle(held._loop, answer)  # pyright: ignore[reportPrivateUsage]

    return call


class Within(Held[AbstractContextManager[None]]):
    """A `with` block that is entered and left in the loop's thread."""

    def __enter__(self) -> None:
        self._loop.answer(self._inner.__enter__)

    def __exit__(self, *error: object) -> None:
        self._loop.answer(self._inner.__exit__, None, None, None)


class Following(Held[AbstractAsyncContextManager[AsyncIterator[LiveEvent]]]):
    """A `with` block that gives what happens, one event after the other; a thread that asks waits for the next."""

    def __enter__(self) -> Iterator[LiveEvent]:
        events = self._loop.answer(self._inner.__aenter__)
        return iter(partial(self._loop.answer, anext, events, None), None)

    def __exit__(self, *error: object) -> None:
        self._loop.answer(self._inner.__aexit__, None, None, None)


class Turn(Held[turn.Turn]):
    """One turn of a session, as a `with` block; see `actormem.Turn`."""

    def __enter__(self) -> Self:
        try:
            self._loop.answer(self._inner.__aenter__)
        except Exception:
            raise
        except BaseException as interrupt:  # it may have been opened all the same
            with suppress(ActorMemError):
                self._loop.answer(self._inner.__aexit__, type(interrupt), interrupt, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.answer(self._inner.__aexit__, kind, error, trace)

    feed = calls(turn.Turn.feed)
    reply = calls(turn.Turn.reply)
    add = waits(turn.Turn.add)
    context = waits(turn.Turn.context)
    shrink = waits(turn.Turn.shrink)
    end = waits(turn.Turn.end)

    @property
    def is_open(self) -> bool:
        """Whether it was entered and has not ended."""
        return self._inner.is_open

    @property
    def messages(self) -> list[dict[str, JsonValue]]:
        """The newest context, ready for `chat.completions.create(messages=…)`."""
        return self._inner.messages

    @property
    def cache_breakpoints(self) -> tuple[int, ...]:
        """Places in `messages` where a cached prefix may end."""
        return self._inner.cache_breakpoints

    @property
    def trace(self) -> Trace:
        """The trace of the newest context."""
        return self._inner.trace

    @property
    def id(self) -> str:
        """The id of the user's message. The same id resumes an unanswered turn."""
        return self._inner.id

    @property
    def first_token_ms(self) -> float | None:
        """From the context to the first streamed word, or None."""
        return self._inner.first_token_ms

    @property
    def prompt_tokens(self) -> int:
        """What the provider counted for the last request it told the usage of, or 0."""
        return self._inner.prompt_tokens


class SessionTask(Held[task.SessionTask]):
    """What a session is at; see `actormem.Session.task`."""

    set = waits(task.SessionTask.set)
    update = waits(task.SessionTask.update)
    clear = waits(task.SessionTask.clear)
    get = waits(task.SessionTask.get)


class Session(Held[session.Session]):
    """A handle of one session; see `actormem.Session`."""

    turn = calls(session.Session.turn, Turn)
    add = waits(session.Session.add)
    add_many = waits(session.Session.add_many)
    context = waits(session.Session.context)
    messages = waits(session.Session.messages)
    turns = waits(session.Session.turns)
    trace = waits(session.Session.trace)
    rewind = waits(session.Session.rewind)

    @property
    def key(self) -> SessionKey:
        """Which session of whom it is."""
        return self._inner.key

    @property
    def settings(self) -> dict[str, object]:
        """The settings it had when this handle was made, as `Runtime.spawn` takes them."""
        return self._inner.settings

    @property
    def task(self) -> SessionTask:
        """What the session is at: `set`, `update`, `clear`, `get`."""
        return SessionTask(self._loop, self._inner.task)


class Runtime(Held[runtime.Runtime]):
    """A memory that is open; see `actormem.Runtime`. Made by `open`, good for any thread until its block is left.

    A function given as `progress` or to `observe` is called in the runtime's own thread: it must be quick, and make
    no call here.
    """

    spawn = waits(runtime.Runtime.spawn, Session)
    sessions = waits(runtime.Runtime.sessions)
    settle = waits(runtime.Runtime.settle)
    statistics = calls(runtime.Runtime.statistics)
    observe = calls(runtime.Runtime.observe, Within)
    events = calls(runtime.Runtime.events, Following)

    recall = waits(runtime.Runtime.recall)
    remember = waits(runtime.Runtime.remember)
    items = waits(runtime.Runtime.items)
    item = waits(runtime.Runtime.item)
    value = waits(runtime.Runtime.value)
    edit = waits(runtime.Runtime.edit)
    import_history = waits(runtime.Runtime.import_history)
    forget = waits(runtime.Runtime.forget)
    forget_session = waits(runtime.Runtime.forget_session)
    forget_user = waits(runtime.Runtime.forget_user)
    export_user = waits(runtime.Runtime.export_user)

    archive = waits(runtime.Runtime.archive)
    checkup = waits(runtime.Runtime.checkup)
    owners = waits(runtime.Runtime.owners)
    import_knowledge = waits(runtime.Runtime.import_knowledge)
    knowledge = waits(runtime.Runtime.knowledge)
    remove_knowledge = waits(runtime.Runtime.remove_knowledge)

    @property
    def remaining(self) -> Remaining | None:
        """What was left to do when it was closed; None while it is open."""
        return self._inner.remaining


def _opens(
    opener: Callable[P, AbstractAsyncContextManager[runtime.Runtime]],
) -> Callable[P, AbstractContextManager[Runtime]]:
    """The function that opens the same memory for any thread."""

    @wraps(opener)
    @contextmanager
    def opened(*args: P.args, **named: P.kwargs) -> Generator[Runtime, None, None]:
        with start_blocking_portal("asyncio") as portal:
            left = portal.call(anyio.Event)
            closing, inner = portal.start_task(_kept_open, opener(*args, **named), left)
            loop = LoopThread(portal)
            try:
                yield Runtime(loop, inner)
            finally:
                loop.answer(left.set)
                result_of(closing)

    return opened


async def _kept_open(
    opened: AbstractAsyncContextManager[runtime.Runtime],
    left: anyio.Event,
    *,
    task_status: TaskStatus[runtime.Runtime],
) -> None:
    async with opened as inner:
        task_status.started(inner)
        await left.wait()


open = _opens(opening.open)
