"""An older log is taken in fast: in few embeddings, each text once, with room between for those who wait."""

from collections.abc import Sequence

import anyio
import pytest

from actormem.ports import Vectors
from benchmarks import importing
from tests.runtimes import ScriptedEmbedder, answered, opened, words

pytestmark = pytest.mark.anyio


class Counted(ScriptedEmbedder):
    """Remembers each call; the first of an import waits at the door."""

    def __init__(self, door: anyio.Event | None = None) -> None:
        super().__init__()
        self.calls: list[tuple[str, ...]] = []
        self.door = door

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(tuple(texts))
        if self.door is not None and any("jar" in text for text in texts):
            await self.door.wait()
        return await super().embed(texts)


def log(count: int) -> list[dict[str, object]]:
    return [
        {"role": "user", "id": f"m-{n}", "content": f"Jar {n} stands on the shelf, 第 {n} 个 jar。"}
        for n in range(count)
    ]


async def test_many_texts_are_embedded_in_few_calls_and_a_text_that_repeats_once() -> None:
    door = anyio.Event()
    embedder = Counted(door)
    async with opened(embedder=embedder) as runtime:
        await runtime.import_history([*log(200), *log(200)], session_id="a", user="ada")
        again = [{"role": "assistant", "id": f"r-{n}", "content": "Noted, 好的。"} for n in range(200)]
        await runtime.import_history(again, session_id="b", user="ada")
        door.set()
        await runtime.settle()
        texts = [text for call in embedder.calls for text in call]
        assert len(texts) == len(set(texts)) == 201
        assert all(sum(len(text.encode()) for text in call) <= 1_400 for call in embedder.calls)
        assert len(embedder.calls) <= 25
        [hit] = await runtime.recall("Where is jar 117?", user="ada", limit=1)
        assert "Jar 117 " in hit.item.text


async def test_a_text_longer_than_a_call_may_be_is_embedded_alone() -> None:
    embedder = Counted()
    async with opened(embedder=embedder) as runtime:
        long = [{"role": "assistant", "content": f"{n}: " + "длинноеслово " * 60} for n in range(70)]
        await runtime.import_history(long, session_id="a", user="ada")
        await runtime.settle()
        assert sorted(map(len, embedder.calls)) == [1] * 70


async def test_a_turn_goes_between_what_is_imported() -> None:
    door = anyio.Event()
    embedder = Counted(door)
    async with opened(embedder=embedder) as runtime:
        await runtime.remember("The key of Bob hangs behind the door", user="bob")
        async with anyio.create_task_group() as group:
            await runtime.import_history(log(100), session_id="a", user="ada")
            group.start_soon(runtime.settle)
            session = await runtime.spawn("s", user="bob")
            assert "behind the door" in words(await answered(session, "Where does my key hang?"))
            own = await runtime.spawn("s", user="ada")
            async with own.turn("On which shelf does number 57 stand?") as turn:
                turn.reply("On the third.")
            assert turn.trace.degraded == ()
            assert "Jar 57 stands" in words(turn.messages), "found by its words, before it has a vector"
            door.set()


async def test_progress_is_told_of_all_that_is_imported_plainly_or_awaited() -> None:
    seen: list[tuple[int, int]] = []

    async def told(done: int, total: int) -> None:
        seen.append((done, total))

    async with opened() as runtime:
        await runtime.import_history(log(150), session_id="a", user="ada", progress=told)
        assert seen == [(64, 150), (128, 150), (150, 150)]
        await runtime.import_history([], session_id="a", user="ada", progress=told)
        assert len(seen) == 3


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # a benchmark runs on one
async def test_the_benchmark_of_a_tiny_size_has_every_figure() -> None:
    size = importing.Size(message_count=8, repeat_count=1, lengths=(20, 90), embedders=("hashing",))
    found = await importing.measure(size)
    assert set(found) == {"hashing, 20 words", "hashing, 90 words"}
    for figures in found.values():
        assert set(figures) == {column.figure for column in importing.COLUMNS}
        assert figures["import_per_s"].median >= figures["settled_per_s"].median > 0


async def test_a_query_under_way_when_all_is_settled_is_counted() -> None:
    settled, queries_ms = anyio.Event(), list[float]()
    async with opened() as runtime, anyio.create_task_group() as group:
        settled.set()
        group.start_soon(importing.asked, runtime, settled, queries_ms)
    assert len(queries_ms) == 1


def test_the_log_of_the_benchmark_has_both_languages_and_no_text_twice() -> None:
    texts = [str(one["content"]) for one in importing.log(60, 20)]
    assert len(set(texts)) == 60
    assert 20 < sum(text.isascii() for text in texts) < 40
