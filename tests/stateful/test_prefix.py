"""Whatever happens to a session, its contexts keep the prefix, the budget, the groups and the truth.

A random life is lived by two worlds; one of them is closed and opened, and put to rest. Their contexts are the
same, byte for byte.
"""

from pathlib import Path

import pytest

from tests.gated import gated
from tests.lives import FixedChance, World, drawn_life

pytestmark = pytest.mark.anyio


async def lived(
    folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int, length: int, *, restless: bool
) -> World:
    monkeypatch.setattr("actormem.opening.SystemRandom", FixedChance)
    world = World(folder, gated(monkeypatch), restless=restless)
    async with world.living():
        for step in drawn_life(seed, length):
            await world.take(step)
    return world


@pytest.mark.parametrize("seed", range(3))
async def test_a_life_keeps_every_promise_and_rest_and_restart_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    still = await lived(tmp_path / "still", monkeypatch, seed, 40, restless=False)
    restless = await lived(tmp_path / "restless", monkeypatch, seed, 40, restless=True)
    for one, other in zip(still.contexts, restless.contexts, strict=True):
        assert one == other
