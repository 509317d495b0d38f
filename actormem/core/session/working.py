"""Working memory: what a session holds verbatim, and what stands for the rest.

Every value is frozen. Only events change the state: see `evolve`.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.layout import Layout
from actormem.core.entities import EntityTable
from actormem.core.policy import PolicyName
from actormem.core.prices import DEFAULT_PRICES, Prices
from actormem.core.session import events as ev
from actormem.core.task import Task
from actormem.core.values import Message
from actormem.limits import BUDGET_TOKENS_MIN, DEFAULT_CONTEXT_TOKENS, PRIMING_TOKENS

__all__ = [
    "Block",
    "Entry",
    "Note",
    "Ready",
    "Settings",
    "Working",
    "groups",
]

DEFAULT_BUDGET = Budget(context=DEFAULT_CONTEXT_TOKENS)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What spawn said last, and how the model is counted: prices of parts, and what usage has shown of it."""

    model: str = ""
    budget: Budget = DEFAULT_BUDGET
    timezone: str = ""
    policy: PolicyName = "auto"
    nonce: str = ""
    system: str = ""
    tools: str = ""  # JSON, empty for none
    system_tokens: int = 0
    tools_tokens: int = 0
    layout: Layout = Layout()
    layout_tokens: int = 0  # of a message the layout may need at the beginning
    scope: str = ""  # what is learned here belongs to it, and recall reaches no other
    knowledge: tuple[str, ...] = ()  # names of the tenant's knowledge bases that recalls look into
    prices: Prices = DEFAULT_PRICES
    factor: float = 0.0
    wide: bool = False
    extra_tokens: int = 0

    @property
    def format_tokens(self) -> int:
        """What every request takes beside its messages and tools: a constant that leaves messages their least room."""
        left = (
            self.budget.context - PRIMING_TOKENS - self.layout_tokens - self.system_tokens - self.tools_tokens
        )
        most = min(left // 2, left - BUDGET_TOKENS_MIN // 2)
        return PRIMING_TOKENS + min(self.extra_tokens, max(0, most))


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A message as contexts show it.

    Attributes:
        sequence: Its event.
        group: Sequence of the first message of its group: a tool call and its results share one.
        message: As it came in.
        wire: As it is shown: the same, or shortened.
        tokens: Of what is shown.
        whole_tokens: Of the message as it came in.
    """

    sequence: int
    group: int
    message: Message
    wire: str
    tokens: int
    whole_tokens: int


class Note(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What memory added at one user message: `merged` takes the message's place, `apart` stands before it.

    `items` are id and version of what it shows.
    """

    merged: str
    apart: str
    tokens: int
    apart_tokens: int
    items: tuple[tuple[str, int], ...] = ()
    told: ev.Told = ev.Told()


class Block(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What stands for the messages from `first` to `last`, where they stood: a summary, and exact values.

    `wire` is its message, with the exact values; empty where its words are gone.
    """

    first: int
    last: int
    summary: str
    wire: str
    tokens: int
    summary_tokens: int
    values_tokens: int
    method: str


class Ready(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A summary that waits to take the place of the messages from `first` to `last`, and of blocks between them.

    `merges`: the span begins with the first block.
    """

    first: int
    last: int
    merges: bool
    summary: str
    method: str


class Working(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one session.

    Attributes:
        sequence: Of the last event.
        entries: Messages no block stands for, oldest first.
        out: Sequences of entries that are not shown, because the budget was met.
        open_calls: Ids of tool calls that have no result yet.
        dropped: Blocks that are not shown, because they did not fit; older than `blocks`.
        ready: The summary that waits for its time, if one does.
        notes: By sequence of the user message they belong to; they end with the epoch, or as the layout says.
        noted: Sequence of the last user message whose note is decided.
        shown: Memory items this epoch shows: id to version.
        shown_at: And how much had been said (`history_tokens`) when each was shown last.
        profiled: Whether this epoch's profile is decided.
        head: Wire message with exact values of messages out of view, and the task; or an empty string.
        task: What the session is at, or None; `task_sequence` is the event that said so last, `task_shown`
            the one that this epoch shows, 0 for none.
        turn_id: Of the open turn, or an empty string.
        outcomes: Outcome of the turns that still have messages in `entries`, by turn id.
        history_tokens: Of every message there ever was, as counted when it came in.
        rewound: Sequence of the last rewind, or 0.
    """

    settings: Settings = Settings()
    sequence: int = 0
    entries: tuple[Entry, ...] = ()
    out: frozenset[int] = frozenset()
    open_calls: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    dropped: tuple[Block, ...] = ()
    ready: Ready | None = None
    head: str = ""
    head_tokens: int = 0
    head_task_tokens: int = 0
    task: Task | None = None
    task_sequence: int = 0
    task_shown: int = 0
    notes: dict[int, Note] = {}
    noted: int = 0
    shown: dict[str, int] = {}
    shown_at: dict[str, int] = {}
    profiled: bool = False
    entities: EntityTable = EntityTable()
    turn_id: str = ""
    outcomes: dict[str, str] = {}
    epoch_count: int = 0
    epoch_reason: str = ""
    message_count: int = 0
    history_tokens: int = 0
    compaction_count: int = 0
    rewound: int = 0

    @property
    def view(self) -> tuple[Entry, ...]:
        """The entries that contexts show, oldest first."""
        return (
            tuple(entry for entry in self.entries if entry.sequence not in self.out)
            if self.out
            else self.entries
        )

    @property
    def fixed_tokens(self) -> int:
        """What stands in a context beside verbatim messages and their notes."""
        settings = self.settings
        asked = settings.system_tokens + settings.tools_tokens + settings.layout_tokens
        return settings.format_tokens + asked + self.block_tokens + self.head_tokens

    @property
    def block_tokens(self) -> int:
        """What the summary blocks take."""
        return sum(block.tokens for block in self.blocks)

    @property
    def tokens(self) -> int:
        """Tokens of a context that shows all of the view with its notes."""
        return self.fixed_tokens + self.note_tokens + sum(entry.tokens for entry in self.view)

    @property
    def note_tokens(self) -> int:
        """What this epoch's notes take."""
        return sum(note.tokens for note in self.notes.values())

    @property
    def newest_user(self) -> Entry | None:
        """The newest user message, where it is not summarised away."""
        return next((entry for entry in reversed(self.entries) if entry.message.role == "user"), None)


def groups(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """The entries in units that are shown or left out together, oldest first."""
    found: list[list[Entry]] = []
    for entry in entries:
        if found and found[-1][0].group == entry.group:
            found[-1].append(entry)
        else:
            found.append([entry])
    return [tuple(group) for group in found]
