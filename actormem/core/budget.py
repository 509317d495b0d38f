"""How many tokens a context may have, and who may use how many of them."""

import math

import msgspec

from actormem import limits
from actormem.errors import BudgetError, UsageError, given_as

__all__ = ["Budget"]

RECENT_TOKENS_MIN = 8  # of a message that stays verbatim: its overhead and a word or two
TOKENS_MAX = 1_000_000_000  # far above any model's window; a number that storage can hold
PROFILE_SHARE_FIRST = 0.04  # of the first 1,000 tokens: two or three facts, said once in an epoch
PROFILE_SHARE = 0.01  # of the rest: a user has so many facts and no more
TASK_SHARE_FIRST = 0.08  # of the first 1,000 tokens: a goal, a step and a few values
TASK_SHARE = 0.02  # of the rest: the calls of a task, one line each
REPEAT_AFTER_TOKENS = 16_000  # as far back a model still finds a line well; below it a repeat is waste


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one session's contexts, set at spawn.

    Shares that are not given follow from `context`, from 64 tokens to 200,000; a small context has room for one fact.
    A share is a ceiling: what a section does not use goes to verbatim messages.

    Attributes:
        context: Tokens of the whole request: system prompt, tools, summary, notes, messages; at least 64.
        summary: Ceiling of the summary block.
        recall: Ceiling of one note of recalled memories.
        entities: Ceiling of the exact values shown for messages that are no longer verbatim.
        profile: Ceiling of what an epoch's first note says of the user.
        task: Ceiling of the lines that tell of the task.
        compact_at: Share of `context` at which a compaction is asked for.
        compact_to: Share of `context` that a compaction leaves.
        keep_recent: Messages that stay verbatim as long as a compaction is still worth it.
        repeat_after_tokens: Tokens of conversation after which an epoch may show a memory again.

    Raises:
        BudgetError: The shares together leave nothing for messages, or `keep_recent` messages of 8 tokens do not
            fit; with both numbers.
        UsageError: A value is not a number of its range; with the range.
    """

    context: int
    summary: int | None = None
    recall: int | None = None
    entities: int | None = None
    profile: int | None = None
    task: int | None = None
    compact_at: float = limits.COMPACT_AT
    compact_to: float = limits.COMPACT_TO
    keep_recent: int = limits.KEEP_RECENT_MESSAGES
    repeat_after_tokens: int = REPEAT_AFTER_TOKENS

    def __post_init__(self) -> None:
        _whole("context", self.context, limits.BUDGET_TOKENS_MIN)
        _whole("keep_recent", self.keep_recent, 0)
        _whole("repeat_after_tokens", self.repeat_after_tokens, 0)
        for name in ("summary", "recall", "entities", "profile", "task"):
            value: int | None = getattr(self, name)
            if value is not None:
                _whole(name, value, 0)
        _share("compact_at", self.compact_at)
        _share("compact_to", self.compact_to)
        if not self.compact_to < self.compact_at:
            raise UsageError(f"compact_to ({self.compact_to}) must be below compact_at ({self.compact_at})")
        if self.keep_recent * RECENT_TOKENS_MIN > self.context:
            raise BudgetError(
                f"keep_recent ({self.keep_recent} messages, {RECENT_TOKENS_MIN} tokens each at least) does not fit",
                needed_tokens=self.keep_recent * RECENT_TOKENS_MIN,
                budget_tokens=self.context,
            )
        shares = self.summary_tokens + self.recall_tokens + self.entities_tokens
        shares += (self.profile or 0) + (self.task or 0)  # by default these two take what is left
        if shares >= self.context:
            raise BudgetError(
                "the shares of what memory adds leave nothing for messages",
                needed_tokens=shares,
                budget_tokens=self.context,
            )

    @property
    def summary_tokens(self) -> int:
        """Ceiling of the summary blocks of a context without a prompt."""
        return self.summary_within(self.context)

    @property
    def recall_tokens(self) -> int:
        """Ceiling of one note."""
        return self.recall_within(self.context)

    @property
    def entities_tokens(self) -> int:
        """Ceiling of the exact values of a context without a prompt."""
        return self.entities_within(self.context)

    @property
    def profile_tokens(self) -> int:
        """Ceiling of the profile."""
        return _growing(self.context, PROFILE_SHARE_FIRST, PROFILE_SHARE, self.profile)

    @property
    def task_tokens(self) -> int:
        """Ceiling of the task's lines."""
        return _growing(self.context, TASK_SHARE_FIRST, TASK_SHARE, self.task)

    @property
    def message_tokens(self) -> int:
        """Ceiling of one message; what is over it is cut in the context, visibly."""
        return int(self.context * limits.MESSAGE_SHARE_MAX)

    def summary_within(self, room: int) -> int:
        """Ceiling of the summary blocks where prompt and tools leave `room` tokens of the context."""
        return _growing(room, limits.SUMMARY_SHARE_FIRST, limits.SUMMARY_SHARE, self.summary)

    def recall_within(self, room: int) -> int:
        """Ceiling of one note where prompt and tools leave `room` tokens of the context."""
        share = _growing(room, limits.RECALL_SHARE_FIRST, limits.RECALL_SHARE, self.recall)
        least = min(limits.NOTE_TOKENS_MIN, room // limits.NOTE_PART_MAX)
        return max(share, least) if self.recall is None else share

    def entities_within(self, room: int) -> int:
        """Ceiling of the exact values where prompt and tools leave `room` tokens of the context."""
        shares = limits.ENTITIES_SHARE_FIRST, limits.ENTITIES_SHARE
        given = (self.summary or 0) + (self.recall or 0) + (self.profile or 0) + (self.task or 0)
        free = max(0, room - given)  # a share that was given comes first
        return _growing(free, *shares, self.entities, limits.ENTITIES_FIRST_TOKENS)


def _growing(
    context: int, share_first: float, share: float, given: int | None, first_tokens: int = limits.FIRST_TOKENS
) -> int:
    """What was given; else one share of the first tokens of a context and a smaller one of the rest."""
    if given is not None:
        return given
    first = min(context, first_tokens)
    return int(first * share_first + (context - first) * share)


def _whole(name: str, value: object, minimum: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{name} must be a whole number of tokens, not {given_as(value)}")
    if value < minimum:
        raise UsageError(f"{name} must be at least {minimum}, not {given_as(value)}")
    if value > TOKENS_MAX:
        raise UsageError(f"{name} must be at most {TOKENS_MAX}")


def _share(name: str, value: object) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or math.isnan(value)
        or not 0 < value < 1
    ):
        raise UsageError(f"{name} must lie between 0 and 1, not {given_as(value)}")
