"""What others would hold the same vectors with: each adds rows of an owner, and finds the nearest of an owner.

One whose package is not here cannot be made; `PACKAGES` says which it needs.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["PACKAGES", "Page", "Store", "opened"]

Vectors = NDArray[np.float32]
SENTENCE = "Something was said. "

PACKAGES = {
    "numpy": "numpy",
    "faiss": "faiss-cpu",
    "qdrant": "qdrant-client",
    "chroma": "chromadb",
    "langgraph memory": "langgraph-checkpoint",
    "langgraph sqlite": "langgraph-checkpoint-sqlite",
}


class Page(msgspec.Struct, frozen=True):
    """Rows with their owners; the first has the number `first`."""

    owners: Sequence[str]
    first: int
    vectors: Vectors


class Store(Protocol):
    """Vectors by owner."""

    async def add(self, page: Page) -> None:
        """Add rows."""
        ...

    async def added(self) -> None:
        """All is added: what is left to be built is built now, and not by the first search."""

    async def search(self, owner: str, query: Vectors, count: int) -> int:
        """Find the nearest rows of an owner; gives how many there were."""
        ...


class Scan(Store):
    """A matrix for each owner, all of it compared with the query."""

    def __init__(self) -> None:
        self._pages: dict[str, list[Vectors]] = {}
        self._held: dict[str, Vectors] = {}

    async def add(self, page: Page) -> None:
        """Keep the rows."""
        for owner, row in zip(page.owners, page.vectors, strict=True):
            self._pages.setdefault(owner, []).append(row)

    async def added(self) -> None:
        """Make one matrix of an owner's rows, and let go of the pages."""
        self._held |= {owner: np.stack(rows) for owner, rows in self._pages.items()}
        self._pages.clear()

    async def search(self, owner: str, query: Vectors, count: int) -> int:
        """The nearest, in order."""
        scores = self._held[owner] @ query
        nearest = np.argpartition(-scores, min(count, len(scores) - 1))[:count]
        return len(nearest[np.argsort(-scores[nearest])])


class Faiss(Store):
    """A flat index for each owner."""

    def __init__(self, dimensions: int) -> None:
        self._faiss: Any = import_module("faiss")
        self._faiss.omp_set_num_threads(1)
        self._dimensions = dimensions
        self._held: dict[str, Any] = {}

    async def add(self, page: Page) -> None:
        """Add to each owner's index at once."""
        if len(set(page.owners)) == 1:
            self._index(page.owners[0]).add(page.vectors)
            return
        for owner, row in zip(page.owners, page.vectors, strict=True):
            self._index(owner).add(row[None])

    async def search(self, owner: str, query: Vectors, count: int) -> int:
        """The nearest by inner product."""
        return int((self._held[owner].search(query[None], count)[1] >= 0).sum())

    def _index(self, owner: str) -> Any:
        if owner not in self._held:
            self._held[owner] = self._faiss.IndexFlatIP(self._dimensions)
        return self._held[owner]


class Qdrant(Store):
    """Its local mode, in memory: one collection, filtered by owner."""

    def __init__(self, dimensions: int) -> None:
        client: Any = import_module("qdrant_client")
        self._models: Any = import_module("qdrant_client.models")
        self._client: Any = client.QdrantClient(":memory:")
        how = self._models.VectorParams(size=dimensions, distance=self._models.Distance.COSINE)
        self._client.create_collection("all", vectors_config=how)

    async def add(self, page: Page) -> None:
        """Put the points with their owner beside them."""
        points = [
            self._models.PointStruct(id=page.first + place, vector=row.tolist(), payload={"owner": owner})
            for place, (owner, row) in enumerate(zip(page.owners, page.vectors, strict=True))
        ]
        self._client.upsert("all", points)

    async def search(self, owner: str, query: Vectors, count: int) -> int:
        """The nearest that have the owner."""
        match = self._models.FieldCondition(key="owner", match=self._models.MatchValue(value=owner))
        wanted = self._models.Filter(must=[match])
        found = self._client.query_points("all", query=query, query_filter=wanted, limit=count)
        return len(found.points)


class Chroma(Store):
    """In memory: one collection, filtered by owner."""

    def __init__(self) -> None:
        chroma: Any = import_module("chromadb")
        settings: Any = import_module("chromadb.config")
        client = chroma.EphemeralClient(settings.Settings(anonymized_telemetry=False))
        self._held: Any = client.create_collection(
            "all", metadata={"hnsw:space": "cosine"}, embedding_function=None
        )

    async def add(self, page: Page) -> None:
        """Put the rows with their owner beside them."""
        self._held.add(
            ids=[f"m{page.first + place}" for place in range(len(page.owners))],
            embeddings=page.vectors,
            metadatas=[{"owner": owner} for owner in page.owners],
        )

    async def search(self, owner: str, query: Vectors, count: int) -> int:
        """The nearest that have the owner."""
        found = self._held.query(query_embeddings=[query], n_results=count, where={"owner": owner})
        return len(found["ids"][0])


class LangGraph(Store):
    """A store of LangGraph's, a namespace for each owner; texts are embedded from memory, at no cost."""

    def __init__(self, store: Any, known: dict[str, Vectors]) -> None:
        self._store = store
        self._known = known
        self._base: Any = import_module("langgraph.store.base")

    async def add(self, page: Page) -> None:
        """Put a page in one batch."""
        puts: list[Any] = []
        for place, (owner, row) in enumerate(zip(page.owners, page.vectors, strict=True)):
            text = f"{SENTENCE}{page.first + place}"
            self._known[text] = row
            puts.append(self._base.PutOp((owner,), f"m{page.first + place}", {"text": text}))
        await self._store.abatch(puts)
        self._known.clear()

    async def search(self, owner: str, query: Vectors, count: int) -> int:
        """The nearest in the owner's namespace."""
        self._known["asked"] = query
        return len(await self._store.asearch((owner,), query="asked", limit=count))


def _looked_up(dimensions: int, known: Mapping[str, Vectors]) -> dict[str, Any]:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [known[text].tolist() for text in texts]

    return {"dims": dimensions, "embed": embed, "fields": ["text"]}


@asynccontextmanager
async def opened(name: str, dimensions: int, folder: Path) -> AsyncGenerator[Store, None]:
    """A store, empty; a file of it is in the folder.

    Raises:
        KeyError: There is none of that name.
    """
    plain: dict[str, Callable[[], Store]] = {
        "numpy": Scan,
        "faiss": partial(Faiss, dimensions),
        "qdrant": partial(Qdrant, dimensions),
        "chroma": Chroma,
    }
    known: dict[str, Vectors] = {}
    if name == "langgraph memory":
        memory: Any = import_module("langgraph.store.memory")
        yield LangGraph(memory.InMemoryStore(index=_looked_up(dimensions, known)), known)
    elif name == "langgraph sqlite":
        stores: Any = import_module("langgraph.store.sqlite.aio")
        path, index = str(folder / "langgraph.db"), _looked_up(dimensions, known)
        async with stores.AsyncSqliteStore.from_conn_string(path, index=index) as store:
            await store.setup()
            yield LangGraph(store, known)
    else:
        yield plain[name]()
