"""The promises of `actormem.ports.Record`, over each of our records; and what only ours do."""

import pytest

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import OverloadedError, StoppedError, StorageError, UsageError
from actormem.ports import (
    AppendEvents,
    PutItems,
    PutVectors,
    Record,
    ReleaseNames,
    Write,
)
from actormem.testing import contracts
from actormem.testing.contracts.record_values import (
    ADA,
    TALK,
    MakeRecord,
    append,
    event,
    item,
    sequences,
)
from tests.contract.records import Place

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("check", contracts.RECORD, ids=str)
async def test_a_record_keeps(check: contracts.AsyncCheck[[MakeRecord]], place: Place) -> None:
    await check(place.make)


@pytest.mark.parametrize("check", contracts.KEPT_RECORD, ids=str)
async def test_a_record_that_is_opened_again_keeps(
    check: contracts.AsyncCheck[[MakeRecord]], kept: Place
) -> None:
    await check(kept.make)


async def test_what_gathers_during_a_commit_is_committed_as_one(place: Place) -> None:
    async with place.open() as record:
        assert record.statistics().size_bytes > 0
        for number in range(1, 101):
            record.submit([append(number, number)])
        assert record.statistics().waiting_count == 100
        await record.sync()
        statistics = record.statistics()
    assert (statistics.commit_count, statistics.write_count) == (1, 100)
    assert (statistics.waiting_count, statistics.failed_commit_count) == (0, 0)


async def test_values_that_could_not_be_read_back_are_refused_and_nothing_changes(place: Place) -> None:
    wrong: list[Write] = [
        AppendEvents(TALK, (event(1, "\ud800"),), 1_000),
        AppendEvents(TALK, (event(1),), 2**70),
        AppendEvents(SessionKey(ADA, "\udfff"), (event(1),), 1_000),
        PutItems((item(1, importance="high"),)),
        PutItems((Item(id="m1", owner=ADA, kind="rumour", text=""),)),  # type: ignore[arg-type]
        PutVectors(ADA, "e", (("m1", b"123"),)),
    ]
    async with place.open() as record:
        for write in wrong:
            with pytest.raises(UsageError):
                record.submit([append(1, 1), write])
        assert record.statistics().waiting_count == 0
        await record.sync([append(1, 1)])
        assert await sequences(record) == [1]


async def test_reading_under_an_impossible_id_is_a_usage_error(place: Place) -> None:
    async with place.open() as record:
        with pytest.raises(UsageError):
            await record.load_session(SessionKey(ADA, "\ud800"))


THEIRS = SessionKey(Owner("shop", "bob"), "s-1")


def submit_without_end(record: Record, key: SessionKey = TALK) -> None:
    for number in range(1, 100_000):
        record.submit([append(number, number, key)])


async def test_a_full_queue_refuses_and_keeps_what_it_has(place: Place) -> None:
    async with place.open() as record:
        with pytest.raises(OverloadedError) as refused:
            submit_without_end(record)
        assert refused.value.waiting == refused.value.limit
        record.submit([append(1, 1, THEIRS)])  # there is room for others
        with pytest.raises(OverloadedError):
            record.submit([append(refused.value.limit + 1, refused.value.limit + 1)])
        await record.sync()
        assert await sequences(record) == list(range(1, refused.value.limit + 1))
        assert await sequences(record, THEIRS) == [1]
        record.submit([append(refused.value.limit + 1, refused.value.limit + 1)])


async def test_however_many_flood_the_queue_the_next_to_come_has_a_place(place: Place) -> None:
    async with place.open() as record:
        shares: list[int] = []
        for user in range(7):
            key = SessionKey(Owner("shop", f"user {user}"), "s")
            with pytest.raises(OverloadedError) as refused:
                submit_without_end(record, key)
            shares.append(refused.value.waiting)
        assert all(share > 10 for share in shares)
        assert shares == sorted(shares, reverse=True)
        record.submit([append(1, 1)])


async def test_an_error_of_the_block_comes_out_as_it_is_after_the_commit(kept: Place) -> None:
    async def leave_with_an_error() -> None:
        async with kept.open() as record:
            record.submit([append(1, 1)])
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await leave_with_an_error()
    async with kept.open() as record:
        assert await sequences(record) == [1]


async def test_a_record_that_was_left_refuses_reads_and_writes(place: Place) -> None:
    async with place.open() as record:
        pass
    with pytest.raises(StoppedError):
        await record.load_session(TALK)
    with pytest.raises(StoppedError):
        record.submit([append(1, 1)])


# --- promise 4: isolation ------------------------------------------------------------------------


async def test_a_failure_nobody_was_told_of_is_raised_on_leaving(place: Place) -> None:
    with pytest.raises(StorageError):
        async with place.open() as record:
            record.submit([append(9, 9)])


async def test_a_callback_that_raises_stops_nothing_and_is_raised_on_leaving(place: Place) -> None:
    def broken(error: StorageError | None) -> None:
        raise ZeroDivisionError

    async def go_on() -> None:
        async with place.open() as record:
            record.submit([append(1, 1)], broken)
            await record.sync([append(2, 2)])
            seen.extend(await sequences(record))

    seen: list[int] = []
    with pytest.raises(ZeroDivisionError):
        await go_on()
    assert seen == [1, 2]


@pytest.mark.parametrize("wrong", [2**70, "one", None])
async def test_a_range_of_names_that_could_not_be_stored_is_refused(place: Place, wrong: int) -> None:
    async with place.open() as record:
        with pytest.raises(UsageError, match="ReleaseNames"):
            await record.sync([ReleaseNames(TALK, wrong, 3)])
