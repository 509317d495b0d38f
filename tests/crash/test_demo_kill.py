"""kill -9 in the middle of the demo: the folder opens, nothing said is lost, the demo plays in it again."""

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import actormem
from actormem import Runtime

SCRIPT: dict[str, Any] = json.loads((files("actormem.cli") / "demo_conversation.json").read_text("utf-8"))
KILL_AFTER = 20  # turns: the first compactions are done, and the allergy to peanuts was stated


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop is enough: what dies is the process."""
    return str(request.param)


def demo(folder: Path, **options: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "actormem.cli.main", "demo", "--folder", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        **options,
    )


def killed_after(folder: Path, turn_count: int) -> int:
    """Play the demo and kill it when at least so many turns are done; how many its progress spoke of."""
    with demo(folder, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        seen, done = b"", 0
        while done < turn_count:
            read = process.stderr.read1()
            assert read, f"the demo ended before it was killed: {seen[-500:]!r}"
            seen += read
            done = max((int(found) for found in re.findall(rb" (\d+)/\d+ \[", seen)), default=0)
        process.kill()
    return done


def script_messages(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for turn in turns for one in ({"role": "user", "content": turn["user"]}, *turn["steps"])]


async def played(runtime: Runtime) -> list[dict[str, Any]]:
    """The messages of the session that was killed, as they stand on the wire."""
    [row] = await runtime.sessions(SCRIPT["user"])
    session = await runtime.spawn(row.session_id, user=SCRIPT["user"])
    return [json.loads(message.wire) for message in await session.messages()]


@pytest.mark.anyio
async def test_after_a_kill_the_messages_are_whole_and_in_order_and_recall_works(tmp_path: Path) -> None:
    done = killed_after(tmp_path, KILL_AFTER)
    async with actormem.open(tmp_path) as runtime:
        messages = await played(runtime)
        assert messages == script_messages(SCRIPT["turns"])[: len(messages)]
        assert len(messages) >= len(script_messages(SCRIPT["turns"][:done])), "an acknowledged turn is lost"
        await runtime.settle()
        hits = await runtime.recall("我对什么过敏？", user=SCRIPT["user"], limit=3)
        assert any("花生" in hit.item.text for hit in hits)
        assert await runtime.items(SCRIPT["newcomer"]["user"]) == ()


@pytest.mark.anyio
async def test_the_killed_session_goes_on_where_it_was(tmp_path: Path) -> None:
    killed_after(tmp_path, 1)
    async with actormem.open(tmp_path, embedder="hashing") as runtime:
        before = await played(runtime)
        [row] = await runtime.sessions(SCRIPT["user"])
        session = await runtime.spawn(row.session_id, user=SCRIPT["user"])
        async with session.turn("还在吗？") as turn:
            assert turn.messages[-1]["content"] == "还在吗？" or "还在吗？" in str(turn.messages[-1])
            assert turn.messages[0] == {"role": "system", "content": SCRIPT["system"]}
            turn.reply("在的。")
        after = await played(runtime)
    assert after[: len(before)] == before
    assert after[-1] == {"role": "assistant", "content": "在的。"}


@pytest.mark.full
def test_the_demo_plays_again_to_a_good_end_in_a_folder_where_it_was_killed(tmp_path: Path) -> None:
    killed_after(tmp_path, KILL_AFTER)
    with demo(tmp_path, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        said = process.stdout.read().decode()
    assert "Traceback" not in said
    assert "the second session remembers the user and only him" in said
    assert process.returncode == 0, said[-3000:]
