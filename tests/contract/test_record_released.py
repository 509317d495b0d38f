"""What releasing names does, over the record in a folder and the one in memory."""

import pytest

from actormem.core.values import Owner, SessionKey
from actormem.errors import StorageError, UsageError
from actormem.ports import (
    AppendEvents,
    EraseOwner,
    EraseSession,
    Record,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
    StoredEvent,
)
from tests.contract.records import Place

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
TALK = SessionKey(ADA, "s-1")
OTHER = SessionKey(Owner("shop", "bob"), "s-1")


def event(sequence: int, name: str = "", text: str | None = "words") -> StoredEvent:
    return StoredEvent(sequence=sequence, body=b"body %d" % sequence, name=name, text=text)


def named(first: int, last: int, key: SessionKey = TALK) -> AppendEvents:
    return AppendEvents(key, tuple(event(number, f"n{number}") for number in range(first, last + 1)), 1_000)


def plain(sequence: int, key: SessionKey = TALK) -> AppendEvents:
    return AppendEvents(key, (event(sequence),), 1_000)


async def counted(record: Record) -> int:
    [row] = await record.sessions(ADA)
    return row.message_count


async def test_released_names_may_be_given_again_and_the_events_stay(place: Place) -> None:
    async with place.open() as record:
        await record.sync([named(1, 4), named(1, 4, OTHER)])
        await record.sync([plain(5), ReleaseNames(TALK, 2, 4)])
        assert await record.session_names(TALK) == {"n1"}
        assert await record.session_names(OTHER) == {"n1", "n2", "n3", "n4"}
        assert await counted(record) == 1
        await record.sync([AppendEvents(TALK, (event(6, "n3"),), 1_000)])
        assert await record.session_names(TALK) == {"n1", "n3"}
        assert await counted(record) == 2
        found = await record.read_events(TALK, 1, 9)
        assert [one.name for one in found] == ["n1", "", "", "", "", "n3"]
        assert [one.text for one in found] == ["words"] * 6


async def test_a_name_that_is_not_released_is_still_given_once(place: Place) -> None:
    async with place.open() as record:
        await record.sync([named(1, 3), plain(4), ReleaseNames(TALK, 2, 3)])
        with pytest.raises(StorageError):
            await record.sync([AppendEvents(TALK, (event(5, "n1"),), 1_000)])


async def test_a_session_is_behind_until_its_progress_is_past_what_was_released(place: Place) -> None:
    async with place.open() as record:
        await record.sync([named(1, 4), SetProgress(TALK, 4)])
        assert await record.behind() == ()
        await record.sync([plain(5), ReleaseNames(TALK, 2, 4)])
        assert await record.behind() == (TALK,)
        await record.sync([plain(6)])
        assert await record.behind() == (TALK,)
        await record.sync([SetProgress(TALK, 5)])
        assert await record.behind() == ()
        await record.sync([ReleaseNames(TALK, 1, 99)])
        assert await record.behind() == (TALK,)
        await record.sync([SetProgress(TALK, 99)])
        assert await record.behind() == (), "there is nothing more to be told of"


async def test_names_are_released_with_the_transaction_or_not_at_all(place: Place) -> None:
    async with place.open() as record:
        await record.sync([named(1, 3), SetProgress(TALK, 3)])
        with pytest.raises(StorageError):
            await record.sync([ReleaseNames(TALK, 2, 3), plain(9)])
        assert await record.session_names(TALK) == {"n1", "n2", "n3"}
        assert await record.behind() == ()


async def test_words_of_events_without_their_names_can_still_be_replaced(place: Place) -> None:
    async with place.open() as record:
        await record.sync([named(1, 3), plain(4), ReleaseNames(TALK, 2, 3), SaveSnapshot(TALK, 1, b"state")])
        history = await record.load_session(TALK)
        assert history is not None
        assert [one.sequence for one in history.events] == [2, 3, 4], (
            "an older snapshot takes the newer's place"
        )
        await record.sync([ReplaceTexts(TALK, ((2, None), (3, "cut")))])
        texts = [one.text for one in await record.read_events(TALK, 1, 4)]
        assert texts == ["words", None, "cut", "words"]


@pytest.mark.parametrize("erased", [EraseSession(TALK), EraseOwner(ADA)], ids=["session", "owner"])
async def test_an_erased_session_begins_again_without_a_trace_of_it(
    place: Place, erased: EraseSession | EraseOwner
) -> None:
    async with place.open() as record:
        await record.sync([named(1, 3), plain(4), ReleaseNames(TALK, 2, 3), erased])
        await record.sync([plain(1), ReleaseNames(OTHER, 1, 2)])
        assert await record.behind() == ()


@pytest.mark.parametrize("wrong", [2**70, "one", None])
async def test_a_range_that_could_not_be_stored_is_refused(place: Place, wrong: int) -> None:
    async with place.open() as record:
        with pytest.raises(UsageError, match="ReleaseNames"):
            await record.sync([ReleaseNames(TALK, wrong, 3)])
