"""Runs checks over an adapter that is wrong, and tells which of them it fails.

Where no thread is at work, waiting is by a clock that jumps: an adapter that hangs fails its check at once.
"""

from collections.abc import Sequence
from typing import Any

import anyio
from trio.testing import MockClock

from actormem.testing.contracts import AsyncCheck, BrokenPromiseError

__all__ = ["broken"]


def broken(checks: Sequence[Any], make: Any, *, threads: bool = False) -> set[str]:
    """The names of the checks that this adapter fails; each message says what is promised."""
    errors = {check: failure(check, make, threads) for check in checks}
    for check, error in errors.items():
        assert error is None or str(error).startswith(f"{check.promise}\n")
    return {check.name for check, error in errors.items() if error is not None}


def failure(check: Any, make: Any, threads: bool) -> BrokenPromiseError | None:
    try:
        run(check, make, threads)
    except BrokenPromiseError as error:
        return error
    return None


def run(check: Any, make: Any, threads: bool) -> None:
    if isinstance(check, AsyncCheck):
        options = {} if threads else {"clock": MockClock(autojump_threshold=0.001)}
        anyio.run(check, make, backend="trio", backend_options=options)
    else:
        check(make)
