"""Operations without HTTP: the same handlers, for whatever else carries a name, a query and a body.

Law: the answer is the JSON that HTTP would have had, and a failure the one it would have had: one set of structs is
all that is said between processes.
"""

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping

import anyio
import msgspec

from actormem import ActorMemError, AskTimeoutError
from actormem.remote.asking import LOST
from actormem.remote.failures import FailureAnswer, failure_of
from actormem.remote.operations import OPERATIONS, named
from actormem.server.calls import Call, decoded, owner_for, queried
from actormem.server.grants import LOCAL
from actormem.server.handling_items import ITEM_HANDLERS
from actormem.server.handling_sessions import SESSION_HANDLERS
from actormem.server.state import ServerState

__all__ = ["HANDLERS", "Answered", "answered", "failed", "frames"]

logger = logging.getLogger(__name__)
HANDLERS = {**SESSION_HANDLERS, **ITEM_HANDLERS}
assert set(HANDLERS) == {one.name for one in OPERATIONS}


class Answered(msgspec.Struct, frozen=True):
    """What became of an operation: its answer, or where `error` is not None its failure; JSON.

    Attributes:
        raw: The answer, or a `FailureAnswer`.
        error: What was raised, for whoever watches over the runtime.
    """

    raw: bytes
    error: BaseException | None = None


async def answered(
    state: ServerState,
    name: str,
    query: Mapping[str, object],
    body: bytes | None,
    *,
    timeout_s: float,
    gone: Callable[[], Awaitable[None]] = anyio.sleep_forever,
) -> Answered:
    """Do an operation as a server's handler does it.

    Args:
        name: One of `remote.operations`.
        query: Its query, values with their types.
        body: Its body in JSON; None where it has none.
        timeout_s: Seconds until it is cut off, with an AskTimeoutError.
        gone: Returns when the caller has left.
    """
    try:
        with anyio.move_on_after(timeout_s):
            return Answered(msgspec.json.encode(await _done(state, name, query, body, gone)))
        return failed(AskTimeoutError(f"no answer within {timeout_s:g} s; {LOST}"))
    except ActorMemError as error:
        return failed(error)
    except Exception as error:
        # Without the error's words, which may be anybody's.
        logger.error("%s failed: %s\n%s", name, type(error).__name__, frames(error))  # noqa: TRY400
        return failed(error)


async def _done(
    state: ServerState,
    name: str,
    query: Mapping[str, object],
    body: bytes | None,
    gone: Callable[[], Awaitable[None]],
) -> object:
    operation = named(name)
    asked = queried(operation, query, strict=True)
    owner = owner_for(operation, LOCAL, asked)
    said = None if operation.body is None else decoded(body or b"", operation.body)
    return await HANDLERS[name](Call(state, LOCAL, owner, asked, said, gone))


def failed(error: BaseException) -> Answered:
    """An error as an answer."""
    return Answered(msgspec.json.encode(FailureAnswer(failure_of(error))), error)


def frames(error: BaseException) -> str:
    """Where an error came from, without its words: they may be anybody's."""
    return "".join(traceback.format_tb(error.__traceback__))
