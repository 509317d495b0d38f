"""Texts that an erasure takes away and by which it is proven: few, each long enough to be sought in files.

The law of the file: texts are held until the erasure has ended and are told nobody; what is told of them is a count.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

import anyio.to_thread
import msgspec

from actormem.actors.memory_messages import Forgotten
from actormem.actors.redacting import erased_words, shown_words
from actormem.actors.services import Services
from actormem.core.erased_words import reach
from actormem.core.session.events import decode_event, message_of
from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import StorageError
from actormem.ports import Scan, StoredEvent

__all__ = ["PROBES_MAX", "Probes", "item_probes", "scanned", "session_probes"]

PROBES_MAX = 64  # sought in each megabyte of the folder
PROBE_BYTES_MIN = 8
PROBE_CHARS_MAX = 160  # the beginning of a longer one: a page of the file holds it whole as a rule
PAGE_EVENTS = 512


class Probes(msgspec.Struct, frozen=True):
    """How many texts a session has, and some of them."""

    text_count: int = 0
    texts: tuple[str, ...] = ()


def item_probes(items: Iterable[Item]) -> tuple[str, ...]:
    """Of items that go, whatever becomes of what was said."""
    return tuple(
        islice(dict.fromkeys(probe for text in shown_words(items) if (probe := _probe(text))), PROBES_MAX)
    )


async def session_probes(key: SessionKey, services: Services) -> Probes:
    """Of a session that goes; of one that cannot be read as far as it can.

    Cost:
        Reads all of it, 512 events at a time.
    """
    count, first = 0, 1
    texts: dict[str, None] = {}
    while True:
        try:
            page = await services.record.read_events(key, first, first + PAGE_EVENTS - 1)
        except StorageError:
            break
        if not page:
            break
        count += sum(1 for stored in page if stored.text)
        if len(texts) < PROBES_MAX:
            found = await anyio.to_thread.run_sync(_said, page, limiter=services.pools.background)
            texts |= dict.fromkeys(found[: PROBES_MAX - len(texts)])
        first += PAGE_EVENTS
    return Probes(count, tuple(texts))


async def scanned(
    services: Services, owner: Owner, gone: Forgotten | None = None, texts: Iterable[str] = ()
) -> Scan:
    """Look for what has gone in the files, once they are cleared.

    Words that were cut out of all that the owner has are to be in none of his rows; other texts may be what somebody
    has said too.
    """
    words = erased_words(gone.items) if gone is not None and gone.erasure.cut == "words" else ()
    besides = owner if words else None
    chosen = words or (*(item_probes(gone.items) if gone is not None else ()), *texts)
    probes = tuple(islice(dict.fromkeys(probe for text in chosen if (probe := _probe(text))), PROBES_MAX))
    return await services.record.scan(probes, besides) if probes else Scan()


def _said(page: Sequence[StoredEvent]) -> list[str]:
    messages = (message_of(decode_event(one.body, one.text)) for one in page if one.text and one.name)
    return [probe for message in messages if message is not None and (probe := _probe(message.text))]


def _probe(text: str) -> str:
    """A line of the text that tells enough to be sought, or its beginning; empty where none does."""
    for line in text.splitlines():
        probe = line.strip()[:PROBE_CHARS_MAX]
        if len(probe.encode()) >= PROBE_BYTES_MIN and reach(probe) == "owner":
            return probe
    return ""
