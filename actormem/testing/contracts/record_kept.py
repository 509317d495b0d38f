"""The promises of `actormem.ports.Record` that only a second opening of the same folder can show."""

from typing import Final

import anyio

from actormem.core.values import SessionKey
from actormem.ports import (
    AppendEvents,
    DeleteItems,
    EraseOwner,
    EraseSession,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
    Write,
)
from actormem.testing.contracts.checks import AsyncCheck, promised, require, same
from actormem.testing.contracts.places import files_holding, own_folder
from actormem.testing.contracts.record_values import (
    ADA,
    BOB,
    TALK,
    VECTOR,
    MakeRecord,
    append,
    event,
    fails,
    item,
    sequences,
    woken,
)

__all__ = ["KEPT_RECORD"]

CANARY: Final = ("canary-7f3a", "金丝雀")
COUNT: Final = 300  # of texts to erase: enough for rows to move between pages
THEIRS: Final = SessionKey(BOB, "s")


@promised("Record", 1)
async def a_transaction_that_failed_is_not_there_later(make: MakeRecord) -> None:
    """A transaction is stored whole or not at all, after opening again too."""
    with own_folder() as folder:
        async with make(folder) as record:
            await record.sync([append(1, 2)])
            await fails(record, [append(3, 3), append(7, 7)], "a gap after what is right")
        async with make(folder) as record:
            same(await sequences(record), [1, 2], "the events")


@promised("Record", 2)
async def everything_is_there_after_opening_again(make: MakeRecord) -> None:
    """After `then(None)` nothing of it is lost; and leaving commits what waits."""
    with own_folder() as folder:
        async with make(folder) as record:
            record.submit([append(1, 3), PutItems((item(1),)), PutVectors(ADA, "e", (("m1", VECTOR),))])
            record.submit([SaveSnapshot(TALK, 2, b"state"), SetProgress(TALK, 1)])
            record.submit([PutTombstones(ADA, ("h",)), PutIntent(ADA, "a", b"1")])
        async with make(folder) as record:
            history = await woken(record)
            found = (history.snapshot, history.snapshot_sequence, history.progress)
            same(found, (b"state", 2, 1), "snapshot, its sequence and progress")
            same(history.events, (event(3),), "the events after the snapshot")
            stored = await record.load_items(ADA, "e")
            found = (stored.items, dict(stored.vectors), stored.tombstones)
            same(found, ((item(1),), {"m1": VECTOR}, frozenset({"h"})), "items, vectors and tombstones")
            same(await record.intents(ADA), (("a", b"1"),), "the intents")


@promised("Record", 2)
async def leaving_under_cancellation_commits_what_waits(make: MakeRecord) -> None:
    """Leaving commits what waits, under cancellation too."""
    with own_folder() as folder:
        with anyio.CancelScope() as scope:
            async with make(folder) as record:
                record.submit([append(1, 5)])
                scope.cancel()
                await anyio.sleep_forever()
        async with make(folder) as record:
            same(await sequences(record), [1, 2, 3, 4, 5], "the events")


@promised("Record", 5)
async def a_folder_that_failed_takes_writes_when_it_is_opened_again(make: MakeRecord) -> None:
    """Writes fail after the first failed commit until the folder is opened again, and not longer."""
    with own_folder() as folder:
        async with make(folder) as record:
            await record.sync([append(1, 1)])
            await fails(record, [append(9, 9)], "a gap")
            await fails(record, [append(2, 2)], "a write after a failed commit")
        async with make(folder) as record:
            await record.sync([append(2, 2)])
            same(await sequences(record), [1, 2], "the events")


@promised("Record", 6)
async def item_numbers_are_given_once_over_deletions_and_restarts(make: MakeRecord) -> None:
    """`next_item_number` gives each number once in the life of the folder, deletions and restarts included."""
    given: list[int] = []
    with own_folder() as folder:
        for _ in range(3):
            async with make(folder) as record:
                given += [record.next_item_number() for _ in range(2_000)]
                number = given[-1]
                await record.sync([PutItems((item(number),)), DeleteItems(ADA, (f"m{number}",))])
    same(len(set(given)), len(given), "the number of different numbers")
    require(given == sorted(given), "a later number is smaller")


def words(number: int) -> str:
    """Words of many lengths, so that rows move between pages and spill over."""
    return f"{' '.join(CANARY)} {number} " + "w" * (number * 37 % 3_000)


def erasures() -> dict[str, list[Write]]:
    """Five ways to erase all that holds the canary."""
    ids = tuple(f"m{number}" for number in range(1, COUNT + 1))
    blank = tuple((number, None if number % 2 else "短") for number in range(1, COUNT + 1))
    texts, items = ReplaceTexts(TALK, blank), DeleteItems(ADA, ids)
    edited = PutItems(tuple(item(number, text="短") for number in range(1, COUNT + 1)))
    return {
        "texts": [texts, items],
        "items": [items, texts],
        "edited items": [edited, texts],
        "session": [EraseSession(TALK), items],
        "owner": [EraseOwner(ADA)],
    }


@promised("Record", 7)
async def erased_words_are_in_no_file_after_scrub(make: MakeRecord) -> None:
    """Erased words are in no file of the record once `scrub` has returned, and what is not erased stays."""
    for how, writes in erasures().items():
        with own_folder() as folder:
            async with make(folder) as record:
                for number in range(1, COUNT + 1):
                    said = AppendEvents(TALK, (event(number, words(number)),), 1)
                    items = PutItems((item(number, text=words(number)), item(1_000 + number, BOB)))
                    record.submit([said, append(number, number, THEIRS), items])
                await record.sync([SaveSnapshot(TALK, COUNT, words(1).encode())])
                record.submit(writes)
                await record.scrub()
                same(files_holding(folder, *CANARY), [], f"the files that hold the words after erasing {how}")
                same(await sequences(record, THEIRS), [*range(1, COUNT + 1)], "another owner's events")
                same(len((await record.load_items(BOB, "e")).items), COUNT, "another owner's items")
            same(files_holding(folder, *CANARY), [], f"the files that hold them after leaving ({how})")


@promised("Record", 7)
async def scrub_takes_up_what_was_erased_before_a_restart(make: MakeRecord) -> None:
    """Words that were erased before the folder was opened again are gone after `scrub` too."""
    with own_folder() as folder:
        async with make(folder) as record:
            for number in range(1, COUNT + 1):
                record.submit([AppendEvents(TALK, (event(number, words(number)),), 1)])
                record.submit([append(number, number, THEIRS)])
            await record.sync([EraseSession(TALK)])
        async with make(folder) as record:
            await record.scrub()
            same(files_holding(folder, *CANARY), [], "the files that hold them")


KEPT_RECORD: Final[tuple[AsyncCheck[[MakeRecord]], ...]] = (
    a_transaction_that_failed_is_not_there_later,
    everything_is_there_after_opening_again,
    leaving_under_cancellation_commits_what_waits,
    a_folder_that_failed_takes_writes_when_it_is_opened_again,
    item_numbers_are_given_once_over_deletions_and_restarts,
    erased_words_are_in_no_file_after_scrub,
    scrub_takes_up_what_was_erased_before_a_restart,
)
"""One check for each promise about a folder. kill -9 and power loss are yours to try: they end this process."""
