"""What is asked of a partition, and the texts that are embedded for it."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from actormem.core.recall.cues import first_person, named_speaker
from actormem.core.recall.named_dates import DAY_MS, day_number
from actormem.core.recall.transcripts import transcript
from actormem.core.recall.words import first_tokens, token_count
from actormem.core.values import Item

__all__ = ["Query", "index_text", "query_texts", "view_text"]

VIEW_CHARS_MAX: Final = 800  # an embedding of more says less
SEGMENT_TOKENS_MAX: Final = 30
SEGMENTS_MAX: Final = 8  # each costs an embedding on the reply path; the last ones are what is meant
SEGMENTED_TOKENS_MIN: Final = 80  # a message shorter than this means one thing
QUERY_VIEW_TOKENS: Final = 200  # of the whole of a query: its sense is its beginning, and its last segments
SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A question to one owner's memory.

    Attributes:
        text: The words.
        now_ms: The time, UTC milliseconds: what has expired by then is no hit.
        asked_ms: When the words were said, which tells what their "yesterday" is; 0: now.
        offset_minutes: Offset of the asker's clock from UTC: where "yesterday" ends.
        vector: (d,) or (s, d) float32 unit rows, embeddings of `Partition.query_texts(text)` in that order;
            None or zeros where there are none, and the other arms decide.
        limit: Hits wanted, at least 1.
        kinds: Only items of these kinds; None for all.
        attributes: Attributes the query names, as entity capture found them (`address`, `budget`).
        exclude: Ids of items that are not wanted.
        min_score: Hits below it are left out; None for no floor.
        at_ms: Search what was live at that time; None for now.
        scope: Only items of this scope and of none; None for all.
        deep: Archived items too.
        source_max: Hits of one message or one document at most; 0 for any number.
    """

    text: str
    now_ms: int
    asked_ms: int = 0
    offset_minutes: int = 0
    vector: NDArray[np.float32] | None = None
    limit: int = 10
    kinds: frozenset[str] | None = None
    attributes: tuple[str, ...] = ()
    exclude: frozenset[str] = frozenset()
    min_score: float | None = None
    at_ms: int | None = None
    scope: str | None = None
    deep: bool = False
    source_max: int = 0

    @property
    def today(self) -> int:
        """The asker's day; see `day_number`."""
        said_ms = (self.asked_ms or self.now_ms) if self.at_ms is None else self.at_ms
        return day_number(said_ms, self.offset_minutes)


def date_text(item: Item) -> str:
    day = day_number(item.event_ms, item.offset_minutes)
    return str(np.datetime64(day, "D")) if abs(item.event_ms) < 2_932_896 * DAY_MS else ""


def index_text(item: Item) -> str:
    """The words an item is found by: its text with who said it and when."""
    speaker = f"{item.speaker} " if item.speaker and item.kind == "episode" else ""
    return f"{speaker}({date_text(item)}): {item.text}" if item.event_ms else f"{speaker}{item.text}"


def view_text(item: Item) -> str:
    """The text of an item to embed as its vector: its words alone, since names and dates blur the meaning."""
    return item.text[:VIEW_CHARS_MAX]


def query_texts(text: str, speakers: Iterable[str] = ()) -> tuple[str, ...]:
    """The texts to embed for a query: the whole of it, and its segments where it has more than one.

    A pasted dialogue or a long message means several things; its last segment most of all. Who says the lines of a
    dialogue is left out; see `transcripts`. Where one of the speakers is named, the texts are in that speaker's first
    person.
    """
    text = "\n".join(line.words for line in transcript(text)) or text
    named = named_speaker(text, speakers)
    if named:
        text = first_person(text, named)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2 and token_count(text) < SEGMENTED_TOKENS_MIN:
        return (beginning(text),)
    segments = lines if len(lines) >= 2 else sentence_groups(text)
    return (beginning(text), *segments[-SEGMENTS_MAX:]) if len(segments) >= 2 else (beginning(text),)


def beginning(text: str) -> str:
    """The first tokens of a text; what a reader of it costs grows with them, not with its characters."""
    return first_tokens(text, QUERY_VIEW_TOKENS)


def sentence_groups(text: str) -> list[str]:
    groups: list[str] = []
    length = SEGMENT_TOKENS_MAX
    for sentence in SENTENCE.findall(text):
        more = token_count(sentence)
        if not more:
            continue
        if length + more > SEGMENT_TOKENS_MAX and (length or not groups):
            groups.append(sentence.strip())
            length = more
        else:
            groups[-1] += sentence
            length += more
    return groups
