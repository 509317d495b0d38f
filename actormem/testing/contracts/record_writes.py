"""What each write does (promise 8 of `actormem.ports.Record`): events, snapshots, items, vectors, erasures."""

from typing import Final

from actormem.core.knowledge.bases import base_owner
from actormem.core.values import Owner, SessionKey
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
    Write,
)
from actormem.testing.contracts.checks import AsyncCheck, promised, require, same
from actormem.testing.contracts.record_values import (
    ADA,
    BOB,
    NO_HASHES,
    NO_VECTORS,
    NOBODY,
    TALK,
    VECTOR,
    MakeRecord,
    append,
    event,
    item,
    message,
    opened,
    sequences,
    woken,
)

__all__ = ["WRITES"]

THEIRS: Final = SessionKey(BOB, "s")


async def held(record: Record, owner: Owner = ADA, embedder: str = "e") -> tuple[object, object]:
    """Items and vectors of an owner."""
    stored = await record.load_items(owner, embedder)
    return stored.items, dict(stored.vectors)


@promised("Record", 8)
async def a_snapshot_replaces_the_one_before(make: MakeRecord) -> None:
    """`SaveSnapshot` replaces the snapshot before; a session wakes with it and the events after it."""
    async with opened(make) as record:
        await record.sync([append(1, 4), SaveSnapshot(TALK, 2, b"two"), SaveSnapshot(TALK, 4, b"four")])
        history = await woken(record)
        found = (history.snapshot, history.snapshot_sequence, history.events)
        same(found, (b"four", 4, ()), "the snapshot, its sequence and the events after it")


@promised("Record", 8)
async def replacing_texts_keeps_the_events_and_drops_the_snapshot(make: MakeRecord) -> None:
    """`ReplaceTexts` puts other words in their place; the session's snapshot goes, its events stay."""
    async with opened(make) as record:
        await record.sync([append(1, 3), SaveSnapshot(TALK, 3, b"state")])
        await record.sync([ReplaceTexts(TALK, ((1, None), (3, "cut"), (8, "nothing there")))])
        history = await woken(record)
        same(history.snapshot, None, "the snapshot")
        same(history.events, (event(1, None), event(2), event(3, "cut")), "the events")


@promised("Record", 8)
async def progress_never_goes_back_nor_past_the_last_event(make: MakeRecord) -> None:
    """`SetProgress` never goes back nor past the last event; who has said more since then is behind."""
    async with opened(make) as record:
        await record.sync([append(1, 2), message(3), message(1, key=THEIRS)])
        same(frozenset(await record.behind()), frozenset({TALK, THEIRS}), "who is behind")
        progress: list[int] = []
        for sequence in (2, 1, 9):
            await record.sync([SetProgress(TALK, sequence)])
            progress.append((await woken(record)).progress)
        same(progress, [2, 2, 3], "the progress after 2, 1 and 9 in a session of 3")
        same(await record.behind(), (THEIRS,), "who is behind")
        await record.sync([append(4, 4)])
        require(TALK not in await record.behind(), "a session is behind, though nothing was said")
        await record.sync([message(5)])
        require(TALK in await record.behind(), "a session is not behind, though something was said")


@promised("Record", 8)
async def sessions_are_listed_newest_change_first_with_their_messages(make: MakeRecord) -> None:
    """`sessions` lists an owner's sessions, newest change first, with times and number of messages."""
    async with opened(make) as record:
        for number, name in enumerate(["a", "b", "c"]):
            named = (event(1, name="m-1"), event(2), event(3, name="m-2"))
            await record.sync([AppendEvents(SessionKey(ADA, name), named, 1_000 + number)])
        await record.sync([append(4, 4, SessionKey(ADA, "a"), 5_000)])
        rows = await record.sessions(ADA)
        found = [(row.session_id, row.created_ms, row.changed_ms, row.message_count) for row in rows]
        same(found, [("a", 1_000, 5_000, 2), ("c", 1_002, 1_002, 2), ("b", 1_001, 1_001, 2)], "the sessions")
        same(await record.sessions(BOB), (), "the sessions of another")


@promised("Record", 8)
async def owners_are_listed_up_to_the_limit(make: MakeRecord) -> None:
    """`owners` lists those that anything is stored of, with counts, at most `limit`."""
    async with opened(make) as record:
        same(await record.owners(9), (), "the owners of an empty record")
        await record.sync([append(1, 1), PutItems((item(1), item(2, BOB)))])
        rows = await record.owners(9)
        found = {(row.owner, row.session_count, row.item_count) for row in rows}
        same(found, {(ADA, 1, 1), (BOB, 0, 1)}, "owners with their counts")
        same(len(await record.owners(1)), 1, "the number of owners for a limit of 1")


@promised("Record", 8)
async def owners_are_found_by_tenant_and_by_how_their_user_begins(make: MakeRecord) -> None:
    """`owners` tells of one tenant alone, and of users that begin so, case and all."""
    listed = [Owner(tenant, user) for tenant in ("", "t") for user in ("a.b", "a.bc", "A.b", "a", "a.é", "b")]
    async with opened(make) as record:
        await record.sync([PutItems(tuple(item(number, one) for number, one in enumerate(listed, 1)))])

        async def users(tenant: str | None, prefix: str, limit: int = 99) -> list[Owner]:
            return [row.owner for row in await record.owners(limit, tenant, prefix)]

        same(await users("t", ""), listed[:5:-1], "the owners of a tenant")
        same(await users("", "a."), [listed[4], listed[1], listed[0]], "those that begin with a.")
        same(await users(None, "A"), [listed[8], listed[2]], "those of all tenants that begin with A")
        same(await users("t", "a.é"), [listed[10]], "those that begin with a letter outside of ASCII")
        same(await users("t", "a", 2), [listed[10], listed[9]], "at most two of them")
        same(await users("other", ""), [], "the owners of a tenant without any")


@promised("Record", 8)
async def items_come_by_number_in_their_newest_state(make: MakeRecord) -> None:
    """`PutItems` stores new items and new states of old ones; they are read by number."""
    async with opened(make) as record:
        await record.sync([PutItems((item(10), item(2, text="她对花生过敏。"), item(9)))])
        await record.sync([PutItems((item(9, state="superseded", superseded_by="m10"),))])
        stored = await record.load_items(ADA, "e")
        same([one.id for one in stored.items], ["m2", "m9", "m10"], "the items")
        same([one.state for one in stored.items], ["live", "superseded", "live"], "their states")


@promised("Record", 8)
async def vectors_are_kept_per_embedder_and_only_for_items_that_are_there(make: MakeRecord) -> None:
    """`PutVectors` stores by embedder, and is ignored where the item is gone or another owner's."""
    async with opened(make) as record:
        await record.sync([PutItems((item(1), item(2)))])
        await record.sync([PutVectors(ADA, "e", (("m1", VECTOR), ("m3", VECTOR), ("nonsense", VECTOR)))])
        await record.sync([PutVectors(ADA, "f", (("m2", VECTOR),)), PutVectors(BOB, "e", (("m2", VECTOR),))])
        for embedder, id in (("e", "m1"), ("f", "m2")):
            found = dict((await record.load_items(ADA, embedder)).vectors)
            same(found, {id: VECTOR}, f"the vectors of embedder {embedder}")


@promised("Record", 8)
async def a_vector_goes_when_the_words_of_its_item_change(make: MakeRecord) -> None:
    """A vector goes when the words of its item change, and stays when something else does."""
    async with opened(make) as record:
        await record.sync([PutItems((item(1), item(2)))])
        await record.sync([PutVectors(ADA, "e", (("m1", VECTOR), ("m2", VECTOR)))])
        await record.sync([PutItems((item(1, text="Ada moved."), item(2, seen_count=2)))])
        same([*(await record.load_items(ADA, "e")).vectors], ["m2"], "the items with a vector")


@promised("Record", 8)
async def deleted_items_leave_no_vector_and_are_shown_nowhere(make: MakeRecord) -> None:
    """`DeleteItems` removes items with their vectors and what says where they were shown."""
    async with opened(make) as record:
        await record.sync([append(1, 2), PutItems((item(1), item(2)))])
        await record.sync([PutVectors(ADA, "e", (("m1", VECTOR),)), MarkShown(TALK, 2, ("m1", "m2", "m5"))])
        same(await record.shown_in(ADA, "m1"), ((TALK, 2),), "where an item is shown")
        await record.sync([DeleteItems(ADA, ("m1", "m1", "m8"))])
        same(await held(record), ((item(2),), NO_VECTORS), "items and vectors")
        same(await record.shown_in(ADA, "m1"), (), "where a deleted item is shown")
        same(await record.shown_in(ADA, "m2"), ((TALK, 2),), "where another item is shown")


@promised("Record", 8)
async def knowledge_is_shown_in_sessions_of_its_tenant_alone(make: MakeRecord) -> None:
    """`MarkShown` names an owner's items and its tenant's knowledge, never those of another tenant."""
    base, users = base_owner("t", "manual"), [Owner("t", "ada"), Owner("t", "bob"), Owner("u", "ada")]
    keys = [SessionKey(user, "s") for user in users]
    async with opened(make) as record:
        await record.sync([PutItems((item(1, base), item(2, base), item(3, users[0])))])
        for key in keys:
            await record.sync([append(1, 1, key), MarkShown(key, 1, ("m1", "m3"))])
        same(await record.shown_in(base, "m1"), ((keys[0], 1), (keys[1], 1)), "where knowledge is shown")
        same(await record.shown_in(users[0], "m3"), ((keys[0], 1),), "where a user's item is shown")
        same(await record.shown_in(users[0], "m1"), (), "where a user's item of another's number is shown")
        contents = BaseContents(frozenset({"m1", "m2"}), frozenset(keys[:2]))
        same(await record.base_contents(base), contents, "what the base holds")
        empty = BaseContents(frozenset(), frozenset())
        same(await record.base_contents(base_owner("u", "manual")), empty, "what another tenant's base holds")
        same(await record.bases("t"), (BaseRow("manual", 2),), "the tenant's bases")
        same((await record.bases("u"), await record.bases("")), ((), ()), "the bases of others")
        await record.sync([EraseOwner(base)])
        same(await record.bases("t"), (), "the bases after the only one was erased")
        same(await record.shown_in(users[0], "m3"), ((keys[0], 1),), "where a user's item is shown")


@promised("Record", 8)
async def an_erased_session_is_gone_and_may_begin_again(make: MakeRecord) -> None:
    """`EraseSession` removes events, words, snapshot and progress; late writes to it do nothing."""
    async with opened(make) as record:
        await record.sync([append(1, 3), SaveSnapshot(TALK, 3, b"state"), PutItems((item(1),))])
        await record.sync([MarkShown(TALK, 3, ("m1",)), SetProgress(TALK, 3), EraseSession(TALK)])
        same(await record.load_session(TALK), None, "the session")
        same((await record.sessions(ADA), await record.behind()), ((), ()), "the sessions, and those behind")
        same(await record.shown_in(ADA, "m1"), (), "where its item is shown")
        late: list[Write] = [SetProgress(TALK, 3), SaveSnapshot(TALK, 3, b"old"), MarkShown(TALK, 3, ("m1",))]
        await record.sync([*late, ReplaceTexts(TALK, ((1, "old"),)), EraseSession(TALK)])
        await record.sync([append(1, 1)])
        same(await sequences(record), [1], "the events when it began again")


@promised("Record", 8)
async def an_erased_owner_leaves_nothing_and_others_stay(make: MakeRecord) -> None:
    """`EraseOwner` removes everything of an owner, and nothing of another."""
    async with opened(make) as record:
        for owner, number in ((ADA, 1), (BOB, 2)):
            key, id = SessionKey(owner, "s"), f"m{number}"
            await record.sync(
                [append(1, 2, key), SaveSnapshot(key, 1, b"state"), PutItems((item(number, owner),))]
            )
            await record.sync([PutVectors(owner, "e", ((id, VECTOR),)), MarkShown(key, 1, (id,))])
            await record.sync([PutTombstones(owner, ("h",))])
        await record.sync([EraseOwner(ADA), EraseOwner(NOBODY)])
        same(await held(record), ((), NO_VECTORS), "items and vectors of the owner that was erased")
        same((await record.load_items(ADA, "e")).tombstones, NO_HASHES, "its tombstones")
        same(await record.load_session(SessionKey(ADA, "s")), None, "its session")
        same(await held(record, BOB), ((item(2, BOB),), {"m2": VECTOR}), "items and vectors of another")
        same((await record.load_items(BOB, "e")).tombstones, frozenset({"h"}), "the tombstones of another")
        same(await sequences(record, THEIRS), [2], "the events of another")


WRITES: Final[tuple[AsyncCheck[[MakeRecord]], ...]] = (
    a_snapshot_replaces_the_one_before,
    replacing_texts_keeps_the_events_and_drops_the_snapshot,
    progress_never_goes_back_nor_past_the_last_event,
    sessions_are_listed_newest_change_first_with_their_messages,
    owners_are_listed_up_to_the_limit,
    owners_are_found_by_tenant_and_by_how_their_user_begins,
    items_come_by_number_in_their_newest_state,
    vectors_are_kept_per_embedder_and_only_for_items_that_are_there,
    a_vector_goes_when_the_words_of_its_item_change,
    deleted_items_leave_no_vector_and_are_shown_nowhere,
    knowledge_is_shown_in_sessions_of_its_tenant_alone,
    an_erased_session_is_gone_and_may_begin_again,
    an_erased_owner_leaves_nothing_and_others_stay,
)
"""One check for each thing that these writes do."""
