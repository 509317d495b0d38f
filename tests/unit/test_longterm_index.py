"""A large owner's vectors stand in a graph, built beside the loop, and built anew once something is forgotten."""

from collections.abc import Callable

import pytest

from actormem.limits import HNSW_ROWS_MIN
from actormem.ports import Labels, VectorIndex, Vectors
from tests.runtimes import opened

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # 4,000 items: once is enough
async def test_a_large_owner_is_indexed_and_a_forgotten_item_is_not_in_the_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    async with opened() as runtime:
        services = runtime._services
        build = services.build_index

        def counted(labels: Labels, vectors: Vectors, vectors_of: Callable[[Labels], Vectors]) -> VectorIndex:
            sizes.append(len(labels))
            return build(labels, vectors, vectors_of)

        monkeypatch.setattr(services, "build_index", counted)
        log = [
            {"role": "user", "content": f"Note {n}: the shelf {n * 7} holds jar {n * 13}."}
            for n in range(HNSW_ROWS_MIN)
        ]
        await runtime.import_history(log, session_id="log", user="ada")
        await runtime.remember("The spare key hangs behind the blue door", user="ada")
        await runtime.settle()
        assert len(sizes) == 1, "a graph is built, once"
        [hit] = await runtime.recall("Where does the spare key hang?", user="ada", limit=1, deadline_s=5)
        assert "blue door" in hit.item.text
        await runtime.forget(hit.item.id, user="ada")
        await runtime.settle()
        assert len(sizes) == 2, "the graph is built anew"
        assert sizes[1] == HNSW_ROWS_MIN
        for other in await runtime.recall(
            "Where does the spare key hang?", user="ada", limit=5, deadline_s=5
        ):
            assert "blue door" not in other.item.text
