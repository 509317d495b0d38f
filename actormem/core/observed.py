"""What a runtime tells those who observe it: one frozen value for each step it has done.

The law of the file: it holds ids, names of ours and numbers, never a word of anybody's; ids are opaque and belong to
whoever chose them, so that an observer that writes them down does so knowingly.
"""

from typing import Literal, TypeAlias

import msgspec

from actormem.core.context.trace import Trace
from actormem.core.values import Owner

__all__ = ["ContextBuilt", "MemoryUsed", "ModelCalled", "Observed", "Operation", "Outcome", "TurnEnded"]

Operation = Literal[
    "recall", "remember", "edit", "archive", "import", "forget", "forget_session", "forget_user"
]
Outcome = Literal["complete", "partial", "unanswered", "failed"]


class ContextBuilt(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A context was built.

    Attributes:
        owner, session_id: Whose, and in which session.
        trace: What is in it, and how long each step took; of a turn it names the turn.
        elapsed_ms: From the question to the answer.
    """

    owner: Owner
    session_id: str
    trace: Trace
    elapsed_ms: float


class TurnEnded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A turn was left.

    Attributes:
        owner, session_id, turn_id: Whose, in which session, which.
        model: What its contexts were counted for; empty where the session names none.
        outcome: How it ended; `failed` where its block raised.
        context_count: Contexts it asked for: one, and one more after tools or after `shrink`.
        tokens: Of its last context, as we count.
        prompt_tokens: Of the last request, as the provider counted; 0 where it did not say.
        first_token_ms: From the context to the first word of a streamed reply; None where none came so.
        elapsed_ms: From entering it to its record.
        error: Type of what its block raised; else empty.
    """

    owner: Owner
    session_id: str
    turn_id: str
    model: str
    outcome: Outcome
    context_count: int
    tokens: int
    prompt_tokens: int
    first_token_ms: float | None
    elapsed_ms: float
    error: str = ""


class MemoryUsed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A method of the runtime was called for an owner's memory.

    Attributes:
        owner: Whose; None where the ids were none.
        operation: Which.
        item_count: Hits, or items that were made, changed or erased.
        elapsed_ms: From the call to its end.
        degraded: Steps of a recall that missed their deadline.
        error: Type of what it raised; else empty.
    """

    owner: Owner | None
    operation: Operation
    item_count: int
    elapsed_ms: float
    degraded: tuple[str, ...] = ()
    error: str = ""


class ModelCalled(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An LLM was called in the background: for a summary, for facts, or for other words for a query.

    Attributes:
        owner: For whom.
        model: Its name, as it was configured.
        prompt_tokens: Of the request, as we count.
        elapsed_ms: Until its reply or its failure.
        error: Type of its failure; else empty.
    """

    owner: Owner
    model: str
    prompt_tokens: int
    elapsed_ms: float
    error: str = ""


Observed: TypeAlias = ContextBuilt | TurnEnded | MemoryUsed | ModelCalled
