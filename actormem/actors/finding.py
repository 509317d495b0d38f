"""What is found in one owner's memory: hits for a query, what changed of what was shown, lists.

The law of the file: it reads the partition and changes nothing in it.
"""

from collections.abc import Set as AbstractSet

import msgspec

from actormem.actors import memory_messages as say
from actormem.actors.intake import Intake
from actormem.actors.services import Services
from actormem.actors.vectors import PartitionVectors
from actormem.core.context.notes import GONE_VERSION
from actormem.core.context.profile import profile_items
from actormem.core.recall.partition import Partition, Prepared, Query
from actormem.core.recall.scopes import overridden
from actormem.core.summary.outdated import without_outdated
from actormem.core.values import Hit, Item, Owner
from actormem.limits import SEARCH_INLINE_ROWS

__all__ = ["Finding", "Ready"]


class Ready(msgspec.Struct, frozen=True):
    """An answer but for its hits, and how far the search for these is.

    Attributes:
        version: The partition's when it was made.
        rest: The answer without hits.
        query: What is searched for, without vectors; None where there is no query.
        search: What the search knows without them.
    """

    asked: say.RecallItems
    version: int
    rest: say.Recalled
    query: Query | None
    search: Prepared | None

    def holds(self, asked: say.RecallItems, version: int) -> bool:
        """Whether it is for this question, its vectors apart, and nothing has changed."""
        return version == self.version and msgspec.structs.replace(asked, vectors=None) == self.asked


class Finding:
    """Reads one owner's partition."""

    def __init__(self, owner: Owner, partition: Partition, intake: Intake, services: Services) -> None:
        self._owner = owner
        self._partition = partition
        self._intake = intake
        self._services = services

    def prepared(self, asked: say.RecallItems) -> Ready:
        """All of an answer that needs no vectors; it holds while nothing in the partition changes."""
        seen = self._seen(asked)
        gone = tuple(
            id
            for id, version in asked.shown.items()
            if version != GONE_VERSION and self._partition.item(id) is None
        )
        held = asked.shown.items()
        shown = {id for id, version in held if version != GONE_VERSION and id not in asked.repeatable}
        query = self._query(asked, frozenset(seen | shown)) if asked.query else None
        return Ready(
            asked=asked,
            version=self._partition.version,
            rest=say.Recalled(
                hits=(),
                considered_count=self._partition.considered_count(query) if query else 0,
                changed=self._changed(asked),
                gone=gone,
                profile=self._profile(asked, seen),
                attributes=query.attributes if query else (),
            ),
            query=query,
            search=self._partition.prepared(query) if query else None,
        )

    async def recalled(
        self, asked: say.RecallItems, vectors: PartitionVectors | None, ready: Ready | None = None
    ) -> say.Recalled:
        """What answers a query; and whatever the query is, what of the items shown is no longer so.

        Args:
            vectors: Those of the partition, kept in step; None for a small partition that is searched as it is.
            ready: What was prepared for it; worked out again where it no longer holds.
        """
        if ready is None or not ready.holds(asked, self._partition.version):
            ready = self.prepared(msgspec.structs.replace(asked, vectors=None))
        if ready.query is None:
            return ready.rest
        query = msgspec.structs.replace(ready.query, vector=asked.vectors)
        if vectors is not None:
            vectors.want()
        if vectors is None or len(self._partition) <= SEARCH_INLINE_ROWS:
            hits = self._partition.search(query, vectors.index if vectors else None, ready.search)
        else:
            hits = await vectors.search_in_thread(query)
        assert all(hit.item.owner == self._owner for hit in hits), "a hit of another owner"
        if asked.at_ms is None:
            hits = tuple(current for hit in hits if (current := self._current(hit)) is not None)
        return msgspec.structs.replace(ready.rest, hits=hits)

    def listed(self, asked: say.ListItems) -> tuple[Item, ...]:
        """The items asked for, oldest first."""
        found = [item for item in self._partition.items() if asked.kinds is None or item.kind in asked.kinds]
        if asked.scope is not None:
            found = [one for one in found if one.scope in ("", asked.scope)]
        if not asked.history:
            found = [one for one in found if one.state == "live" and not self._expired(one)]
        return tuple(sorted(found, key=lambda item: (item.event_ms, item.sequence)))

    def _query(self, asked: say.RecallItems, exclude: frozenset[str]) -> Query:
        here = self._partition.offset_minutes
        return Query(
            text=asked.query,
            now_ms=self._services.clock.now_ms(),
            asked_ms=asked.asked_ms,
            offset_minutes=offset if (offset := asked.offset_minutes) is not None else here,
            vector=asked.vectors,
            limit=asked.limit,
            kinds=asked.kinds,
            attributes=self._services.options.attributes.names(asked.query),
            exclude=exclude,
            min_score=asked.min_score,
            at_ms=asked.at_ms,
            scope=asked.scope,
            deep=asked.deep,
            source_max=asked.source_max,
        )

    def _seen(self, asked: say.RecallItems) -> set[str]:
        """Items whose words the asker sees anyway, and those that its own scope has another value for."""
        seen = self._intake.links.seen_in(asked.session_id, asked.visible)
        seen |= self._intake.blocks.shown(asked.session_id, asked.blocks)
        if asked.session_id and asked.scope:
            seen |= overridden(self._partition.facts(asked.scope), asked.scope)
        return seen

    def _profile(self, asked: say.RecallItems, seen: AbstractSet[str]) -> tuple[Item, ...] | None:
        if not asked.profile:
            return None
        facts = self._partition.facts(asked.scope)
        exclude = {*seen, *asked.shown}
        return profile_items(facts, self._services.clock.now_ms(), exclude=exclude)

    def _current(self, hit: Hit) -> Hit | None:
        """A summary without what is no longer so, None where nothing is left of it; a message with what is not."""
        item = hit.item
        if item.kind == "episode":
            outdated = self._intake.outdated.of_item(item)
            return msgspec.structs.replace(hit, outdated=outdated) if outdated else hit
        if item.source != "summary":
            return hit
        text = without_outdated(item.text, self._intake.outdated.replaced(item))
        if text == item.text:
            return hit
        return msgspec.structs.replace(hit, item=msgspec.structs.replace(item, text=text)) if text else None

    def _changed(self, asked: say.RecallItems) -> tuple[say.Shown, ...]:
        """What the asker has shown and that is no longer so: items, and values in the words it shows."""
        found: list[say.Shown] = []
        words: list[Item] = []
        outdated = self._intake.outdated
        for id, version in asked.shown.items():
            item = self._partition.item(id)
            if version == GONE_VERSION or item is None:
                continue
            if item.kind == "episode":
                words.append(item)
            elif item.source == "summary":
                continue  # a summary that another takes in is no less true
            elif item.state == "superseded" or self._expired(item):
                found.append(say.Shown(item, outdated.newest(item)))
        if asked.session_id:
            blocks = self._intake.blocks.shown(asked.session_id, asked.blocks)
            words += [item for id in sorted(blocks) if (item := self._partition.item(id)) is not None]
            found += outdated.shown(asked.session_id, asked.visible, words, asked.shown)
        return tuple(found)

    def _expired(self, item: Item) -> bool:
        return 0 < item.expires_ms <= self._services.clock.now_ms()
