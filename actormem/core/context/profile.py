"""The profile: which of an owner's facts an epoch begins with, whatever its first message asks for.

Law of the file: one stated order, and never an episode: what was merely said is recalled, not told unasked.
"""

from collections.abc import Iterable

from actormem.core.values import Item

__all__ = ["PROFILE_ITEMS_MAX", "profile_items"]

PROFILE_ITEMS_MAX = 32  # of one profile; its share cuts most of them again
PER_ATTRIBUTE = 3  # newest values of an attribute that come before the rest: allergies must not hide a name
LATER = frozenset(("note", ""))  # said to be remembered, of no attribute: after all that has one


def profile_items(items: Iterable[Item], now_ms: int, *, exclude: Iterable[str] = ()) -> tuple[Item, ...]:
    """What is known of the user himself, the most telling first, at most `PROFILE_ITEMS_MAX`.

    Facts and preferences that hold now. Those with an attribute come before notes; the three newest values of
    each attribute before older ones; then the more important, then the newer.

    Args:
        items: The owner's items, in any order.
        exclude: Ids of items the asker shows already.

    Cost:
        O(n log n) for n facts.
    """
    hidden = frozenset(exclude)
    live = [one for one in items if one.id not in hidden and _belongs(one, now_ms)]
    live.sort(key=lambda one: (one.event_ms, one.sequence), reverse=True)
    seen: dict[str, int] = {}
    ranked: list[tuple[tuple[bool, bool, float, int], Item]] = []
    for place, item in enumerate(live):
        turn = seen[item.attribute] = seen.get(item.attribute, 0) + 1
        later = item.attribute in LATER
        ranked.append(((later, turn > PER_ATTRIBUTE and not later, -round(item.importance, 1), place), item))
    ranked.sort(key=lambda one: one[0])
    return tuple(item for _, item in ranked[:PROFILE_ITEMS_MAX])


def _belongs(item: Item, now_ms: int) -> bool:
    return (
        item.kind in ("fact", "preference")
        and item.state == "live"
        and item.subject == "user"
        and not 0 < item.expires_ms <= now_ms
    )
