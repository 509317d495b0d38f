"""Whose an item is, looked at once more wherever items are taken in or given out.

The law of the file: a check here is no assertion: it holds under `python -O` too, and names neither owner.
"""

from collections.abc import Iterable

from actormem.core.values import Item, Owner
from actormem.errors import CorruptError

__all__ = ["check_owner"]

RECORD = "the record"  # where an item of another owner can only have come from


def check_owner(items: Iterable[Item], owner: Owner) -> None:
    """Look whether every item is the owner's.

    Raises:
        CorruptError: One is not. Nothing of it may be used, nor of what came with it.
    """
    if any(item.owner != owner for item in items):
        raise CorruptError(
            "an item is misplaced", path=RECORD, expected="an item of its owner", found="one of another"
        )
