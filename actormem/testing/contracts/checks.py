"""A promise of a port as a check: it has a name, runs over what you built, and says what was broken.

Law of this file: a check fails in one way, by `BrokenPromiseError`, whatever the implementation did; it needs no test
runner, and no `assert`, which nobody would rewrite in an installed package.
"""

from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Final, Generic, ParamSpec, cast

import anyio

__all__ = ["AsyncCheck", "BrokenPromiseError", "Check", "promise", "promised", "refused", "require", "same"]

PATIENCE_S: Final = 60.0  # what has not ended by then hangs
SHOWN_CHARS: Final = 300  # of a value in a message

P = ParamSpec("P")


class BrokenPromiseError(AssertionError):
    """What you built does not keep a promise of its port; says which port, which promise, and what was found."""


class Check(Generic[P]):
    """One promise, checked over what `make` gives: `check(make)` returns None or raises BrokenPromiseError.

    Attributes:
        name: As a test would be called: `promise_2_a_label_added_again_has_its_new_vector`. Also what `str` gives.
        promise: The same in words, with its port and number.
    """

    def __init__(self, port: str, number: int, check: Callable[P, object]) -> None:
        self.name = f"promise_{number}_{check.__name__}"
        self.promise = f"{port}, promise {number}: {' '.join((check.__doc__ or '').split())}"
        self._check = check

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Check it.

        Raises:
            BrokenPromiseError: The promise is not kept.
        """
        with self.told():
            self._check(*args, **kwargs)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<check {self.name}>"

    @contextmanager
    def told(self) -> Generator[None, None, None]:
        """Whatever is raised inside is told as this promise, broken."""
        try:
            yield
        except BrokenPromiseError as broken:
            broken.args = (f"{self.promise}\n{broken}",)
            raise
        except Exception as error:
            raise BrokenPromiseError(f"{self.promise}\n{first_of(error)} was raised") from error


class AsyncCheck(Check[P]):
    """One promise, checked over what `make` gives: `await check(make)`, in any test runner, on asyncio or trio."""

    def __init__(self, port: str, number: int, check: Callable[P, Coroutine[object, object, None]]) -> None:
        super().__init__(port, number, check)
        self._coroutine = check

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Check it; what hangs is left after a minute.

        Raises:
            BrokenPromiseError: The promise is not kept.
        """
        with self.told(), anyio.move_on_after(PATIENCE_S) as scope:
            await self._coroutine(*args, **kwargs)
        with self.told():
            require(not scope.cancelled_caught, f"nothing came back within {PATIENCE_S:g} s")


def promise(port: str, number: int) -> Callable[[Callable[P, None]], Check[P]]:
    """Makes a function the check of a promise; its docstring is the promise."""
    return lambda check: Check(port, number, check)


def promised(
    port: str, number: int
) -> Callable[[Callable[P, Coroutine[object, object, None]]], AsyncCheck[P]]:
    """Makes a coroutine function the check of a promise; its docstring is the promise."""
    return lambda check: AsyncCheck(port, number, check)


def require(holds: object, found: str) -> None:
    """Fail the check, with what was found, unless it holds."""
    if not holds:
        raise BrokenPromiseError(found)


def same(found: object, expected: object, what: str) -> None:
    """Fail the check unless the two are equal; `what` names the thing that was looked at."""
    require(found == expected, f"{what} is {shown(found)}, not {shown(expected)}")


@contextmanager
def refused(kind: type[Exception], what: str) -> Generator[None, None, None]:
    """Fail the check unless the block raises this kind of error."""
    try:
        yield
    except kind:
        return
    raise BrokenPromiseError(f"{what} was taken; it must raise {kind.__name__}")


def first_of(error: Exception) -> str:
    """The kind of an error; of a group, that of its first."""
    while isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        error = group.exceptions[0]
    return type(error).__name__


def shown(value: object) -> str:
    """A value, short enough for a message."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
