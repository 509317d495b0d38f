"""What of the words of messages is no longer so: values they state that something newer took the place of.

Messages are never rewritten. Whoever shows their words again is told which value has ended and what holds instead.
The law of the file: an answer costs what has ended among the messages in question, not what is remembered.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from actormem.actors.memory_messages import Shown
from actormem.core.context.notes import GONE_VERSION
from actormem.core.facts.reconcile import closes, said
from actormem.core.hidden import unhidden
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Outdated
from actormem.core.whole_words import places

__all__ = ["OutdatedWords"]

LATIN = re.compile("[A-Za-z0-9]")
TOLD_MAX = 16  # corrections in one answer; what is left is told with the next one


class OutdatedWords:
    """The ended facts of one owner by the messages that state them; kept in step with the partition."""

    def __init__(
        self,
        partition: Partition,
        now_ms: Callable[[], int],
        from_source: Callable[[tuple[str, str]], Iterable[str]],
        rivals: Callable[[Item], Iterable[Item]],
    ) -> None:
        """`from_source` gives ids of the items of a message, `rivals` the items that a fact may end or be ended by."""
        self._partition = partition
        self._now_ms = now_ms
        self._from_source = from_source
        self._rivals = rivals
        self._by_session: dict[str, dict[str, set[str]]] = {}

    def link(self, item: Item) -> None:
        """A fact is in the partition, in this state."""
        self.removed(item)
        if item.attribute and (item.state != "live" or item.version > 1 or item.expires_ms):
            for session_id, message_id in item.sources:
                self._by_session.setdefault(session_id, {}).setdefault(message_id, set()).add(item.id)

    def removed(self, item: Item) -> None:
        """It has left the partition, or is about to be linked again."""
        for session_id, message_id in item.sources:
            messages = self._by_session.get(session_id, {})
            messages.get(message_id, set()).discard(item.id)
            if not messages.get(message_id):
                messages.pop(message_id, None)
            if not messages:
                self._by_session.pop(session_id, None)

    def newest(self, item: Item) -> Item | None:
        """The live end of the item's chain; None where nothing took its place or its time has run out too."""
        after: Item | None = item
        while after is not None and after.state == "superseded":
            after = self._partition.item(after.superseded_by) if after.superseded_by else None
        return None if after is None or after is item or self._expired(after) else after

    def of_item(self, item: Item) -> tuple[Outdated, ...]:
        """Values in the text of an item that are no longer so."""
        found = [self._outdated(fact, item.text) for fact in self._ended(item)]
        return tuple(one for one in found if one is not None)

    def replaced(self, item: Item) -> list[tuple[str, str]]:
        """Values that the item's sources stated and that are no longer so, each with what took its place."""
        ended = [
            one for one in self._ended(item) if one.value and one.state == "superseded" and not closes(one)
        ]
        newest = [self.newest(one) for one in ended]
        return [(one.value, after.value if after else "") for one, after in zip(ended, newest, strict=True)]

    def shown(
        self, session_id: str, message_ids: Collection[str], others: Iterable[Item], told: Mapping[str, int]
    ) -> tuple[Shown, ...]:
        """Facts that words a session shows state and that are no longer so, at most 16.

        Args:
            message_ids: Its messages that stand in its context: what the newest of them says needs no telling.
            others: Episodes of others and summaries that it shows.
            told: What its notes show, with versions: facts of which it has been told, and what holds instead.
        """
        own = [id for id in self._by_session.get(session_id, ()) if id in message_ids]
        items = [item for id in own if (item := self._episode((session_id, id))) is not None]
        items.sort(key=lambda item: item.sequence)  # the same after a restart
        found: dict[str, Shown] = {}
        for item in (*items, *others):
            for fact in self._ended(item):
                if fact.id in told or fact.id in found or len(found) == TOLD_MAX:
                    continue
                one = self._outdated(fact, item.text)
                if one is None or (fact.state != "live" and _says(one.replacement, session_id, message_ids)):
                    continue
                if one.replacement is not None and told.get(one.replacement.id, GONE_VERSION) != GONE_VERSION:
                    continue  # it stands in a note, with its date
                found[fact.id] = Shown(fact, one.replacement, words=one.value)
        return tuple(found.values())

    def _expired(self, item: Item) -> bool:
        return 0 < item.expires_ms <= self._now_ms()

    def _ended(self, item: Item) -> Iterator[Item]:
        """The ended facts of its sources."""
        if not any(session in self._by_session for session in (item.session_id, *item.source_sessions)):
            return
        for session_id, message_id in item.sources:
            for id in sorted(self._by_session.get(session_id, {}).get(message_id, ())):
                fact = self._partition.item(id)
                if fact is not None:
                    yield fact

    def _episode(self, source: tuple[str, str]) -> Item | None:
        items = (self._partition.item(id) for id in self._from_source(source))
        return next((item for item in items if item is not None and item.kind == "episode"), None)

    def _outdated(self, fact: Item, text: str) -> Outdated | None:
        """What the text says of the fact, where that is no longer so."""
        if fact.state == "live" and self._expired(fact):
            return Outdated(fact.value, None) if _stands_in(fact.value, text) else None
        if fact.state == "live":  # edited: the words that were said stand in the quote
            quoted = bool(fact.quote and fact.value) and fact.quote in text
            changed = quoted and fact.value not in text and fact.value not in unhidden(text)
            return Outdated(fact.quote, fact) if changed else None
        if not _stands_in(fact.value, text):
            return None
        if closes(fact):  # `no longer …` is outdated only where it is so again
            live = (one for one in self._rivals(fact) if one.state == "live")
            again = next(
                (one for one in live if one.attribute == fact.attribute and said(one) == said(fact)), None
            )
            return Outdated(fact.value, again) if again is not None else None
        newest = self.newest(fact)
        same = newest is not None and newest.attribute == fact.attribute  # or its opposite: liked, disliked
        if newest is not None and same and _stands_in(newest.value, text):
            return None
        return Outdated(fact.value, newest)


def _stands_in(value: str, text: str) -> bool:
    """Whether it stands in the text, Latin words and figures as whole ones."""
    return any(
        not LATIN.match(text[start - 1 : start]) and not LATIN.match(text, start + len(value))
        for start in places(value, text)
    )


def _says(item: Item | None, session_id: str, message_ids: Collection[str]) -> bool:
    """Whether the newest statement of it is one of the session's own messages that it shows."""
    last = item.sources[-1:] if item is not None else ()
    return any(session == session_id and id in message_ids for session, id in last)
