"""Errors on the wire, and back: the same class, with its text and its attributes.

An answer that is an error is `{"error": {"name": …, "message": …, …}}`: the class, one clear line, and the numbers of
the class beside them. What is not ours goes out as `InternalError`, without a word of it.
"""

import inspect
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from actormem import errors

__all__ = ["Failure", "FailureAnswer", "RefusedError", "failure_of", "raised", "status_of"]


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong.

    Attributes:
        name: Of the class of errors: `UsageError`, `NotFoundError`, `OverloadedError` and so on.
        message: One line; no words of anybody's.
        hint: What to do instead.
        id, pid, path: Of what was asked for, of the process that has the folder, of the file.
        needed_tokens, budget_tokens, waiting, limit, status, retry_after_s: Numbers of the class.
        mailbox, provider, reason, expected, found, supported, fence: What else the class tells.
    """

    name: str
    message: str
    hint: str = ""
    id: str = ""
    pid: int = 0
    path: str = ""
    needed_tokens: int = 0
    budget_tokens: int = 0
    mailbox: str = ""
    waiting: int = 0
    limit: int = 0
    provider: str = ""
    status: int = 0
    retry_after_s: float = 0.0
    reason: str = ""
    expected: str | int = ""
    found: str | int = ""
    supported: int = 0
    fence: int = 0


class FailureAnswer(msgspec.Struct, frozen=True):
    """The body of every answer that is an error."""

    error: Failure


class RefusedError(errors.UsageError):
    """The server refuses the request before it looks at it: no key, another's memory, too large, too often.

    Attributes:
        status: Of the HTTP answer.
        retry_after_s: Seconds after which it may be sent again; 0.0 where that is of no use.
    """

    def __init__(self, message: str, *, status: int, retry_after_s: float = 0.0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after_s = retry_after_s


STATUSES: tuple[tuple[type[errors.ActorMemError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.BudgetError, 422),
    (errors.FolderInUseError, 503),
    (errors.UsageError, 400),
    (errors.OverloadedError, 503),
    (errors.ProviderError, 502),
    (errors.AskTimeoutError, 504),
    (errors.StoppedError, 503),
)
CLASSES: dict[str, type[errors.ActorMemError]] = {
    name: cast("type[errors.ActorMemError]", getattr(errors, name))
    for name in errors.__all__
    if name.endswith("Error")
}
ATTRIBUTES = tuple(name for name in Failure.__struct_fields__ if name not in ("name", "message"))


def failure_of(error: BaseException) -> Failure:
    """The error as the wire has it."""
    if isinstance(error, RefusedError):
        name = "OverloadedError" if error.status == 429 else "UsageError"
    elif isinstance(error, errors.ActorMemError):
        name = next(one.__name__ for one in type(error).__mro__ if one.__name__ in CLASSES)
    else:
        return Failure(name="InternalError", message="the server failed; the outcome is unknown")
    told = {key: value for key in ATTRIBUTES if (value := getattr(error, key, None))}
    return Failure(name=name, message=" ".join(str(error).split()), **told)


def status_of(error: BaseException) -> int:
    """The HTTP status of an error."""
    if isinstance(error, RefusedError):
        return error.status
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def raised(failure: Failure) -> errors.ActorMemError:
    """The error that this was made of.

    It is made without its constructor, which would put its numbers into the text a second time.
    """
    kind = CLASSES.get(failure.name)
    if kind is None:
        return errors.AskTimeoutError(f"{failure.message} ({failure.name})")
    error = kind.__new__(kind)
    error.args = (failure.message,)
    for name in _attributes(kind):
        setattr(error, name, getattr(failure, name))
    return error


def _attributes(kind: type[errors.ActorMemError]) -> frozenset[str]:
    """The attributes that a class and those it is derived from give their errors."""
    found: set[str] = set()
    for one in kind.__mro__:
        if one.__module__ == errors.__name__ and "__init__" in vars(one):
            constructor: Mapping[str, Any] = inspect.signature(one).parameters
            found |= {name for name in constructor if name != "message"}
    return frozenset(found)
