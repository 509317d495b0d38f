"""A clock that is set back makes nothing older than what was said before it, in one life of a memory and the next."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.runtimes import FakeClock, answered, opened

pytestmark = pytest.mark.anyio
HOUR_MS = 3_600_000


class SetBack(FakeClock):
    """A clock that somebody sets back."""

    def __init__(self) -> None:
        super().__init__()
        self.behind_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() - self.behind_ms


ADDRESSES = [
    ("My new address is 5 Hill Street.", "My new address is 9 Lake Road.", "9 Lake Road"),
    ("我的新地址是文三路 12 号。", "我的新地址是解放路 7 号。", "解放路 7 号"),
]


@pytest.mark.parametrize(("old", "new", "value"), ADDRESSES)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["same session", "other session"])
async def test_what_is_said_after_the_clock_went_back_is_the_newest(
    old: str, new: str, value: str, elsewhere: bool
) -> None:
    clock = SetBack()
    async with opened(clock=clock) as runtime:
        await answered(await runtime.spawn("s", user="ada"), old)
        clock.behind_ms = HOUR_MS
        session = await runtime.spawn("t" if elsewhere else "s", user="ada")
        await answered(session, new)
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value == value
        times = [message.time_ms for message in await session.messages()]
        assert times == sorted(times)


async def test_what_is_remembered_after_the_clock_went_back_is_the_newest() -> None:
    clock = SetBack()
    async with opened(clock=clock) as runtime:
        await runtime.remember("Lives in Turku", user="ada", attribute="address", value="Turku")
        clock.behind_ms = HOUR_MS
        await runtime.remember("Lives in Oulu", user="ada", attribute="address", value="Oulu")
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value == "Oulu"


@pytest.mark.parametrize("first", ["said", "remembered"])
@pytest.mark.parametrize("then", ["said", "remembered"])
async def test_a_clock_that_went_back_while_the_memory_was_closed_makes_nothing_older(
    tmp_path: Path, first: str, then: str
) -> None:
    clock = SetBack()
    for way, place in ((first, "5 Hill Street"), (then, "9 Lake Road")):
        async with opened(tmp_path, clock=clock) as runtime:
            if way == "said":
                await answered(
                    await runtime.spawn(place, user="ada"), f"My new address is {place}.", reply="Noted."
                )
            else:
                await runtime.remember(f"Lives at {place}", user="ada", attribute="address", value=place)
        clock.behind_ms = HOUR_MS
    async with opened(tmp_path, clock=clock) as runtime:
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value == "9 Lake Road"


async def test_an_older_log_read_after_the_clock_went_back_stays_older_than_what_was_said() -> None:
    clock = SetBack()
    async with opened(clock=clock) as runtime:
        await runtime.remember("Lives in Turku", user="ada", attribute="address", value="Turku")
        clock.behind_ms = HOUR_MS
        log = [{"role": "user", "content": "My new address is 9 Lake Road."}]
        await runtime.import_history(log, session_id="log", user="ada")
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value == "Turku"


async def test_times_that_the_caller_gives_are_kept_and_spoil_no_later_one() -> None:
    """Only our own readings of the clock are held: what is dated into the future dates nothing else."""
    clock = SetBack()
    ahead = datetime.fromtimestamp(clock.now_ms() / 1000, UTC) + timedelta(days=400)
    async with opened(clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        added = await session.add({"role": "user", "content": "The fair begins.", "time": ahead})
        assert added.time == ahead
        later = await session.add({"role": "user", "content": "Good."})
        assert later.time_ms == clock.now_ms()


async def test_what_was_said_before_the_clock_went_back_is_forgotten_wherever_it_stands() -> None:
    clock = SetBack()
    async with opened(clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "My new address is 5 Hill Street.", "Noted: 5 Hill Street.")
        clock.behind_ms = HOUR_MS
        await answered(session, "So the parcel goes to 5 Hill Street?", "Yes, to 5 Hill Street.")
        await runtime.settle()
        address = await runtime.value("ada", "address")
        assert address is not None
        await runtime.forget(address.id, user="ada")
        assert "Hill Street" not in repr(await runtime.items("ada", history=True))
        assert "Hill Street" not in repr(await session.messages())


async def test_a_user_who_is_forgotten_after_the_clock_went_back_does_not_come_back_by_an_import() -> None:
    clock = SetBack()
    async with opened(clock=clock) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "My new address is 5 Hill Street.")
        said = (await (await runtime.spawn("s", user="ada")).messages())[0]
        clock.behind_ms = HOUR_MS
        await runtime.forget_user("ada")
        time = datetime.fromtimestamp((said.time_ms - 1) / 1000, UTC).isoformat()
        log = [{"role": "user", "content": said.text, "id": "m-1", "time": time}]
        await runtime.import_history(log, session_id="log", user="ada")
        assert await runtime.items("ada", history=True) == ()
        await answered(await runtime.spawn("s", user="ada"), "My new address is 9 Lake Road.")
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value == "9 Lake Road"
