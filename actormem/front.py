"""What the front door's methods share: checked arguments, and asking an actor from the right loop."""

import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import wraps
from inspect import isawaitable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, cast, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import anyio.lowlevel
import msgspec

from actormem.actors.services import Services
from actormem.core.budget import Budget
from actormem.core.context.layout import Layout
from actormem.core.ids import checked_id
from actormem.core.observed import MemoryUsed, Operation
from actormem.core.text import clean
from actormem.core.values import ItemKind, Message, Owner, Recall
from actormem.core.wire import parse_message
from actormem.errors import NotFoundError, UsageError, given_as
from actormem.kernel import ActorSystem, Ref
from actormem.limits import ASK_TIMEOUT_S, ITEM_TEXT_CHARS_MAX, QUERY_CHARS_MAX
from actormem.statistics import Receipt

__all__ = [
    "UNSET",
    "Address",
    "FrontDoor",
    "Given",
    "Progress",
    "Unset",
    "check_settings",
    "item_text",
    "kinds_or_none",
    "milliseconds",
    "observed",
    "offset_minutes",
    "owner_of",
    "positive",
    "query_text",
    "share",
    "switch",
    "text_or_none",
    "told",
    "user_message",
    "whole",
    "zone_or_none",
]

Given = Mapping[str, object] | Message
Progress: TypeAlias = Callable[[int, int], Awaitable[None] | None]
"""Told how many are done of how many; a plain function, or one to be awaited."""
KNOWLEDGE_BASES_MAX = 8  # attached to one session: each is asked in each turn
KINDS: tuple[str, ...] = get_args(ItemKind)


UNSET = msgspec.UNSET
"""A setting that is not given: it stays as it was."""
Unset: TypeAlias = msgspec.UnsetType
Args = ParamSpec("Args")
Done = TypeVar("Done")
Door = TypeVar("Door", bound="FrontDoor")
Method: TypeAlias = Callable[Concatenate[Door, Args], Awaitable[Done]]


class Address(Protocol):
    """Where a session is asked: an actor's `Ref`, or the way to a server that has it."""

    def tell(self, message: object, *, control: bool = False) -> None:
        """Send without an answer."""
        ...

    async def ask(self, message: object, *, timeout_s: float, control: bool = False) -> object:
        """Send and wait for the answer."""
        ...


class FrontDoor:
    """Asks actors, from the loop the runtime was opened in."""

    def __init__(self, system: ActorSystem, services: Services) -> None:
        self._system = system
        self._services = services
        self._loop = anyio.lowlevel.current_token()
        self._pid = os.getpid()

    def check_loop(self) -> None:
        """A runtime belongs to its process and its event loop.

        Raises:
            UsageError: This is another one. In a fork its threads are gone, and its files are the parent's.
        """
        if os.getpid() != self._pid:
            raise UsageError(
                f"the runtime was opened in process {self._pid}, and this is a fork of it",
                hint="open one in each process, after it was forked",
            )
        if anyio.lowlevel.current_token() != self._loop:
            raise UsageError("the runtime was opened in another event loop", hint="open one in each loop")

    async def ask(self, ref: Ref, message: object, *, timeout_s: float = ASK_TIMEOUT_S) -> object:
        """The actor's answer, once nothing is half erased there."""
        self.check_loop()
        await self._services.unfinished.passed(ref.key)
        return await ref.ask(message, timeout_s=timeout_s)

    async def ask_memory(self, owner: Owner, message: object) -> object:
        """The answer of the owner's long-term memory."""
        return await self.ask(self._system.ref("longterm", owner), message)

    async def tell_of(
        self, operation: Operation, user: object, tenant: object, call: Awaitable[Done]
    ) -> Done:
        """What the call gives; observers are told of it when it has ended, however it ends."""
        clock, observers = self._services.clock, self._services.observers
        if not observers:
            return await call
        began_s, error, done = clock.monotonic_s(), "", None
        try:
            done = await call
        except BaseException as raised:
            error = type(raised).__name__
            raise
        else:
            return done
        finally:
            observers.tell(
                MemoryUsed(
                    owner=_owner(user, tenant),
                    operation=operation,
                    item_count=_count(done),
                    elapsed_ms=(clock.monotonic_s() - began_s) * 1000,
                    degraded=done.degraded if isinstance(done, Recall) else (),
                    error=error,
                )
            )

    async def attached(self, names: object, tenant: str) -> tuple[str, ...]:
        """The names of knowledge bases of the tenant that is asked, each once.

        Raises:
            NotFoundError: The tenant has no such base.
            UsageError: They are no names, or too many.
        """
        self.check_loop()
        if not isinstance(names, (list, tuple, set, frozenset)):
            raise UsageError(f"knowledge must be a list of names, not {type(names).__name__}")
        given = cast("Collection[object]", names)
        checked = tuple(dict.fromkeys(checked_id(name, "knowledge base") for name in given))
        if len(checked) > KNOWLEDGE_BASES_MAX:
            raise UsageError(f"at most {KNOWLEDGE_BASES_MAX} knowledge bases, not {len(checked)}")
        if checked:
            known = {row.name for row in await self._services.record.bases(tenant)}
            for name in checked:
                if name not in known:
                    raise NotFoundError("this tenant has no knowledge base of that name", id=name)
        return checked


def observed(
    operation: Operation,
) -> Callable[[Method[Door, Args, Done]], Callable[Concatenate[Door, Args], Coroutine[Any, Any, Done]]]:
    """A method of the front door that names a user, and tells observers when it has ended, however it ends."""

    def made(
        method: Method[Door, Args, Done],
    ) -> Callable[Concatenate[Door, Args], Coroutine[Any, Any, Done]]:
        @wraps(method)
        async def told(door: Door, *given: Args.args, **named: Args.kwargs) -> Done:
            user, tenant = named.get("user", given[0] if given else ""), named.get("tenant", "")
            return await door.tell_of(operation, user, tenant, method(door, *given, **named))

        return told

    return made


async def told(progress: Progress | None, done: int, total: int) -> None:
    """Tell how far it is, if anybody wants to know."""
    if progress is not None:
        waiting = progress(done, total)
        if isawaitable(waiting):
            await waiting


def owner_of(user: object, tenant: object) -> Owner:
    """The owner of these ids.

    Raises:
        UsageError: The user is missing or empty, or an id may not be one.
    """
    checked = checked_id(user, "user")
    return Owner(
        tenant if tenant == "" and isinstance(tenant, str) else checked_id(tenant, "tenant"), checked
    )


def whole(name: str, value: object) -> int:
    """The count, if it is a whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} must be a whole number above 0, not {given_as(value)}")
    return value


def switch(name: str, value: object) -> bool:
    """The value, if it is True or False."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be True or False, not {given_as(value)}")
    return value


def positive(name: str, value: float) -> float:
    """The number, if it is finite and above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise UsageError(f"{name} must be a number above 0, not {given_as(value)}")
    return value


def share(name: str, value: float) -> float:
    """The number, if it lies between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{name} must lie between 0 and 1, not {given_as(value)}")
    return value


def milliseconds(name: str, value: object) -> int:
    """The moment as UTC milliseconds."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise UsageError(f"{name} must be a datetime that carries its zone")
    return int(value.timestamp() * 1000)


def offset_minutes(value: datetime | None) -> int:
    """The moment's offset from UTC."""
    offset = value.utcoffset() if value else None
    return int(offset.total_seconds() // 60) if offset else 0


def kinds_or_none(kinds: Sequence[str] | None) -> frozenset[str] | None:
    """The kinds of items asked for; None for all."""
    if kinds is None:
        return None
    if isinstance(kinds, str) or not all(kind in KINDS for kind in kinds):
        raise UsageError(f"kinds must be a list of {', '.join(KINDS)}")
    return frozenset(kinds)


def user_message(given: object) -> Message:
    """The message a turn begins with: the user's, and it says something.

    Raises:
        UsageError: It is not a message of a user, or has null content or no parts: a provider would refuse it.
    """
    message = parse_message(given)
    if message.role != "user":
        raise UsageError(f"a turn begins with a user message, not one of role {message.role}")
    if not isinstance(message.content, str) and not message.content:
        raise UsageError(
            "a user's message must have content, text or a list of parts, not null and not an empty list"
        )
    return message


def item_text(text: object) -> str:
    """A memory's text, trimmed."""
    words = clean(text).strip() if isinstance(text, str) else ""
    if not words or len(words) > ITEM_TEXT_CHARS_MAX:
        raise UsageError(f"a memory must be text of 1 to {ITEM_TEXT_CHARS_MAX} characters, not {len(words)}")
    return words


def query_text(query: object) -> str:
    """The words to recall for."""
    if not isinstance(query, str) or len(query) > QUERY_CHARS_MAX:
        raise UsageError(f"a query must be text of at most {QUERY_CHARS_MAX} characters")
    return clean(query)


def check_settings(budget: object, layout: object) -> None:
    """Refuse a budget or a layout that was given and is none."""
    for name, given, kind in (("budget", budget, Budget), ("layout", layout, Layout)):
        if given is not UNSET and not isinstance(given, kind):
            raise UsageError(f"{name} must be an actormem.{kind.__name__}, not {type(given).__name__}")


def text_or_none(name: str, value: object) -> str | None:
    """The text given for a setting, or None where it was not given."""
    if value is msgspec.UNSET:
        return None
    if not isinstance(value, str):
        raise UsageError(f"{name} must be text, not {type(value).__name__}")
    return clean(value)


def zone_or_none(value: object) -> str | None:
    """The IANA zone given, or None where none was given; an empty text is UTC."""
    name = text_or_none("timezone", value)
    if name:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise UsageError(
                f"the timezone of {len(name)} characters is unknown",
                hint="use an IANA name such as Asia/Shanghai",
            ) from None
    return name


def _owner(user: object, tenant: object) -> Owner | None:
    try:
        return owner_of(user, tenant)
    except UsageError:
        return None


def _count(done: object) -> int:
    match done:
        case None:
            return 0
        case Recall():
            return len(done)
        case Receipt():
            return done.item_count
        case int():
            return done
        case _:
            return 1
