"""Owners with as many items as asked for, written straight into a folder's record with their vectors.

Once every text has been used, items begin as one of them and end as another; their vectors are those of the first with
noise added, so that no two are equal and what is alike stays near. Sessions are of 200 messages, every second one a
reply.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from actormem import Item, Owner
from actormem.ports import Embedder, PutItems, PutVectors
from actormem.storage.record import open_record
from benchmarks.dataset import DataError, data_folder, read_set, set_names
from benchmarks.flat_cost import Talker

__all__ = ["OWNER", "Material", "StoredEmbedder", "fill", "jittered", "material", "owner_of", "texts_of"]

OWNER = Owner("", "ada")
SEED = 11
JITTER = 0.3  # length of the noise beside a vector of length 1: cosine .96 to what it was made from
TEXT_CHARS_MAX = 600
EMBED_BATCH = 16
WRITE_ROWS = 2_000
SESSION_ITEMS = 200
APART = 37  # between the texts that an item is made of
FIRST_MS = 1_700_000_000_000
MINUTE_MS = 60_000

Vectors = NDArray[np.float32]


class Material(msgspec.Struct, frozen=True):
    """Texts and queries with their vectors; `source` says where they are from, and tells other ones from these."""

    texts: Sequence[str]
    vectors: Vectors
    queries: Sequence[str]
    query_vectors: Vectors
    source: str


class StoredEmbedder:
    """Gives the vectors it was made with, at once; of other texts all zeros."""

    def __init__(self, known: Mapping[str, Vectors], dimensions: int) -> None:
        self._known = known
        self.dimensions = dimensions

    @property
    def name(self) -> str:
        """What its vectors are stored under."""
        return "stored"

    async def start(self) -> None:
        """Nothing is to be loaded."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts."""
        nothing = np.zeros(self.dimensions, np.float32)
        return np.stack([self._known.get(text, nothing) for text in texts])

    async def aclose(self) -> None:
        """Nothing is open."""


def texts_of(text_count: int, query_count: int) -> tuple[list[str], list[str], str]:
    """Texts, queries, and where they are from: the sets' own, or drawn words where there are none."""
    try:
        folder = data_folder()
        sets = [read_set(folder, name) for name in set_names(folder, [])]
    except DataError:
        talker = Talker(SEED)
        texts = [str(talker.message("user")["content"]) for _ in range(text_count)]
        return texts, [text.split(",")[0] for text in texts[:query_count]], "drawn words"
    said = {turn.text[:TEXT_CHARS_MAX] for one in sets for turn in one.turns if turn.text}
    asked = {question.text[:TEXT_CHARS_MAX] for one in sets for question in one.questions}
    texts, queries = sorted(said), sorted(asked)
    chance = Random(SEED)
    chance.shuffle(texts)
    chance.shuffle(queries)
    return texts[:text_count], queries[:query_count], "texts of the sets"


async def material(embedder: Embedder, text_count: int, query_count: int) -> Material:
    """Texts and queries, embedded."""
    texts, queries, source = texts_of(text_count, query_count)
    found = [
        await embedder.embed((texts + queries)[start : start + EMBED_BATCH])
        for start in range(0, len(texts) + len(queries), EMBED_BATCH)
    ]
    vectors = np.concatenate(found)
    of_texts, of_queries = vectors[: len(texts)], vectors[len(texts) :]
    kept: list[int] = np.flatnonzero(of_texts.any(axis=1)).tolist()
    mark = sha256("\0".join(texts + queries).encode()).hexdigest()[:8]
    told = f"{source}, {len(texts):,} texts and {len(queries):,} queries ({mark}), {embedder.name}"
    return Material([texts[place] for place in kept], of_texts[kept], queries, of_queries, told)


def jittered(vectors: Vectors, count: int) -> Iterator[Vectors]:
    """So many unit vectors near the given ones, in pages: the same at each run."""
    chance = np.random.default_rng(SEED)
    for start in range(0, count, WRITE_ROWS):
        places = np.arange(start, min(count, start + WRITE_ROWS)) % len(vectors)
        noise = chance.standard_normal((len(places), vectors.shape[1])).astype(np.float32)
        page = vectors[places] + noise * np.float32(JITTER / np.sqrt(vectors.shape[1]))
        yield page / np.linalg.norm(page, axis=1, keepdims=True)


def owner_of(number: int, owner_count: int) -> Owner:
    """Whose the item of that number is: one owner has all, several take turns."""
    return OWNER if owner_count == 1 else Owner("", f"user-{number % owner_count}")


async def fill(folder: Path, given: Material, count: int, owner_count: int = 1) -> Vectors:
    """Write items and vectors into a new folder; gives the vectors, those of item m1 first."""
    pages: list[Vectors] = []
    async with open_record(folder, durability="process") as record:
        for page in jittered(given.vectors, count):
            start = sum(map(len, pages))
            items = tuple(_item(given.texts, start + place, owner_count) for place in range(len(page)))
            rows: dict[Owner, list[tuple[str, bytes]]] = {}
            for item, row in zip(items, page, strict=True):
                rows.setdefault(item.owner, []).append((item.id, row.tobytes()))
            put = [PutVectors(owner, "stored", tuple(own)) for owner, own in rows.items()]
            await record.sync([PutItems(items), *put])
            pages.append(page)
    return np.concatenate(pages)


def _item(texts: Sequence[str], number: int, owner_count: int) -> Item:
    speaker = "assistant" if number % 2 else "user"
    session_id = f"session-{number // SESSION_ITEMS}"
    return Item(
        id=f"m{number + 1}",
        owner=owner_of(number, owner_count),
        kind="episode",
        text=_text(texts, number),
        source=speaker,
        speaker=speaker,
        source_ids=(f"message-{number}",),
        session_id=session_id,
        sequence=number % SESSION_ITEMS + 1,
        event_ms=FIRST_MS + number * MINUTE_MS,
    )


def _text(texts: Sequence[str], number: int) -> str:
    again, place = divmod(number, len(texts))
    own, other = texts[place], texts[(place + again * APART) % len(texts)]
    return own[: (len(own) + 1) // 2] + other[len(other) // 2 :] if again else own
