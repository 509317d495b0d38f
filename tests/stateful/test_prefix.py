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


async def compare(folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int, length: int) -> World:
    """One life in both worlds: every context is checked as it is made, and against the other world's."""
    still = await lived(folder / "still", monkeypatch, seed, length, restless=False)
    restless = await lived(folder / "restless", monkeypatch, seed, length, restless=True)
    for one, other in zip(still.contexts, restless.contexts, strict=True):
        assert one == other, f"rest or restart changed a context (seed {seed})"
    assert still.epoch_ends == restless.epoch_ends
    return still


@pytest.mark.parametrize("seed", [10, 15])
async def test_a_life_keeps_every_promise_and_rest_and_restart_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    world = await compare(tmp_path, monkeypatch, seed, 30)
    assert len(world.contexts) > 10
    assert world.epoch_ends


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 140))
async def test_many_long_lives_keep_every_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    assert (await compare(tmp_path, monkeypatch, seed, 90)).epoch_ends
