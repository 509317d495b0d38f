"""Word of the turns that are open."""

from typing import Any

import anyio
import pytest

from actormem.core.values import Owner, SessionKey
from actormem.remote.beating import BEAT_S, beating
from actormem.testing import FakeClock

pytestmark = pytest.mark.anyio
SILENT, ANSWERING = Owner("", "silent"), Owner("", "answering")


class Places:
    """Two, one of which never answers."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def check_loop(self) -> None:
        """Any."""

    def place(self, owner: Owner) -> int:
        """One for each."""
        return int(owner == ANSWERING)

    async def ask(self, name: str, owner: Owner | None = None, /, **_: Any) -> Any:
        """Answers for one of them."""
        assert owner is not None
        self.asked.append(f"{name} {owner.user}")
        if owner == SILENT:
            await anyio.sleep_forever()

    def events(self, owner: Owner) -> Any:
        """None."""
        raise AssertionError(owner)


async def test_a_place_that_does_not_answer_holds_up_no_other_and_is_not_asked_again() -> None:
    places, clock = Places(), FakeClock()
    async with beating(places, clock) as beats:
        for owner in (SILENT, ANSWERING):
            beats.opened(SessionKey(owner, "s-1"), "q-1")
        for _ in range(3):
            await clock.advance(BEAT_S)
        beats.ended(SessionKey(ANSWERING, "s-1"), "q-1")
        await clock.advance(BEAT_S)
    assert sorted(places.asked) == ["keep_turns answering"] * 3 + ["keep_turns silent"]
