"""The promises of `actormem.ports.Record`, over any record: `await check(make)`.

`RECORD` runs over every record, in memory too; `KEPT_RECORD` over one that is opened again in the same folder.
"""

from typing import Final

import anyio
import anyio.lowlevel

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import StorageError
from actormem.ports import (
    AppendEvents,
    DeleteItems,
    EraseSession,
    MarkShown,
    PutItems,
    PutTombstones,
    PutVectors,
    Record,
    ReplaceTexts,
    SaveSnapshot,
    Write,
)
from actormem.testing.contracts.checks import AsyncCheck, promised, require, same
from actormem.testing.contracts.record_kept import KEPT_RECORD
from actormem.testing.contracts.record_names import NAMES_AND_INTENTS
from actormem.testing.contracts.record_values import (
    ADA,
    BOB,
    NO_VECTORS,
    TALK,
    VECTOR,
    MakeRecord,
    append,
    event,
    fails,
    item,
    opened,
    sequences,
    woken,
)
from actormem.testing.contracts.record_writes import WRITES
from actormem.testing.corpus import OWNERS

__all__ = ["KEPT_RECORD", "RECORD", "MakeRecord"]


@promised("Record", 1)
async def a_session_reads_back_what_was_appended(make: MakeRecord) -> None:
    """What is appended is read back as it was, by ranges too."""
    events = (event(1, "我的订单 KX-48210 到了吗？", "m-1"), event(2, None), event(3, "", "m-2"))
    async with opened(make) as record:
        same(await record.load_session(TALK), None, "a session that was never written")
        await record.sync([AppendEvents(TALK, events, 1_000)])
        history = await woken(record)
        same(history.events, events, "the events")
        found = (history.snapshot, history.snapshot_sequence, history.progress)
        same(found, (None, 0, 0), "snapshot, its sequence and progress")
        for first, last, expected in (
            (2, 3, events[1:]),
            (-5, 2**70, events),
            (2**70, 2**71, ()),
            (3, 2, ()),
        ):
            same(await record.read_events(TALK, first, last), expected, f"events {first} to {last}")
        same(await record.session_names(TALK), frozenset({"m-1", "m-2"}), "the names")


@promised("Record", 1)
async def outcomes_are_told_in_the_order_of_submission(make: MakeRecord) -> None:
    """`submit` returns at once; `then` is called after the commit, in the order of submission."""
    told: list[tuple[int, StorageError | None]] = []
    async with opened(make) as record:
        for number in range(1, 51):
            record.submit([append(number, number)], lambda error, number=number: told.append((number, error)))
        same(told, [], "what is told before the commit")
        await record.sync()
        same(told, [(number, None) for number in range(1, 51)], "what is told after it")


@promised("Record", 1)
async def a_transaction_that_contradicts_the_record_fails_whole(make: MakeRecord) -> None:
    """A transaction that contradicts what is stored fails, and nothing of it is stored."""
    wrong: dict[str, list[Write]] = {
        "a gap": [append(2, 2)],
        "a sequence of 0": [append(0, 0)],
        "a gap inside": [AppendEvents(TALK, (event(1), event(3)), 1_000)],
        "a name twice": [AppendEvents(TALK, (event(1, name="same"), event(2, name="same")), 1_000)],
        "an id that no item has": [PutItems((Item(id="x7", owner=ADA, kind="fact", text="words"),))],
        "a snapshot of events to come": [append(1, 2), SaveSnapshot(TALK, 3, b"state")],
        "a gap after what is right": [append(1, 2), PutItems((item(1),)), append(7, 7)],
    }
    for what, writes in wrong.items():
        async with opened(make) as record:
            await fails(record, writes, what)
            same(await sequences(record), [], f"the events after {what}")
            same((await record.load_items(ADA, "e")).items, (), f"the items after {what}")


@promised("Record", 3)
async def a_read_beside_writes_sees_whole_transactions(make: MakeRecord) -> None:
    """Reads see every transaction whose `then(None)` was called, and only whole ones."""
    seen: list[int] = []
    found, done = 0, False

    async def read(record: Record) -> None:
        while not done:
            seen.append(len(await sequences(record)))
            await anyio.lowlevel.checkpoint()

    async with opened(make) as record, anyio.create_task_group() as group:
        group.start_soon(read, record)
        for first in range(1, 301, 3):
            await record.sync([append(first, first), append(first + 1, first + 2)])
        found = len(await sequences(record))
        done = True
    same(found, 300, "the number of events that were acknowledged")
    same(seen, sorted(seen), "the numbers of events, read one after another")
    require(all(count % 3 == 0 for count in seen), "a read saw a part of a transaction")


@promised("Record", 4)
async def owners_that_only_look_alike_share_nothing(make: MakeRecord) -> None:
    """Nothing of one owner is returned for another; owners and ids compare by equality."""
    owners = [*OWNERS, Owner("a", "")]
    async with opened(make) as record:
        for number, owner in enumerate(owners, 1):
            await record.sync(everything_of(owner, number))
        for number, owner in enumerate(owners, 1):
            key = SessionKey(owner, "s")
            said = [event.text for event in await record.read_events(key, 1, 9)]
            same(said, [f"words of {number}"], f"the words of {owner}")
            stored = await record.load_items(owner, "e")
            same([one.id for one in stored.items], [f"m{number}"], f"the items of {owner}")
            same([*stored.vectors], [f"m{number}"], f"the vectors of {owner}")
            same(stored.tombstones, frozenset({f"hash {number}"}), f"the tombstones of {owner}")
            same(
                [row.created_ms for row in await record.sessions(owner)], [number], f"the sessions of {owner}"
            )
            same(await record.shown_in(owner, f"m{number}"), ((key, 1),), "where an item is shown")
            others = f"m{number % len(owners) + 1}"
            same(await record.shown_in(owner, others), (), "where an item of another owner is shown")


def everything_of(owner: Owner, number: int) -> list[Write]:
    key, words = SessionKey(owner, "s"), f"words of {number}"
    return [
        AppendEvents(key, (event(1, words, "m"),), number),
        PutItems((item(number, owner, words),)),
        PutVectors(owner, "e", ((f"m{number}", VECTOR),)),
        MarkShown(key, 1, (f"m{number}",)),
        PutTombstones(owner, (f"hash {number}",)),
    ]


@promised("Record", 4)
async def writes_under_one_owner_never_touch_anothers_items(make: MakeRecord) -> None:
    """No write under one owner changes anything of another, whatever ids it names."""
    theirs = SessionKey(BOB, "s-1")
    async with opened(make) as record:
        await record.sync([append(1, 1), append(1, 1, theirs), PutItems((item(1),))])
        shown = MarkShown(theirs, 1, ("m1",))
        await record.sync(
            [PutVectors(BOB, "e", (("m1", VECTOR),)), shown, DeleteItems(BOB, ("m1",)), EraseSession(theirs)]
        )
        stored = await record.load_items(ADA, "e")
        same((stored.items, dict(stored.vectors)), ((item(1),), NO_VECTORS), "items and vectors")
        same(await record.shown_in(ADA, "m1"), (), "where the item is shown")
        same(await sequences(record), [1], "the events")
        await fails(record, [PutItems((item(1, BOB),))], "an item under another owner's number")


@promised("Record", 5)
async def after_a_failed_commit_every_write_fails(make: MakeRecord) -> None:
    """After the first failed commit every later `submit` fails too, and each is told so; reads go on."""
    told: list[str] = []
    async with opened(make) as record:
        await record.sync([append(1, 1)])
        record.submit([append(9, 9)], lambda error: told.append(type(error).__name__))
        record.submit([append(2, 2)], lambda error: told.append(type(error).__name__))
        await fails(record, [], "waiting for a commit that failed")
        same(told, ["StorageError", "StorageError"], "what is told")
        for _ in range(2):
            await fails(record, [append(2, 2)], "a later write")
            await fails(record, [], "a later wait")
        same(await sequences(record), [1], "the events")


@promised("Record", 6)
async def each_item_number_is_given_once(make: MakeRecord) -> None:
    """`next_item_number` gives each number once, and none that is stored already."""
    async with opened(make) as record:
        given = [record.next_item_number() for _ in range(3_000)]
        same(len(set(given)), 3_000, "the number of different numbers")
        await record.sync([PutItems((item(max(given) + 77),))])
        later = record.next_item_number()
        require(later > max(given) + 77, f"{later} is given after {max(given) + 77} was stored")


@promised("Record", 7)
async def scrub_beside_reads_and_writes_disturbs_neither(make: MakeRecord) -> None:
    """`scrub` may be called at any time, beside reads and writes."""
    async with opened(make) as record:
        async with anyio.create_task_group() as group:
            await record.sync([append(1, 1)])
            for number in range(2, 30):
                group.start_soon(record.load_session, TALK)
                group.start_soon(record.scrub)
                record.submit([append(number, number), ReplaceTexts(TALK, ((number, None),))])
                await anyio.lowlevel.checkpoint()
            await record.scrub()
        same(await sequences(record), [*range(1, 30)], "the events")


@promised("Record", 10)
async def places_out_of_reach_are_named(make: MakeRecord) -> None:
    """`elsewhere` names each place where erased words may still stand: a line each, none twice, the same each time."""
    async with opened(make) as record:
        named = record.elsewhere()
        same(record.elsewhere(), named, "the places, asked for again")
        same(len(set(named)), len(named), "the number of different places")
        for place in named:
            require(bool(place.strip()) and "\n" not in place, f"{place!r} is not a line that names a place")


RECORD: Final[tuple[AsyncCheck[[MakeRecord]], ...]] = (
    a_session_reads_back_what_was_appended,
    outcomes_are_told_in_the_order_of_submission,
    a_transaction_that_contradicts_the_record_fails_whole,
    a_read_beside_writes_sees_whole_transactions,
    owners_that_only_look_alike_share_nothing,
    writes_under_one_owner_never_touch_anothers_items,
    after_a_failed_commit_every_write_fails,
    each_item_number_is_given_once,
    scrub_beside_reads_and_writes_disturbs_neither,
    places_out_of_reach_are_named,
    *WRITES,
    *NAMES_AND_INTENTS,
)
"""One check for each promise that a single opening can show, and for what each write does (promise 8)."""
