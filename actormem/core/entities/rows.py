"""One exact value of a session, and what makes two of them one.

Law of the file: a row is never changed, only followed by another.
"""

import re
from typing import Final

import msgspec

from actormem.core.entities.keys import key_stem
from actormem.core.values import Entity

__all__ = ["HAS_YEAR", "LIVE", "EntityRow", "identity", "seen_row"]

LIVE: Final = -1  # `superseded_sequence` of a row that nothing has taken the place of

_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
HAS_YEAR: Final = re.compile(r"\d{4}|[一二][零〇一二三四五六七八九]{3}")
_ALIKE: Final = {"hash": "id"}
_SELF_EVIDENT: Final = frozenset({"id", "hash", "phone", "email", "url", "address", "file"})
_UNTOLD_KEYS: Final = frozenset({"id", "hash", "value", "code", "phone", "email", "url", "address", "file"})


class EntityRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One value of a session.

    Attributes:
        entity: The value as it was last seen, under the most telling key it had.
        first_sequence, last_sequence: Sequence of the first and the last message that held it.
        seen_count: How many messages held it.
        from_user: Whether the user said it.
        used: Whether it was an argument of a tool call.
        said: Whether anyone said it in words, the user or the assistant; what only a tool listed is not said.
        superseded_sequence: Sequence of the message whose value took its place, or -1.
    """

    entity: Entity
    first_sequence: int
    last_sequence: int
    seen_count: int = 1
    from_user: bool = False
    used: bool = False
    said: bool = False
    superseded_sequence: int = LIVE

    @property
    def live(self) -> bool:
        """Whether nothing has taken its place."""
        return self.superseded_sequence == LIVE


def identity(entity: Entity) -> str:
    """What makes two entities one row: kind and value, and the key where the value does not tell it."""
    kind = _ALIKE.get(entity.kind, entity.kind)
    key = "" if kind in _SELF_EVIDENT else key_stem(entity.key)
    return f"{kind}|{key}|{entity.normal}"


def seen_row(row: EntityRow | None, entity: Entity, sequence: int, role: str) -> EntityRow:
    """The row after a message of that role has held the entity; `row` is the one before, if any."""
    if row is None:
        return EntityRow(
            entity=entity,
            first_sequence=sequence,
            last_sequence=sequence,
            from_user=role == "user",
            used=role == "call",
            said=role in ("user", "assistant"),
        )
    telling = entity if row.entity.key in _UNTOLD_KEYS or entity.key == row.entity.key else row.entity
    if entity.kind == "date":
        value = max(row.entity.value, entity.value, key=lambda one: (_fullness(one), one == entity.value))
        telling = msgspec.structs.replace(telling, value=value)
    return EntityRow(
        entity=telling,
        first_sequence=row.first_sequence,
        last_sequence=sequence,
        seen_count=row.seen_count + (sequence != row.last_sequence),
        from_user=row.from_user or role == "user",
        used=row.used or role == "call",
        said=row.said or role in ("user", "assistant"),
        superseded_sequence=LIVE if role == "user" else row.superseded_sequence,
    )


def _fullness(date: str) -> int:
    """How much of a date its writing tells: as a machine takes it, with its year, or less."""
    return 2 if _ISO_DATE.match(date) else int(HAS_YEAR.search(date) is not None)
