"""The trace: what is in a context, what was left out, why, and how long each step took.

The law of the file: a trace holds ids, names of ours and numbers, never a word of anybody's. So it may be logged,
and kept as long as the session.
"""

import unicodedata
from collections.abc import Sequence

import msgspec

__all__ = ["Included", "LeftOut", "Section", "Step", "Trace", "pack_trace", "packed_tokens", "unpack_trace"]

PRINT_COLUMNS = 100  # of a printed trace: what is longer is cut, its data are whole
PRINT_LEAVES = 12  # below one branch: the first of them, and how many more there are


class Section(msgspec.Struct, frozen=True):
    """Tokens of one section of the context."""

    name: str
    tokens: int


class Included(msgspec.Struct, frozen=True, kw_only=True):
    """One memory item the note of this turn shows."""

    id: str
    kind: str
    score: float
    why: str


class LeftOut(msgspec.Struct, frozen=True):
    """What is not in the context, by id (of an item, or of messages as `#first–#last`), and why."""

    id: str
    reason: str


class Step(msgspec.Struct, frozen=True):
    """How long one step took."""

    name: str
    elapsed_ms: float


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """Everything there is to know about one context; printed, a tree a person can read, 100 columns wide.

    As data it is `msgspec.to_builtins(trace)`: mappings, tuples, texts and numbers, under the names below. It comes
    back from JSON as it was: `msgspec.json.decode(msgspec.json.encode(trace), type=Trace)`. The print shortens long
    ids and lists; the data are whole.

    Attributes:
        turn_id: The turn it was built for; empty outside a turn.
        tokens: Of the whole context, in the tokens of `tokenizer`.
        budget_tokens: `Budget.context`.
        full_tokens: What the request would take with all of the history in it.
        exact: Whether `tokens` is the model's own count; otherwise it is an upper bound.
        tokenizer: Name of the vocabulary that counted.
        sections: Tokens by section, in wire order; they add up to `tokens`.
        included: Items the note of this turn shows, best first.
        left_out: Items and messages that are not there.
        gate: Why recall ran, or why it did not.
        degraded: Steps that missed their deadline or failed.
        steps: Milliseconds by step, in order.
        epoch: Number of the epoch, from 1.
        epoch_end: Why the epoch before ended, where this context begins a new one; else empty.
        stable_prefix_tokens: Tokens that stand, byte for byte, at the beginning of the context before too.
    """

    turn_id: str
    tokens: int
    budget_tokens: int
    full_tokens: int
    exact: bool
    tokenizer: str
    sections: tuple[Section, ...]
    included: tuple[Included, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    gate: str = ""
    degraded: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    epoch: int = 1
    epoch_end: str = ""
    stable_prefix_tokens: int = 0

    @property
    def elapsed_ms(self) -> float:
        """All steps together."""
        return sum(step.elapsed_ms for step in self.steps)

    def __str__(self) -> str:
        counted = self.tokenizer if self.exact else f"{self.tokenizer}, a bound"
        title = f"context {self.tokens} of {self.budget_tokens} tokens ({counted}), {self.elapsed_ms:.1f} ms"
        title += f", full history {self.full_tokens}"
        epoch = f"epoch {self.epoch}: {self.stable_prefix_tokens} tokens as before"
        if self.epoch_end:
            epoch += f", new because of {self.epoch_end}"
        branches: list[tuple[str, Sequence[str]]] = [
            (epoch, ()),
            ("sections", [f"{section.name} {section.tokens}" for section in self.sections]),
            (f"recall: {self.gate}" if self.gate else "", [_included(one) for one in self.included]),
            ("left out" if self.left_out else "", [f"{one.id}: {one.reason}" for one in self.left_out]),
            (f"degraded: {', '.join(self.degraded)}" if self.degraded else "", ()),
            ("steps", [f"{step.name} {step.elapsed_ms:.2f} ms" for step in self.steps]),
        ]
        lines = [title, *_tree([branch for branch in branches if branch[0]])]
        return "\n".join(_within(line, PRINT_COLUMNS) for line in lines)


class Counted(msgspec.Struct, frozen=True):
    """Of a packed trace, its tokens alone."""

    tokens: int


DECODER = msgspec.msgpack.Decoder(Trace)
COUNTED = msgspec.msgpack.Decoder(Counted)


def pack_trace(trace: Trace) -> bytes:
    """The trace as bytes, for the record."""
    return msgspec.msgpack.encode(trace)


def unpack_trace(packed: bytes) -> Trace | None:
    """The trace that `pack_trace` made these of; None where there is none, or another version's."""
    try:
        return DECODER.decode(packed) if packed else None
    except msgspec.MsgspecError:
        return None


def packed_tokens(packed: bytes) -> int:
    """`Trace.tokens` of a packed trace, 0 where there is none."""
    try:
        return COUNTED.decode(packed).tokens if packed else 0
    except msgspec.MsgspecError:
        return 0


def _included(one: Included) -> str:
    return f"{one.id} {one.kind} {one.score:.2f} ({one.why})"


def _tree(branches: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    lines: list[str] = []
    for place, (name, leaves) in enumerate(branches):
        last = place == len(branches) - 1
        lines.append(f"{'└─' if last else '├─'} {name}")
        more = len(leaves) - PRINT_LEAVES
        shown = leaves if more <= 1 else [*leaves[:PRINT_LEAVES], f"… {more} more"]
        for number, leaf in enumerate(shown):
            corner = "└─" if number == len(shown) - 1 else "├─"
            lines.append(f"{'   ' if last else '│  '}{corner} {leaf}")
    return lines


def _within(line: str, columns: int) -> str:
    """The line, cut where a terminal would break it; Chinese characters take two columns."""
    taken = 0
    for place, character in enumerate(line):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > columns - 1 and place + 1 < len(line):
            return f"{line[:place]}…"
    return line
