"""What an agent's own scope says before what is said for all of the user's agents."""

from collections.abc import Iterable

from actormem.core.values import Item

__all__ = ["overridden"]


def overridden(facts: Iterable[Item], scope: str) -> frozenset[str]:
    """Ids of facts of no scope, of an attribute that has one value, for which the scope has a value of its own.

    Args:
        facts: Live facts of the scope and of none.
        scope: The agent's; where it is empty nothing is overridden.
    """
    if not scope:
        return frozenset()
    single = [one for one in facts if one.attribute and one.cardinality == "one"]
    own = {(one.subject.casefold(), one.attribute) for one in single if one.scope == scope}
    return frozenset(
        one.id for one in single if not one.scope and (one.subject.casefold(), one.attribute) in own
    )
