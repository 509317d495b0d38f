"""The promises of `actormem.ports.Record`, over the record in a folder and the one in memory."""

import anyio
import pytest

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import OverloadedError, StoppedError, StorageError, UsageError
from actormem.ports import (
    AppendEvents,
    DeleteItems,
    EraseSession,
    MarkShown,
    PutItems,
    PutTombstones,
    PutVectors,
    Record,
    SaveSnapshot,
    SetProgress,
    StoredEvent,
    Write,
)
from tests.contract.records import Place

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
BOB = Owner("shop", "bob")
TALK = SessionKey(ADA, "s-1")
VECTOR = b"\x00\x00\x80\x3f" * 4


def event(sequence: int, text: str | None = "words", name: str = "") -> StoredEvent:
    return StoredEvent(sequence=sequence, body=b"body %d" % sequence, name=name, text=text)


def append(first: int, last: int, key: SessionKey = TALK, time_ms: int = 1_000) -> AppendEvents:
    return AppendEvents(key, tuple(event(number) for number in range(first, last + 1)), time_ms)


def item(number: int, owner: Owner = ADA, text: str = "Ada lives in Hangzhou.", **fields: object) -> Item:
    return Item(id=f"m{number}", owner=owner, kind="fact", text=text, **fields)  # type: ignore[arg-type]


async def sequences(record: Record, key: SessionKey = TALK) -> list[int]:
    history = await record.load_session(key)
    return [] if history is None else [event.sequence for event in history.events]


# --- promise 1: transactions ---------------------------------------------------------------------


async def test_a_session_reads_back_what_was_appended(place: Place) -> None:
    events = (event(1, "我的订单 KX-48210 到了吗？", "m-1"), event(2, None), event(3, "", "m-2"))
    async with place.open() as record:
        assert await record.load_session(TALK) is None
        await record.sync([AppendEvents(TALK, events, 1_000)])
        history = await record.load_session(TALK)
        assert history is not None
        assert history.events == events
        assert (history.snapshot, history.snapshot_sequence, history.progress) == (None, 0, 0)
        assert await record.read_events(TALK, 2, 3) == events[1:]
        assert await record.read_events(TALK, -5, 2**70) == events
        assert await record.read_events(TALK, 2**70, 2**71) == ()
        assert await record.read_events(TALK, 3, 2) == ()
        assert await record.session_names(TALK) == {"m-1", "m-2"}


async def test_outcomes_are_told_in_the_order_of_submission(place: Place) -> None:
    told: list[tuple[int, StorageError | None]] = []
    async with place.open() as record:
        for number in range(1, 51):
            record.submit([append(number, number)], lambda error, number=number: told.append((number, error)))
        assert told == [], "nobody is told before the commit"
        await record.sync()
    assert told == [(number, None) for number in range(1, 51)]


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


async def test_a_transaction_is_stored_whole_or_not_at_all(folder: Place) -> None:
    async with folder.open() as record:
        await record.sync([append(1, 2)])
        with pytest.raises(StorageError):
            await record.sync([append(3, 3), append(7, 7)])
        assert await sequences(record) == [1, 2]
    async with folder.open() as record:
        assert await sequences(record) == [1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        append(2, 2),
        append(0, 0),
        AppendEvents(TALK, (event(1), event(3)), 1_000),
        AppendEvents(TALK, (event(1, name="same"), event(2, name="same")), 1_000),
        PutItems((Item(id="x7", owner=ADA, kind="fact", text="words"),)),
    ],
    ids=["gap", "zero", "gap inside", "name twice", "no item id"],
)
async def test_a_write_that_contradicts_the_record_fails(place: Place, wrong: Write) -> None:
    async with place.open() as record:
        with pytest.raises(StorageError):
            await record.sync([wrong])
        assert await sequences(record) == []
        assert record.statistics().failed_commit_count == 1


async def test_a_snapshot_of_events_to_come_fails(place: Place) -> None:
    async with place.open() as record:
        with pytest.raises(StorageError, match="event 3 in a session of 2"):
            await record.sync([append(1, 2), SaveSnapshot(TALK, 3, b"state")])


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


def submit_without_end(record: Record) -> None:
    for number in range(1, 100_000):
        record.submit([append(number, number)])


async def test_a_full_queue_refuses_and_keeps_what_it_has(place: Place) -> None:
    async with place.open() as record:
        with pytest.raises(OverloadedError) as refused:
            submit_without_end(record)
        assert refused.value.waiting == refused.value.limit
        await record.sync()
        assert await sequences(record) == list(range(1, refused.value.limit + 1))


# --- promises 2 and 3: durable, and seen by reads ------------------------------------------------


async def test_everything_is_there_after_opening_again(folder: Place) -> None:
    async with folder.open() as record:
        record.submit([append(1, 3), PutItems((item(1),)), PutVectors(ADA, "e", (("m1", VECTOR),))])
        record.submit([SaveSnapshot(TALK, 2, b"state"), SetProgress(TALK, 1), PutTombstones(ADA, ("h",))])
    async with folder.open() as record:
        history = await record.load_session(TALK)
        assert history is not None
        assert (history.snapshot, history.snapshot_sequence, history.progress) == (b"state", 2, 1)
        assert history.events == (event(3),)
        stored = await record.load_items(ADA, "e")
        assert (stored.items, stored.vectors, stored.tombstones) == ((item(1),), {"m1": VECTOR}, {"h"})


async def test_leaving_under_cancellation_commits_what_waits(folder: Place) -> None:
    with anyio.CancelScope() as scope:
        async with folder.open() as record:
            record.submit([append(1, 5)])
            scope.cancel()
            await anyio.sleep_forever()
    async with folder.open() as record:
        assert await sequences(record) == [1, 2, 3, 4, 5]


async def test_an_error_of_the_block_comes_out_as_it_is_after_the_commit(folder: Place) -> None:
    async def leave_with_an_error() -> None:
        async with folder.open() as record:
            record.submit([append(1, 1)])
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await leave_with_an_error()
    async with folder.open() as record:
        assert await sequences(record) == [1]


async def test_a_read_beside_a_stream_of_writes_sees_whole_transactions(place: Place) -> None:
    seen: list[int] = []

    async def read() -> None:
        while not seen or seen[-1] < 300:
            seen.append(len(await sequences(record)))

    async with place.open() as record, anyio.create_task_group() as group:
        group.start_soon(read)
        for first in range(1, 301, 3):
            await record.sync([append(first, first), append(first + 1, first + 2)])
    assert seen == sorted(seen)
    assert all(count % 3 == 0 for count in seen)


async def test_a_record_that_was_left_refuses_reads_and_writes(place: Place) -> None:
    async with place.open() as record:
        pass
    with pytest.raises(StoppedError):
        await record.load_session(TALK)
    with pytest.raises(StoppedError):
        record.submit([append(1, 1)])


# --- promise 4: isolation ------------------------------------------------------------------------

OWNERS = [
    ("", "a"),
    ("a", ""),
    ("u1:a", "b"),
    ("u1", "a:b"),
    ("t", "é"),
    ("t", "e\u0301"),
    ("t", "A"),
    ("t", "a"),
    ("t", "%"),
    ("t", "*"),
    ("t", "' OR 1=1 --"),
    ("t", "../../etc/passwd"),
    ("t", "1"),
    ("t", "01"),
    ("t", "艾达"),
]


async def test_owners_that_only_look_alike_share_nothing(place: Place) -> None:
    owners = [Owner(tenant, user) for tenant, user in OWNERS]
    async with place.open() as record:
        for number, owner in enumerate(owners, 1):
            words = f"words of {number}"
            await record.sync(
                [
                    AppendEvents(SessionKey(owner, "s"), (event(1, words, "m"),), number),
                    PutItems((item(number, owner, words),)),
                    PutVectors(owner, "e", ((f"m{number}", VECTOR),)),
                    MarkShown(SessionKey(owner, "s"), 1, (f"m{number}",)),
                    PutTombstones(owner, (f"hash {number}",)),
                ]
            )
        for number, owner in enumerate(owners, 1):
            key = SessionKey(owner, "s")
            assert [event.text for event in await record.read_events(key, 1, 9)] == [f"words of {number}"]
            stored = await record.load_items(owner, "e")
            assert [item.id for item in stored.items] == list(stored.vectors) == [f"m{number}"]
            assert stored.tombstones == {f"hash {number}"}
            assert [row.created_ms for row in await record.sessions(owner)] == [number]
            assert await record.shown_in(owner, f"m{number}") == ((key, 1),)
            assert await record.shown_in(owner, f"m{number % len(owners) + 1}") == ()


async def test_writes_under_one_owner_never_touch_anothers_items(place: Place) -> None:
    async with place.open() as record:
        await record.sync([append(1, 1), append(1, 1, SessionKey(BOB, "s-1")), PutItems((item(1),))])
        await record.sync(
            [
                PutVectors(BOB, "e", (("m1", VECTOR),)),
                MarkShown(SessionKey(BOB, "s-1"), 1, ("m1",)),
                DeleteItems(BOB, ("m1",)),
                EraseSession(SessionKey(BOB, "s-1")),
            ]
        )
        stored = await record.load_items(ADA, "e")
        assert (stored.items, dict(stored.vectors)) == ((item(1),), {})
        assert await record.shown_in(ADA, "m1") == ()
        assert await sequences(record) == [1]
        with pytest.raises(StorageError, match="m1 belongs to another owner"):
            await record.sync([PutItems((item(1, BOB),))])


# --- promise 5: after a failure ------------------------------------------------------------------


async def test_after_a_failed_commit_every_write_fails_until_opened_again(place: Place) -> None:
    told: list[str] = []
    async with place.open() as record:
        await record.sync([append(1, 1)])
        record.submit([append(9, 9)], lambda error: told.append(type(error).__name__))
        record.submit([append(2, 2)], lambda error: told.append(type(error).__name__))
        with pytest.raises(StorageError):
            await record.sync()
        assert told == ["StorageError", "StorageError"]
        for _ in range(2):
            with pytest.raises(StorageError):
                record.submit([append(2, 2)])
            with pytest.raises(StorageError):
                await record.sync()
        assert await sequences(record) == [1], "reads go on"
    if place.path is not None:
        async with place.open() as record:
            await record.sync([append(2, 2)])
            assert await sequences(record) == [1, 2]


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


# --- promise 6: item numbers ---------------------------------------------------------------------


async def test_item_numbers_are_given_once_over_deletions_and_restarts(folder: Place) -> None:
    given: list[int] = []
    for _ in range(3):
        async with folder.open() as record:
            given += [record.next_item_number() for _ in range(2_000)]
            number = given[-1]
            await record.sync([PutItems((item(number),)), DeleteItems(ADA, (f"m{number}",))])
    assert given == list(range(1, 6_001))


async def test_a_number_stored_without_being_given_is_not_given_later(place: Place) -> None:
    async with place.open() as record:
        await record.sync([PutItems((item(77),))])
        assert record.next_item_number() == 78


# --- promise 8: the newest time ------------------------------------------------------------------


async def test_the_newest_time_is_the_newest_items_as_it_was_at_opening(folder: Place) -> None:
    async with folder.open() as record:
        assert record.newest_ms() == 0
        await record.sync([PutItems((item(2, BOB, stored_ms=7_000), item(1, stored_ms=5_000)))])
        assert record.newest_ms() == 0
    async with folder.open() as record:
        assert record.newest_ms() == 7_000
