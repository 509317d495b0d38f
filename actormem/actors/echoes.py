"""Where the words of forgotten items stand in others of the same owner: what was echoed, repeated, or said elsewhere.

The law of the file: it changes nothing; done again after what it found was written, it finds nothing. A message keeps
the rest of its words, a fact that has no other value goes.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

import anyio.lowlevel
import msgspec

from actormem.actors.links import Links
from actormem.core.erased_words import MARK, NAME, Sought, reach
from actormem.core.facts.passages import passages_of, without_spans
from actormem.core.recall.partition import Partition
from actormem.core.values import Item

__all__ = ["Echo", "SoughtWords", "echoes"]

NOTHING = Sought(())
STEP_ITEMS = 64  # looked at in one go: 1 ms, then other tasks get their turn


class SoughtWords:
    """Words of forgotten items, by how far they are sought; see `core.erased_words.reach`.

    Args:
        sessions: Where the items came from or were shown.
        since_ms: When they were said first.
        until_ms: What is said later is said anew.
    """

    def __init__(
        self, words: Iterable[str], sessions: Collection[str], since_ms: int, until_ms: int = 2**62
    ) -> None:
        reaches = {word: reach(word) for word in words}
        self._wide = Sought(word for word, far in reaches.items() if far == "owner")
        self._near = Sought(word for word, far in reaches.items() if far != "source")
        self._sessions = frozenset(sessions)
        self._since_ms = since_ms
        self._until_ms = until_ms

    def __bool__(self) -> bool:
        return bool(self._near)

    def of(self, item: Item) -> Sought:
        """The words to be sought in an item."""
        if item.event_ms > self._until_ms:
            return NOTHING
        near = item.session_id in self._sessions and item.event_ms >= self._since_ms
        return self._near if near else self._wide


class Echo(msgspec.Struct, frozen=True):
    """An item that holds such words: what is left of it, None for nothing, and what must not come back."""

    item: Item
    left: Item | None
    texts: tuple[str, ...]


async def echoes(partition: Partition, links: Links, sought: SoughtWords) -> list[Echo]:
    """Items that hold the words, but for summaries.

    Cost:
        Looks at every item of the owner, other tasks having their turn between: 1.5 s for 100,000.
    """
    found: list[Echo] = []
    seen: set[tuple[str, str]] = set()
    for count, item in enumerate(tuple(partition.items()) if sought else (), 1):
        if count % STEP_ITEMS == 0:
            await anyio.lowlevel.checkpoint()
        if item.kind == "episode" and item.sources:
            source = item.sources[0]
            if source not in seen:
                said = passages_of(links.items(links.of_source(source)))
                if len(said) > 1:
                    seen.add(source)
                found += _episodes(said, sought.of(item))
        elif item.source != "summary":
            found += _fact(item, sought.of(item))
    return found


def _episodes(said: Sequence[Item], sought: Sought) -> Iterator[Echo]:
    """The passages of one message."""
    whole = "".join(one.text for one in said)
    spans = sought.spans(whole)
    named = any(sought.stand_in(one.speaker) for one in said)
    if not spans and not named:
        return
    for one, text in zip(said, without_spans([one.text for one in said], spans, MARK), strict=True):
        speaker = NAME if sought.stand_in(one.speaker) else one.speaker
        if text != one.text or speaker != one.speaker:
            left = msgspec.structs.replace(one, text=text, speaker=speaker, version=one.version + 1)
            yield Echo(one, left, (whole,))


def _fact(item: Item, sought: Sought) -> Iterator[Echo]:
    """A fact without the words; nothing where its value says nothing else. It is not edited: its version stays."""
    if not any(sought.stand_in(text) for text in (item.value, item.text, item.quote, item.speaker)):
        return
    texts = tuple(filter(None, (item.text, item.quote)))
    value = sought.cut(item.value)
    if value != item.value and not any(map(str.isalnum, value.replace(MARK, ""))):
        yield Echo(item, None, texts)
        return
    left = msgspec.structs.replace(
        item,
        text=sought.cut(item.text),
        value=value,
        quote=sought.cut(item.quote),
        speaker=NAME if sought.stand_in(item.speaker) else item.speaker,
    )
    yield Echo(item, left, texts)
