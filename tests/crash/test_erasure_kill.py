"""kill -9 while things are forgotten: each is there whole or gone to the last byte, once the folder is open again.

A child process says things and forgets them, each kind in turn, and prints each once it is acknowledged, and each
commit of a forgetting; the parent kills it after so many lines, opens the folder and looks.
"""

import random
from pathlib import Path

import pytest

import actormem
from tests.crash.killing import killed
from tests.crash.places import WAIT_S, is_database
from tests.postgres.server import tables_holding
from tests.runtimes import files_holding

CHILD = """
import os, sys
import anyio, actormem

forgetting = []

async def main():
    async with actormem.open(sys.argv[1], embedder="hashing", durability="process", lock_wait_s=60) as runtime:
        tell_commits(runtime._services.record)
        for number in range(int(sys.argv[2]), 10_000):
            street = f"{10_000 + number} Quillon Walk"
            user = f"u{number}" if number % 3 == 2 else "ada"
            for name in ("said", "shown"):
                session = await runtime.spawn(f"{name}{number}", user=user)
                said = f"My new address is {street}." if name == "said" else "What is my address?"
                async with session.turn(said) as turn:
                    turn.reply("Noted.")
            os.write(1, b"said %d\\n" % number)
            forgetting.append(number)
            await forget(runtime, user, number)
            forgetting.clear()
            os.write(1, b"gone %d\\n" % number)

def tell_commits(record):
    submit = record.submit

    def told(writes, then=None):
        def committed(error):
            if forgetting:
                os.write(1, b"commit 0\\n")
            if then is not None:
                then(error)

        submit(writes, committed)

    record.submit = told

async def forget(runtime, user, number):
    if number % 3 == 0:
        await runtime.forget((await runtime.value(user, "address")).id, user=user)
    elif number % 3 == 1:
        await runtime.forget_session(f"said{number}", user=user)
    else:
        await runtime.forget_user(user)

anyio.run(main)
"""


async def look(place: str, first: int, told: dict[str, int]) -> int:
    """Look at every number of the round; how many erasures were resumed."""
    gone, said = told.get("gone", first - 1), told.get("said", first - 1)
    async with actormem.open(place, embedder="hashing", lock_wait_s=WAIT_S) as runtime:
        await runtime.settle()
        shown = repr(
            [await runtime.items(user, history=True) for user in ("ada", f"u{said}", f"u{said + 1}")]
        )
        counts = runtime.statistics()
        assert counts.erasures_failed == 0
    for number in range(first, said + 2):
        street = f"{10_000 + number} Quillon Walk"
        holding = places_holding(place, street)
        if number <= gone:
            assert holding == [], f"{street} was forgotten"
        else:
            assert bool(holding) == (street in shown), f"{street} is half there"
    return counts.erasures_resumed


def places_holding(place: str, words: str) -> list[str]:
    """The files that hold the words; of a database the tables, looked at by one who sees all."""
    if not is_database(place):
        return files_holding(Path(place), words)
    schema = place.partition("schema=")[2].partition("&")[0]
    return tables_holding(place.replace("plain@", "postgres@").partition("&schema")[0], schema, words)


async def kill_and_look(place: str, count: int, most: int | None = None) -> int:
    """Kill so many times, and on until an erasure was hit, at most `most` times; how many erasures were resumed."""
    chance = random.Random("erasure")
    first, resumed_count = 0, 0
    for kill in range(most or count):
        if kill >= count and resumed_count:
            break
        told = killed(CHILD, place, first, chance.randrange(2, 40))
        resumed_count += await look(place, first, told)
        first = told.get("said", first) + 2
    return resumed_count


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop is enough: what dies is the process."""
    return str(request.param)


@pytest.mark.anyio
async def test_a_kill_leaves_nothing_half_forgotten(place: str) -> None:
    await kill_and_look(place, 1)


@pytest.mark.anyio
@pytest.mark.full
async def test_kills_at_any_moment_leave_nothing_half_forgotten(place: str) -> None:
    count = 6 if is_database(place) else 12
    assert await kill_and_look(place, count, most=60), "no kill hit an erasure"
