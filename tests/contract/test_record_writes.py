"""What each write to `actormem.ports.Record` does, over the record in a folder and the one in memory."""

import pytest

from actormem.core.knowledge.bases import base_owner
from actormem.core.values import Item, Owner, SessionKey
from actormem.ports import (
    AppendEvents,
    BaseContents,
    BaseRow,
    DeleteItems,
    EraseOwner,
    EraseSession,
    MarkShown,
    PutItems,
    PutTombstones,
    PutVectors,
    Record,
    ReplaceTexts,
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


def message(sequence: int, key: SessionKey = TALK) -> AppendEvents:
    """A named event: only those are behind."""
    return AppendEvents(key, (event(sequence, name=f"n{sequence}"),), 1_000)


def append(first: int, last: int, key: SessionKey = TALK, time_ms: int = 1_000) -> AppendEvents:
    return AppendEvents(key, tuple(event(number) for number in range(first, last + 1)), time_ms)


def item(number: int, owner: Owner = ADA, text: str = "Ada lives in Hangzhou.", **fields: object) -> Item:
    return Item(id=f"m{number}", owner=owner, kind="fact", text=text, **fields)  # type: ignore[arg-type]


async def sequences(record: Record, key: SessionKey = TALK) -> list[int]:
    history = await record.load_session(key)
    return [] if history is None else [event.sequence for event in history.events]


# --- what each write does ------------------------------------------------------------------------


async def test_a_snapshot_replaces_the_one_before(place: Place) -> None:
    async with place.open() as record:
        await record.sync([append(1, 4), SaveSnapshot(TALK, 2, b"two"), SaveSnapshot(TALK, 4, b"four")])
        history = await record.load_session(TALK)
        assert history is not None
        assert (history.snapshot, history.snapshot_sequence, history.events) == (b"four", 4, ())


async def test_replacing_texts_keeps_the_events_and_drops_the_snapshot(place: Place) -> None:
    async with place.open() as record:
        await record.sync([append(1, 3), SaveSnapshot(TALK, 3, b"state")])
        await record.sync([ReplaceTexts(TALK, ((1, None), (3, "cut"), (8, "nothing there")))])
        history = await record.load_session(TALK)
        assert history is not None
        assert history.snapshot is None
        assert history.events == (event(1, None), event(2), event(3, "cut"))


async def test_progress_never_goes_back_nor_past_the_last_event(place: Place) -> None:
    async with place.open() as record:
        await record.sync([append(1, 2), message(3), message(1, SessionKey(BOB, "s"))])
        assert set(await record.behind()) == {TALK, SessionKey(BOB, "s")}
        progress: list[int] = []
        for sequence in (2, 1, 9):
            await record.sync([SetProgress(TALK, sequence)])
            history = await record.load_session(TALK)
            assert history is not None
            progress.append(history.progress)
        assert progress == [2, 2, 3]
        assert await record.behind() == (SessionKey(BOB, "s"),)
        await record.sync([append(4, 4)])
        assert TALK not in await record.behind(), "nothing was said"
        await record.sync([message(5)])
        assert TALK in await record.behind()


async def test_sessions_are_listed_newest_change_first_with_their_messages(place: Place) -> None:
    async with place.open() as record:
        for number, name in enumerate(["a", "b", "c"]):
            named = (event(1, name="m-1"), event(2), event(3, name="m-2"))
            await record.sync([AppendEvents(SessionKey(ADA, name), named, 1_000 + number)])
        await record.sync([append(4, 4, SessionKey(ADA, "a"), 5_000)])
        rows = await record.sessions(ADA)
        assert [(row.session_id, row.created_ms, row.changed_ms, row.message_count) for row in rows] == [
            ("a", 1_000, 5_000, 2),
            ("c", 1_002, 1_002, 2),
            ("b", 1_001, 1_001, 2),
        ]
        assert await record.sessions(BOB) == ()


async def test_items_come_by_number_in_their_newest_state(place: Place) -> None:
    async with place.open() as record:
        await record.sync([PutItems((item(10), item(2, text="她对花生过敏。"), item(9)))])
        await record.sync([PutItems((item(9, state="superseded", superseded_by="m10"),))])
        stored = await record.load_items(ADA, "e")
        assert [item.id for item in stored.items] == ["m2", "m9", "m10"]
        assert stored.items[1].state == "superseded"


async def test_vectors_are_kept_per_embedder_and_only_for_items_that_are_there(place: Place) -> None:
    async with place.open() as record:
        await record.sync([PutItems((item(1), item(2)))])
        await record.sync([PutVectors(ADA, "e", (("m1", VECTOR), ("m3", VECTOR), ("nonsense", VECTOR)))])
        await record.sync([PutVectors(ADA, "f", (("m2", VECTOR),)), PutVectors(BOB, "e", (("m2", VECTOR),))])
        assert dict((await record.load_items(ADA, "e")).vectors) == {"m1": VECTOR}
        assert dict((await record.load_items(ADA, "f")).vectors) == {"m2": VECTOR}


async def test_a_vector_goes_when_the_words_of_its_item_change(place: Place) -> None:
    async with place.open() as record:
        await record.sync([PutItems((item(1), item(2)))])
        await record.sync([PutVectors(ADA, "e", (("m1", VECTOR), ("m2", VECTOR)))])
        await record.sync([PutItems((item(1, text="Ada moved."), item(2, seen_count=2)))])
        assert list((await record.load_items(ADA, "e")).vectors) == ["m2"]


async def test_deleted_items_leave_no_vector_and_are_shown_nowhere(place: Place) -> None:
    async with place.open() as record:
        await record.sync([append(1, 2), PutItems((item(1), item(2)))])
        await record.sync([PutVectors(ADA, "e", (("m1", VECTOR),)), MarkShown(TALK, 2, ("m1", "m2", "m5"))])
        assert await record.shown_in(ADA, "m1") == ((TALK, 2),)
        await record.sync([DeleteItems(ADA, ("m1", "m1", "m8"))])
        stored = await record.load_items(ADA, "e")
        assert (stored.items, dict(stored.vectors)) == ((item(2),), {})
        assert await record.shown_in(ADA, "m1") == ()
        assert await record.shown_in(ADA, "m2") == ((TALK, 2),)


async def test_knowledge_is_shown_in_sessions_of_its_tenant_alone(place: Place) -> None:
    base, users = base_owner("t", "manual"), [Owner("t", "ada"), Owner("t", "bob"), Owner("u", "ada")]
    keys = [SessionKey(user, "s") for user in users]
    passages = (item(1, base), item(2, base))
    async with place.open() as record:
        await record.sync([PutItems((*passages, item(3, users[0])))])
        for key in keys:
            await record.sync([append(1, 1, key), MarkShown(key, 1, ("m1", "m3"))])
        assert await record.shown_in(base, "m1") == ((keys[0], 1), (keys[1], 1))
        assert await record.shown_in(users[0], "m3") == ((keys[0], 1),), (
            "what a user has is shown to him alone"
        )
        assert await record.shown_in(users[0], "m1") == ()
        held = BaseContents(frozenset({"m1", "m2"}), frozenset(keys[:2]))
        assert await record.base_contents(base) == held
        assert await record.base_contents(base_owner("u", "manual")) == BaseContents(frozenset(), frozenset())
        assert await record.bases("t") == (BaseRow("manual", 2),)
        assert await record.bases("u") == await record.bases("") == ()
        await record.sync([EraseOwner(base)])
        assert await record.bases("t") == ()
        assert await record.shown_in(users[0], "m3") == ((keys[0], 1),)


async def test_an_erased_session_is_gone_and_may_begin_again(place: Place) -> None:
    async with place.open() as record:
        await record.sync([append(1, 3), SaveSnapshot(TALK, 3, b"state"), PutItems((item(1),))])
        await record.sync([MarkShown(TALK, 3, ("m1",)), SetProgress(TALK, 3), EraseSession(TALK)])
        assert await record.load_session(TALK) is None
        assert await record.sessions(ADA) == ()
        assert await record.behind() == ()
        assert await record.shown_in(ADA, "m1") == ()
        late: list[Write] = [SetProgress(TALK, 3), SaveSnapshot(TALK, 3, b"old"), MarkShown(TALK, 3, ("m1",))]
        await record.sync([*late, ReplaceTexts(TALK, ((1, "old"),)), EraseSession(TALK)])
        await record.sync([append(1, 1)])
        assert await sequences(record) == [1]


async def test_an_erased_owner_leaves_nothing_and_others_stay(place: Place) -> None:
    async with place.open() as record:
        for owner, number in ((ADA, 1), (BOB, 2)):
            key = SessionKey(owner, "s")
            await record.sync(
                [append(1, 2, key), SaveSnapshot(key, 1, b"state"), PutItems((item(number, owner),))]
            )
            await record.sync(
                [PutVectors(owner, "e", ((f"m{number}", VECTOR),)), MarkShown(key, 1, (f"m{number}",))]
            )
            await record.sync([PutTombstones(owner, ("h",))])
        await record.sync([EraseOwner(ADA), EraseOwner(Owner("no", "one"))])
        gone = await record.load_items(ADA, "e")
        assert (gone.items, dict(gone.vectors), gone.tombstones) == ((), {}, frozenset())
        assert await record.load_session(SessionKey(ADA, "s")) is None
        kept = await record.load_items(BOB, "e")
        assert (kept.items, dict(kept.vectors), kept.tombstones) == ((item(2, BOB),), {"m2": VECTOR}, {"h"})
        assert await sequences(record, SessionKey(BOB, "s")) == [2]
