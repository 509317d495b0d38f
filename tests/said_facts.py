"""Facts a user states, as items: what tests of reconciling begin with."""

from actormem.core.facts.attributes import cardinality
from actormem.core.values import Item, Owner

__all__ = ["OWNER", "fact_item"]

OWNER = Owner("", "ada")


def fact_item(number: int, attribute: str, value: str, time: int) -> Item:
    """The fact that is stated as the message of this number."""
    return Item(
        id=f"m{number}",
        owner=OWNER,
        kind="fact",
        text=f"The user: {attribute} {value}",
        subject="user",
        attribute=attribute,
        value=value,
        cardinality=cardinality(attribute),
        event_ms=time,
        sequence=number,
        source_ids=(f"#{number}",),
    )
