"""A cache or a record that breaks a promise fails the check of that promise."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.lowlevel
import msgspec
import pytest

from actormem.core.values import Owner, SessionKey
from actormem.errors import StorageError
from actormem.ports import (
    AppendEvents,
    DeleteIntent,
    DeleteItems,
    EraseOwner,
    EraseSession,
    MarkShown,
    OwnerItems,
    PutItems,
    PutVectors,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
)
from actormem.testing import contracts
from actormem.testing.contracts.record_values import MakeRecord
from tests.contract.breaking import broken
from tests.contract.records import in_folder, in_memory

# --- caches ----------------------------------------------------------------------------------------------


class PlainCache:
    """A dictionary, and a file beside it; keeps every promise but that of the class that spoils it."""

    def __init__(self, folder: Path, size_bytes_max: int) -> None:
        self.folder, self.size_bytes_max = folder, size_bytes_max
        self.values: dict[Any, bytes] = {}
        self.closed = False

    def place(self, owner: Owner, key: str) -> Any:
        return owner.tenant, owner.user, key

    async def get_many(self, owner: Owner, keys: Sequence[str]) -> list[bytes | None]:
        await anyio.lowlevel.checkpoint()
        return [self.values.get(self.place(owner, key)) for key in keys]

    async def put_many(self, owner: Owner, entries: Mapping[str, bytes]) -> None:
        await anyio.lowlevel.checkpoint()
        for key, value in entries.items():
            self.put(self.place(owner, key), value)

    def put(self, place: Any, value: bytes) -> None:
        self.values.pop(place, None)
        if not self.closed and self.size() + len(value) <= self.size_bytes_max:
            self.values[place] = value

    def size(self) -> int:
        return sum(map(len, self.values.values()))

    async def drop_owner(self, owner: Owner) -> None:
        for place in [place for place in self.values if place[:2] == (owner.tenant, owner.user)]:
            del self.values[place]

    async def aclose(self) -> None:
        self.closed = True
        self.values = {}


class FirstWins(PlainCache):
    """Keeps the value that a key had first."""

    def put(self, place: Any, value: bytes) -> None:
        self.values.setdefault(place, value)


class Joining(PlainCache):
    """Joins tenant, user and key into one text."""

    def place(self, owner: Owner, key: str) -> Any:
        return f"{owner.tenant}{owner.user}:{key}"

    async def drop_owner(self, owner: Owner) -> None:
        self.values = {
            place: value
            for place, value in self.values.items()
            if not place.startswith(self.place(owner, ""))
        }


class DropsNothing(PlainCache):
    """Forgets to drop."""

    async def drop_owner(self, owner: Owner) -> None:
        pass


class Logging(PlainCache):
    """Writes a log of what it was given."""

    def put(self, place: Any, value: bytes) -> None:
        super().put(place, value)
        with (self.folder / "log").open("ab") as log:
            log.write(value)


class Stale(PlainCache):
    """Keeps the old value where the new one is too large."""

    def put(self, place: Any, value: bytes) -> None:
        if len(value) <= self.size_bytes_max:
            super().put(place, value)


class Full(PlainCache):
    """Raises when it is full."""

    def put(self, place: Any, value: bytes) -> None:
        if self.size() + len(value) > self.size_bytes_max:
            raise OSError("no room")
        super().put(place, value)


class Closed(PlainCache):
    """Raises when it is closed."""

    async def get_many(self, owner: Owner, keys: Sequence[str]) -> list[bytes | None]:
        if self.closed:
            raise RuntimeError("closed")
        return await super().get_many(owner, keys)


CACHES: Mapping[Any, set[str]] = {
    PlainCache: set(),
    FirstWins: {"promise_1_what_was_put_last_is_given_and_nothing_else"},
    Joining: {"promise_2_owners_and_keys_that_only_look_alike_share_nothing"},
    DropsNothing: {"promise_3_after_dropping_an_owner_nothing_of_it_is_given_and_others_stay"},
    Logging: {"promise_3_after_dropping_an_owner_nothing_of_it_is_in_the_files"},
    Stale: {"promise_4_a_value_larger_than_the_cache_never_raises"},
    Full: {
        "promise_4_a_value_larger_than_the_cache_never_raises",
        "promise_4_a_full_cache_never_raises_and_gives_no_wrong_bytes",
    },
    Closed: {"promise_4_a_closed_cache_is_empty_and_stores_nothing"},
}


@pytest.mark.parametrize("wrong", CACHES)
def test_a_wrong_cache_fails_its_checks(wrong: Callable[[Path, int], Any]) -> None:
    failed = broken(contracts.CACHE, wrong)
    assert failed >= CACHES[wrong]
    assert wrong is not PlainCache or not failed


def test_each_check_of_a_cache_has_a_wrong_one() -> None:
    assert set().union(*CACHES.values()) == {check.name for check in contracts.CACHE}


# --- records ---------------------------------------------------------------------------------------------


class Spoiled:
    """The real record behind one that spoils a write or an answer."""

    folder: Path

    def __init__(self, record: Any) -> None:
        self.record = record

    def __getattr__(self, name: str) -> Any:
        return getattr(self.record, name)

    def spoil(self, write: Any) -> list[Any]:
        """What is written instead of this write."""
        return [write]

    def submit(self, writes: Sequence[Any], then: Any = None) -> None:
        self.record.submit([one for write in writes for one in self.spoil(write)], then)

    async def sync(self, writes: Sequence[Any] = ()) -> None:
        await self.record.sync([one for write in writes for one in self.spoil(write)])


def without(*kinds: Any) -> type[Spoiled]:
    """A record that does not do such writes."""

    class Without(Spoiled):
        def spoil(self, write: Any) -> list[Any]:
            return [] if isinstance(write, kinds) else [write]

    return Without


class TellsFirst(Spoiled):
    """Acknowledges before the commit."""

    def submit(self, writes: Sequence[Any], then: Any = None) -> None:
        super().submit(writes)
        if then is not None:
            then(None)


class Split(Spoiled):
    """Commits each write for itself."""

    async def sync(self, writes: Sequence[Any] = ()) -> None:
        for write in writes:
            await super().sync([write])
        await super().sync()


class Trimmed(Spoiled):
    """Keeps words without the blanks around them, and no empty ones."""

    def spoil(self, write: Any) -> list[Any]:
        if not isinstance(write, AppendEvents):
            return [write]
        events = tuple(msgspec.structs.replace(event, text=event.text or None) for event in write.events)
        return [msgspec.structs.replace(write, events=events)]


class Joined(Spoiled):
    """Reads the sessions of owners whose names join to the same text."""

    async def sessions(self, owner: Owner) -> Any:
        rows = await self.record.sessions(owner)
        for row in await self.record.owners(1_000):
            if row.owner != owner and row.owner.user.casefold() == owner.user.casefold():
                rows += await self.record.sessions(row.owner)
        return rows


class Borrowing(Spoiled):
    """Deletes an item by its id alone."""

    def spoil(self, write: Any) -> list[Any]:
        if not isinstance(write, DeleteItems):
            return [write]
        owners = {write.owner, Owner("shop", "ada"), Owner("shop", "bob")}
        return [DeleteItems(owner, write.item_ids) for owner in sorted(owners)]


class Lagging(Spoiled):
    """Reads what was there some time ago."""

    def __init__(self, record: Any) -> None:
        super().__init__(record)
        self.seen: dict[SessionKey, Any] = {}

    async def load_session(self, key: SessionKey) -> Any:
        if key not in self.seen:
            self.seen[key] = await self.record.load_session(key)
        return self.seen[key]


class Forgiving(Spoiled):
    """Takes a failed commit for none."""

    async def sync(self, writes: Sequence[Any] = ()) -> None:
        try:
            await super().sync(writes)
        except StorageError:
            return

    def submit(self, writes: Sequence[Any], then: Any = None) -> None:
        try:
            super().submit(writes, then)
        except StorageError:
            return


class Counting(Spoiled):
    """Counts item numbers from 1 at each opening."""

    def __init__(self, record: Any) -> None:
        super().__init__(record)
        self.number = 0

    def next_item_number(self) -> int:
        self.number += 1
        return self.number


class Timeless(Spoiled):
    """Does not know when anything was stored."""

    def newest_ms(self) -> int:
        return 0


class Vague(Spoiled):
    """Says that erased words may be somewhere, and not where."""

    def elsewhere(self) -> tuple[str, ...]:
        return ("",)


class Unscrubbed(Spoiled):
    """Leaves erased words where they are."""

    async def scrub(self) -> None:
        await self.record.sync()


class Journalling(Spoiled):
    """Writes a journal beside the record, and scrubs it of what was erased since it was opened."""

    erased = False

    def spoil(self, write: Any) -> list[Any]:
        self.erased = self.erased or isinstance(write, EraseSession | EraseOwner | DeleteItems)
        if isinstance(write, AppendEvents):
            with (self.folder / "journal").open("ab") as journal:
                journal.writelines((event.text or "").encode() for event in write.events)
        return [write]

    async def scrub(self) -> None:
        await self.record.scrub()
        if self.erased:
            (self.folder / "journal").unlink(missing_ok=True)


class ScrubsBadly(Spoiled):
    """Cannot scrub while anybody else does."""

    scrubbing = False

    async def scrub(self) -> None:
        if self.scrubbing:
            raise RuntimeError("busy")
        self.scrubbing = True
        await self.record.scrub()
        self.scrubbing = False


class Late(Spoiled):
    """Loses what waits when it is left."""

    def submit(self, writes: Sequence[Any], then: Any = None) -> None:
        pass


class Backwards(Spoiled):
    """Reads lists in the other order, prefixes in any case and short, and one owner at most of any limit."""

    async def sessions(self, owner: Owner) -> Any:
        return (await self.record.sessions(owner))[::-1]

    async def owners(self, limit: int, tenant: str | None = None, prefix: str = "") -> Any:
        return await self.record.owners(1_000)

    async def owners_with_intents(self, prefix: str = "") -> Any:
        return await self.record.owners_with_intents(prefix.lower())

    async def intent_counts(self) -> Any:
        return {name.rpartition(":")[0]: count for name, count in (await self.record.intent_counts()).items()}

    async def load_items(self, owner: Owner, embedder: str) -> Any:
        found: OwnerItems = await self.record.load_items(owner, embedder)
        return msgspec.structs.replace(found, items=found.items[::-1])


class Stubborn(Spoiled):
    """Keeps the vectors of items whose words change, whatever else becomes of them."""

    def __init__(self, record: Any) -> None:
        super().__init__(record)
        self.vectors: list[Any] = []

    def spoil(self, write: Any) -> list[Any]:
        if isinstance(write, PutVectors):
            self.vectors.append(write)
        return [write, *self.vectors] if isinstance(write, PutItems) else [write]


class Anyones(Spoiled):
    """Shows knowledge of every tenant to every other."""

    async def bases(self, tenant: str) -> Any:
        return await self.record.bases("t")


RECORDS: Mapping[Any, set[str]] = {
    Vague: {"10_places_out_of_reach_are_named"},
    Trimmed: {"1_a_session_reads_back_what_was_appended"},
    TellsFirst: {
        "1_outcomes_are_told_in_the_order_of_submission",
        "5_after_a_failed_commit_every_write_fails",
    },
    Split: {
        "1_a_transaction_that_contradicts_the_record_fails_whole",
        "3_a_read_beside_writes_sees_whole_transactions",
    },
    Lagging: {"3_a_read_beside_writes_sees_whole_transactions"},
    Joined: {"4_owners_that_only_look_alike_share_nothing"},
    Borrowing: {"4_writes_under_one_owner_never_touch_anothers_items"},
    Forgiving: {
        "5_after_a_failed_commit_every_write_fails",
        "8_a_name_that_is_not_released_is_still_given_once",
    },
    Counting: {"6_each_item_number_is_given_once"},
    ScrubsBadly: {"7_scrub_beside_reads_and_writes_disturbs_neither"},
    without(SaveSnapshot): {
        "8_a_snapshot_replaces_the_one_before",
        "8_words_of_events_without_their_names_can_be_replaced",
    },
    without(ReplaceTexts): {"8_replacing_texts_keeps_the_events_and_drops_the_snapshot"},
    without(SetProgress): {
        "8_progress_never_goes_back_nor_past_the_last_event",
        "8_a_session_is_behind_until_its_progress_is_past_what_was_released",
        "8_names_are_released_with_the_transaction_or_not_at_all",
    },
    Backwards: {
        "8_sessions_are_listed_newest_change_first_with_their_messages",
        "8_owners_are_listed_up_to_the_limit",
        "8_owners_are_found_by_tenant_and_by_how_their_user_begins",
        "8_items_come_by_number_in_their_newest_state",
        "8_owners_are_found_by_what_the_names_of_their_intents_begin_with",
        "8_intents_are_counted_for_all_owners_by_what_their_names_begin_with",
    },
    without(PutVectors): {"8_vectors_are_kept_per_embedder_and_only_for_items_that_are_there"},
    Stubborn: {"8_a_vector_goes_when_the_words_of_its_item_change"},
    without(DeleteItems): {"8_deleted_items_leave_no_vector_and_are_shown_nowhere"},
    Anyones: {"8_knowledge_is_shown_in_sessions_of_its_tenant_alone"},
    without(MarkShown): {"8_knowledge_is_shown_in_sessions_of_its_tenant_alone"},
    without(EraseSession): {
        "8_an_erased_session_is_gone_and_may_begin_again",
        "8_an_erased_session_begins_again_without_a_trace_of_its_release",
    },
    without(EraseOwner): {
        "8_an_erased_owner_leaves_nothing_and_others_stay",
        "8_intents_go_with_their_owner_and_those_of_others_stay",
    },
    without(ReleaseNames): {"8_released_names_may_be_given_again_and_the_events_stay"},
    without(DeleteIntent): {"8_the_newest_intent_of_a_name_stands_until_it_is_deleted"},
}
KEPT: Mapping[Any, set[str]] = {
    Split: {"1_a_transaction_that_failed_is_not_there_later"},
    Late: {
        "2_everything_is_there_after_opening_again",
        "2_leaving_under_cancellation_commits_what_waits",
    },
    Forgiving: {"5_a_folder_that_failed_takes_writes_when_it_is_opened_again"},
    Counting: {"6_item_numbers_are_given_once_over_deletions_and_restarts"},
    Unscrubbed: {"7_erased_words_are_in_no_file_after_scrub"},
    Timeless: {"9_the_newest_time_is_the_newest_items_as_it_was_at_opening"},
    Journalling: {"7_scrub_takes_up_what_was_erased_before_a_restart"},
}


def spoiled(wrong: Callable[[Any], Any], make: MakeRecord) -> Callable[[Path], Any]:
    @asynccontextmanager
    async def opened(folder: Path) -> AsyncGenerator[Any, None]:
        async with make(folder) as record:
            made = wrong(record)
            made.folder = folder
            yield made

    return opened


def failing(checks: Sequence[Any], names: set[str], make: Any) -> set[str]:
    """Of the checks with these names, those that fail."""
    chosen = [check for check in checks if check.name.removeprefix("promise_") in names]
    return {name.removeprefix("promise_") for name in broken(chosen, make, threads=True)}


def test_a_record_that_spoils_nothing_fails_nothing() -> None:
    assert broken(contracts.RECORD, spoiled(Spoiled, in_memory), threads=True) == set()


@pytest.mark.parametrize("wrong", RECORDS)
def test_a_wrong_record_fails_its_checks(wrong: Callable[[Any], Any]) -> None:
    assert failing(contracts.RECORD, RECORDS[wrong], spoiled(wrong, in_memory)) == RECORDS[wrong]


@pytest.mark.parametrize("wrong", KEPT)
def test_a_wrong_record_in_a_folder_fails_its_checks(wrong: Callable[[Any], Any]) -> None:
    assert failing(contracts.KEPT_RECORD, KEPT[wrong], spoiled(wrong, in_folder)) == KEPT[wrong]


@pytest.mark.parametrize(("checks", "table"), [(contracts.RECORD, RECORDS), (contracts.KEPT_RECORD, KEPT)])
def test_each_check_of_a_record_has_a_wrong_one(checks: Any, table: Mapping[Any, set[str]]) -> None:
    names = {check.name.removeprefix("promise_") for check in checks}
    assert set().union(*table.values()) == names
