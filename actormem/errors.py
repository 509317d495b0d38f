"""One tree of errors; each class says what the caller may conclude.

The law of the file, for the text of every error, and for every line of a log:

    it may name      parameters, types, counts, lengths, places in what was given, limits, choices there are;
                     numbers and switches as they were given; files; settings of `open` and models, which the
                     program chooses before anybody speaks
    it never holds   texts, queries, ids, names of fields in messages and documents, and no text that is given
                     for one session or user, such as a timezone or a task's values: a program passes those on
                     from its users. They are told by their place, length or type; an id is an attribute of
                     NotFoundError, which a program may show or not.
"""

__all__ = [
    "ActorMemError",
    "AskTimeoutError",
    "BudgetError",
    "CorruptError",
    "FencedError",
    "FolderInUseError",
    "NotFoundError",
    "OverloadedError",
    "ProviderError",
    "StoppedError",
    "StorageError",
    "UsageError",
    "VersionError",
    "given_as",
]

WHOLE_BITS_MAX = 256  # Python refuses to write out a number of some thousand digits


def given_as(value: object) -> str:
    """A value that was refused, as an error may tell it: a number or a switch itself, of all else the type."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, int):
        return f"{int(value)}" if value.bit_length() <= WHOLE_BITS_MAX else "a longer number"
    return f"a {type(value).__name__}"


class ActorMemError(Exception):
    """The root: every error that this library raises on purpose."""


class UsageError(ActorMemError, ValueError):
    """The call is wrong. It was refused and nothing changed.

    Attributes:
        hint: What to do instead, or an empty string.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.hint = hint


class BudgetError(UsageError):
    """What must be kept does not fit. Nothing changed.

    Attributes:
        needed_tokens: Tokens that the part which must be kept takes.
        budget_tokens: Tokens there are for it.
    """

    def __init__(self, message: str, *, needed_tokens: int, budget_tokens: int, hint: str = "") -> None:
        super().__init__(f"{message}: needs {needed_tokens} tokens, has {budget_tokens}", hint=hint)
        self.needed_tokens = needed_tokens
        self.budget_tokens = budget_tokens


class NotFoundError(UsageError, LookupError):
    """No session, item or message of that id belongs to this owner. Nothing changed.

    Attributes:
        id: The id that was asked for.
    """

    def __init__(self, message: str, *, id: str) -> None:
        super().__init__(message)
        self.id = id


class FolderInUseError(UsageError):
    """Another process has the folder, or the schema of a database. Nothing changed.

    Attributes:
        pid: That process's id, or 0 where it is not known or on another machine.
    """

    def __init__(self, message: str, *, pid: int) -> None:
        super().__init__(message)
        self.pid = pid


class VersionError(UsageError):
    """The folder was written by a newer version of actormem. Nothing changed.

    Attributes:
        found: Format version of the folder.
        supported: Newest format version this library reads.
    """

    def __init__(self, message: str, *, found: int, supported: int) -> None:
        super().__init__(message)
        self.found = found
        self.supported = supported


class OverloadedError(ActorMemError):
    """A queue is full or a wait was too long. Refused, nothing changed; try later.

    Attributes:
        mailbox: Which queue refused.
        waiting: How many were waiting in it.
        limit: How many it holds.
    """

    def __init__(self, message: str, *, mailbox: str, waiting: int, limit: int) -> None:
        super().__init__(f"{message}: {mailbox} holds {waiting} of {limit}")
        self.mailbox = mailbox
        self.waiting = waiting
        self.limit = limit


class ProviderError(ActorMemError):
    """The outside model failed; our state is unchanged.

    Attributes:
        provider: Name of the model as it was configured.
        status: HTTP status, or 0 where there was none.
        retry_after_s: Seconds the provider asked us to wait; 0.0 where it did not say.
    """

    def __init__(self, message: str, *, provider: str, status: int = 0, retry_after_s: float = 0.0) -> None:
        super().__init__(f"{provider}: {message}")
        self.provider = provider
        self.status = status
        self.retry_after_s = retry_after_s


class AskTimeoutError(ActorMemError, TimeoutError):
    """No answer within the deadline. The outcome is unknown; the same message id may be sent again."""


class StoppedError(ActorMemError):
    """The one asked has ended: you closed it, it crashed, or its supervisor gave it up for a while.

    What was acknowledged before is kept. Where the text says that the outcome is unknown, the same message id may be
    sent again; otherwise nothing changed.

    Attributes:
        reason: Why it ended; of a crash, the type of the exception.
        retry_after_s: Seconds for which one that was given up answers nobody, before it is tried again; else 0.0.
    """

    def __init__(self, message: str, *, reason: str, retry_after_s: float = 0.0) -> None:
        super().__init__(f"{message}: {reason}")
        self.reason = reason
        self.retry_after_s = retry_after_s


class StorageError(ActorMemError):
    """The disk failed. The outcome of what was being written is unknown until the folder is opened again.

    Attributes:
        path: The file concerned.
    """

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(f"{message}: {path}")
        self.path = path


class CorruptError(StorageError):
    """Stored bytes are not what we wrote.

    Attributes:
        expected: What should be there.
        found: What is there.
    """

    def __init__(self, message: str, *, path: str, expected: str, found: str) -> None:
        super().__init__(f"{message}: expected {expected}, found {found}", path=path)
        self.expected = expected
        self.found = found


class FencedError(StorageError):
    """Another process took the record over, for this one was silent too long. What was being written is not stored.

    Whoever has it now goes on from all that was acknowledged; to write again here, open it again.

    Attributes:
        fence: The number under which it was ours.
        found: The number under which it is another's.
    """

    def __init__(self, message: str, *, path: str, fence: int, found: int) -> None:
        super().__init__(message, path=path)
        self.fence = fence
        self.found = found
