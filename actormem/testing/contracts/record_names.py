"""What the writes of names and of intents do (promise 8 of `actormem.ports.Record`)."""

from typing import Final

from actormem.core.values import SessionKey
from actormem.ports import (
    AppendEvents,
    DeleteIntent,
    EraseOwner,
    EraseSession,
    PutIntent,
    Record,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
)
from actormem.testing.contracts.checks import AsyncCheck, promised, same
from actormem.testing.contracts.record_values import (
    ADA,
    BOB,
    NOBODY,
    TALK,
    MakeRecord,
    append,
    event,
    fails,
    message,
    opened,
    woken,
)

__all__ = ["NAMES_AND_INTENTS"]

OTHER: Final = SessionKey(BOB, "s-1")


async def behind(record: Record, expected: tuple[SessionKey, ...], when: str) -> None:
    same(await record.behind(), expected, f"who is behind {when}")


@promised("Record", 8)
async def released_names_may_be_given_again_and_the_events_stay(make: MakeRecord) -> None:
    """`ReleaseNames` takes the names off events, so that they may be given again; the events stay."""
    async with opened(make) as record:
        await record.sync([message(1, 4), message(1, 4, OTHER)])
        await record.sync([append(5, 5), ReleaseNames(TALK, 2, 4)])
        same(await record.session_names(TALK), frozenset({"n1"}), "the names that are left")
        same(await record.session_names(OTHER), frozenset({"n1", "n2", "n3", "n4"}), "those of another")
        same([row.message_count for row in await record.sessions(ADA)], [1], "the number of messages")
        await record.sync([AppendEvents(TALK, (event(6, name="n3"),), 1_000)])
        same(await record.session_names(TALK), frozenset({"n1", "n3"}), "the names with one given again")
        same([row.message_count for row in await record.sessions(ADA)], [2], "the number of messages")
        found = await record.read_events(TALK, 1, 9)
        same([one.name for one in found], ["n1", "", "", "", "", "n3"], "the names of the events")
        same([one.text for one in found], ["words"] * 6, "the words of the events")


@promised("Record", 8)
async def a_name_that_is_not_released_is_still_given_once(make: MakeRecord) -> None:
    """A name that is not released stands once in its session."""
    async with opened(make) as record:
        await record.sync([message(1, 3), append(4, 4), ReleaseNames(TALK, 2, 3)])
        await fails(record, [AppendEvents(TALK, (event(5, name="n1"),), 1_000)], "a name given twice")


@promised("Record", 8)
async def a_session_is_behind_until_its_progress_is_past_what_was_released(make: MakeRecord) -> None:
    """After `ReleaseNames` the session is behind until its progress is past `last`."""
    async with opened(make) as record:
        await record.sync([message(1, 4), SetProgress(TALK, 4)])
        await behind(record, (), "when all is taken in")
        await record.sync([append(5, 5), ReleaseNames(TALK, 2, 4)])
        await behind(record, (TALK,), "when names are released")
        await record.sync([append(6, 6)])
        await behind(record, (TALK,), "when an event follows")
        await record.sync([SetProgress(TALK, 5)])
        await behind(record, (), "when the release is taken in")
        await record.sync([ReleaseNames(TALK, 1, 99)])
        await behind(record, (TALK,), "when more is released than there is")
        await record.sync([SetProgress(TALK, 99)])
        await behind(record, (), "when there is nothing more to be told of")


@promised("Record", 8)
async def names_are_released_with_the_transaction_or_not_at_all(make: MakeRecord) -> None:
    """Names are released with their transaction, or not at all."""
    async with opened(make) as record:
        await record.sync([message(1, 3), SetProgress(TALK, 3)])
        await fails(record, [ReleaseNames(TALK, 2, 3), append(9, 9)], "a gap after a release")
        same(await record.session_names(TALK), frozenset({"n1", "n2", "n3"}), "the names")
        await behind(record, (), "after a release that failed")


@promised("Record", 8)
async def words_of_events_without_their_names_can_be_replaced(make: MakeRecord) -> None:
    """Events whose names were released keep their words, which can still be replaced."""
    async with opened(make) as record:
        released = ReleaseNames(TALK, 2, 3)
        await record.sync([message(1, 3), append(4, 4), released, SaveSnapshot(TALK, 1, b"state")])
        same([one.sequence for one in (await woken(record)).events], [2, 3, 4], "the events after a snapshot")
        await record.sync([ReplaceTexts(TALK, ((2, None), (3, "cut")))])
        texts = [one.text for one in await record.read_events(TALK, 1, 4)]
        same(texts, ["words", None, "cut", "words"], "the words")


@promised("Record", 8)
async def an_erased_session_begins_again_without_a_trace_of_its_release(make: MakeRecord) -> None:
    """What was released goes with its session, and with its owner."""
    for erased in (EraseSession(TALK), EraseOwner(ADA)):
        async with opened(make) as record:
            await record.sync([message(1, 3), append(4, 4), ReleaseNames(TALK, 2, 3), erased])
            await record.sync([append(1, 1), ReleaseNames(OTHER, 1, 2)])
            await behind(record, (), f"after {type(erased).__name__}")


@promised("Record", 8)
async def the_newest_intent_of_a_name_stands_until_it_is_deleted(make: MakeRecord) -> None:
    """`PutIntent` replaces the intent of the same name, which stands until `DeleteIntent`."""
    async with opened(make) as record:
        same(await record.intents(ADA), (), "the intents of nobody")
        await record.sync([PutIntent(ADA, "b", b"1"), PutIntent(ADA, "a", b"2"), PutIntent(BOB, "a", b"3")])
        await record.sync([PutIntent(ADA, "b", b"4")])
        same(await record.intents(ADA), (("a", b"2"), ("b", b"4")), "the intents, by name")
        same(await record.owners_with_intents(), (ADA, BOB), "the owners with intents")
        late = [DeleteIntent(ADA, "z"), DeleteIntent(NOBODY, "a")]
        await record.sync([DeleteIntent(ADA, "a"), DeleteIntent(ADA, "b"), *late])
        same(await record.intents(ADA), (), "the intents when all are done")
        same(await record.owners_with_intents(), (BOB,), "the owners with intents")


@promised("Record", 8)
async def owners_are_found_by_what_the_names_of_their_intents_begin_with(make: MakeRecord) -> None:
    """`owners_with_intents` finds owners by the beginning of an intent's name, case and all."""
    async with opened(make) as record:
        await record.sync([PutIntent(ADA, "erase:a", b""), PutIntent(BOB, "extract:erase:", b"")])
        for prefix, expected in (("erase:", (ADA,)), ("ERASE:", ()), ("e", (ADA, BOB))):
            same(await record.owners_with_intents(prefix), expected, f"the owners for {prefix!r}")


@promised("Record", 8)
async def intents_go_with_their_owner_and_those_of_others_stay(make: MakeRecord) -> None:
    """`EraseOwner` removes the owner's intents, and no others."""
    async with opened(make) as record:
        await record.sync([PutIntent(ADA, "a", b"1"), PutIntent(BOB, "a", b"2"), EraseOwner(ADA)])
        same(await record.intents(ADA), (), "the intents of the owner that was erased")
        same(await record.intents(BOB), (("a", b"2"),), "those of another")


NAMES_AND_INTENTS: Final[tuple[AsyncCheck[[MakeRecord]], ...]] = (
    released_names_may_be_given_again_and_the_events_stay,
    a_name_that_is_not_released_is_still_given_once,
    a_session_is_behind_until_its_progress_is_past_what_was_released,
    names_are_released_with_the_transaction_or_not_at_all,
    words_of_events_without_their_names_can_be_replaced,
    an_erased_session_begins_again_without_a_trace_of_its_release,
    the_newest_intent_of_a_name_stands_until_it_is_deleted,
    owners_are_found_by_what_the_names_of_their_intents_begin_with,
    intents_go_with_their_owner_and_those_of_others_stay,
)
"""One check for each thing that these writes do."""
