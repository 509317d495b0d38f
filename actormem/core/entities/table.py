"""The exact values of one session: what was seen, by whom, when, and what took its place.

Law of the file: a table is never changed, only followed by another; nothing leaves it but the least
recently seen row of a full table, or what is forgotten.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from actormem.core.entities.choices import choices_named
from actormem.core.entities.keys import ONE_VALUED, key_stem, named_stems
from actormem.core.entities.lines import EntityLines, fitted
from actormem.core.entities.order import ranked
from actormem.core.entities.rows import EntityRow, identity, seen_row
from actormem.core.values import Entity
from actormem.limits import ENTITIES_MAX

__all__ = ["EntityLines", "EntityRow", "EntityTable"]

_CHANGE: Final = re.compile(
    r"改[成为到]|[换变]成|换到|搬到|搬去|更新|更换|修改|变更|新的?(?:地址|手机|电话|号码|邮箱|预算)|现在"
    r"|(?<![a-z])(?:new|chang(?:ed?|ing)|mov(?:ed?|ing)|updated?|instead|now|switch(?:ed)?|raised?|actually)(?![a-z])",
    re.IGNORECASE,
)
_ALSO: Final = re.compile(
    r"还有|另外|另一|备用|第二个|(?<![a-z])(?:another|also|second|backup|as well)(?![a-z])", re.IGNORECASE
)
_OLD: Final = re.compile(
    r"(?:(?<![a-z])(?:from|instead of|rather than|old|previous(?:ly)?|was|not)(?![a-z])"
    r"|从|由|而?不是|原来|以前|之前|旧)"
    r"[^，。,.;；]{0,12}$",
    re.IGNORECASE,
)


class EntityTable(msgspec.Struct, frozen=True):
    """The exact values of one session.

    Attributes:
        rows: By identity, least recently seen first; at most `limits.ENTITIES_MAX`.
    """

    rows: Mapping[str, EntityRow] = {}

    def seen(self, entities: Iterable[Entity], *, sequence: int, role: str, text: str = "") -> "EntityTable":
        """The table after a message.

        A value of a key that holds one at a time (address, phone, budget …) takes the place of what the user
        gave for it before; the older row stays, marked superseded.

        Args:
            entities: What the message holds.
            sequence: Its place in the session; never smaller than one given before.
            role: `user`, `assistant`, `tool`, or `call` for the arguments of a tool call.
            text: The words of a user's message. With them a value supersedes only where they name its key or
                say that it changed, and one they call old does not; without them where it is the only one.

        Cost:
            Nothing without entities; otherwise one copy of the mapping (40 µs for 4,096 rows) and 3 µs an
            entity.
        """
        given = tuple(entities)
        if not given:
            return self
        rows = dict(self.rows)
        for entity in given:
            name = identity(entity)
            rows[name] = seen_row(rows.pop(name, None), entity, sequence, role)
        if role == "user":
            _supersede(rows, given, sequence, text)
        while len(rows) > ENTITIES_MAX:
            del rows[next(iter(rows))]
        return EntityTable(rows)

    def named(self, text: str, *, role: str) -> "EntityTable":
        """The table after someone named values in words: choices that only a tool listed, such as `round_trip`.

        They count as said by the one who named them; where they stand as tools write them is not changed.

        Args:
            text: The words of a user's or an assistant's message; the first 2,000 characters are read.

        Cost:
            0.1 µs a row and 1 µs a word.
        """
        names = choices_named(text, self.rows)
        if not names:
            return self
        rows = dict(self.rows)
        for name in names:
            from_user = rows[name].from_user or role == "user"
            rows[name] = msgspec.structs.replace(rows[name], said=True, from_user=from_user)
        return EntityTable(rows)

    def lines(
        self, *, hidden: Callable[[EntityRow], bool] | None = None, tokens: int, count: Callable[[str], int]
    ) -> tuple[str, ...]:
        """Values for a model, one line a key: the lines of `shown`."""
        return self.shown(hidden=hidden, tokens=tokens, count=count).lines

    def shown(
        self, *, hidden: Callable[[EntityRow], bool] | None = None, tokens: int, count: Callable[[str], int]
    ) -> EntityLines:
        """Values for a model within an allowance, one line a key, and the rows they show.

        The order is that of `order.ranked`. A value is whole or left out; a superseded one is shown
        only behind the one that took its place: `address: B (was: A)`.

        Args:
            hidden: Whether a row is out of sight, so that it must be shown; None: all are.
            tokens: Allowance for the lines joined by line breaks.
            count: Tokens of a text.

        Cost:
            O(n log n) for n rows, and about as many counts as values are shown.
        """
        rows = [row for row in self.rows.values() if row.live and (hidden is None or hidden(row))]
        superseded = [row for row in self.rows.values() if not row.live]
        superseded.sort(key=lambda row: row.superseded_sequence)
        older = {(row.entity.kind, row.entity.key): row for row in superseded}
        return fitted(ranked(rows, self.rows.values()), older, tokens, count)


def _supersede(rows: dict[str, EntityRow], given: Sequence[Entity], sequence: int, text: str) -> None:
    """Mark what the user's new values take the place of, in `rows`."""
    by_key: dict[tuple[str, str], list[Entity]] = {}
    for entity in given:
        if entity.key in ONE_VALUED and entity.kind != "value":
            by_key.setdefault((entity.kind, entity.key), []).append(entity)
    for (kind, key), group in by_key.items():
        fresh = _fresh(group, key, text)
        if not fresh:
            continue
        names = {identity(entity) for entity in fresh}
        in_message = {identity(entity) for entity in group}
        for name, row in rows.items():
            same = row.entity.kind == kind and row.entity.key == key and name not in names
            if same and row.live and (row.from_user or name in in_message):
                rows[name] = msgspec.structs.replace(row, superseded_sequence=sequence)


def _fresh(group: Sequence[Entity], key: str, text: str) -> Sequence[Entity]:
    """Those of a message's values for one key that hold from now on; none where that is not plain."""
    if not text:
        return group if len(group) == 1 else ()
    changed = _CHANGE.search(text) is not None
    if _ALSO.search(text) or not (changed or key_stem(key) in named_stems(text)):
        return ()
    fresh = [entity for entity in group if not _OLD.search(text[: max(0, text.find(entity.value))])]
    return fresh[-1:] if changed else fresh
