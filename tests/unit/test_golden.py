"""Folders as older versions left them, kept as SQL in tests/golden: each opens with all it had, and goes on."""

import sqlite3
from pathlib import Path

import pytest

import actormem
from actormem.storage.schema import FORMAT_VERSION
from tests.runtimes import ScriptedEmbedder, answered, opened, words

pytestmark = pytest.mark.anyio

GOLDEN = {
    int(path.stem.rpartition("-")[2]): path for path in (Path(__file__).parents[1] / "golden").glob("*.sql")
}


def test_every_older_format_has_its_folder() -> None:
    assert set(range(1, FORMAT_VERSION)) <= set(GOLDEN)


@pytest.mark.parametrize("version", sorted(GOLDEN))
async def test_a_folder_of_an_older_format_has_all_it_had(tmp_path: Path, version: int) -> None:
    connection = sqlite3.connect(tmp_path / "record.db")
    connection.executescript(GOLDEN[version].read_text(encoding="utf-8"))
    connection.close()
    found = await actormem.verify(tmp_path)
    assert (found.format, found.damages) == (version, ())
    async with opened(tmp_path, embedder=ScriptedEmbedder(8)) as runtime:
        ada = await runtime.spawn("shop", user="ada")
        said = await ada.messages()
        assert [one.role for one in said] == ["user", "assistant"] * 4 + ["tool"]
        assert said[2].content == "我对花生过敏。"
        assert said[7].tool_calls[0].id == said[8].tool_call_id == "c1"
        seen = words(await answered(ada, "What is my address, and what may I not eat?"))
        for remembered in ("You are a shop assistant.", "5 Hill Street", "花生", "KX-48210"):
            assert remembered in seen
        values = {item.value for item in await runtime.items("ada")}
        assert {"5 Hill Street", "花生"} <= values
        texts = [item.text for item in await runtime.items("bob", tenant="shop")]
        assert any("green tea" in text for text in texts)
        assert not any("sings" in text for text in texts), "it was forgotten"
        assert await runtime.items("bob") == ()
        await runtime.settle()
        assert runtime.statistics().record.damaged_rows == 0
    found = await actormem.verify(tmp_path)
    assert (found.format, found.damages) == (FORMAT_VERSION, ())
