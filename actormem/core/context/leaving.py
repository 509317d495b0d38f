"""What leaves working memory for good, under a policy without summaries.

Law of the file: a group leaves whole; the newest user message and the group that ends the session never do.
The record keeps what leaves, and long-term memory may recall it.
"""

from collections.abc import Sequence

from actormem.core.context.blocks import before_recent
from actormem.core.policy import policy_of
from actormem.core.session.working import Entry, Working

__all__ = ["leaving", "overflowing", "spent"]

WAITING_MESSAGES = 64  # beyond the window, before they leave without a context being asked for
OVERFLOW_FACTOR = 2  # times its budget is what a view may hold without a context being asked for


def leaving(state: Working, *, inside: bool = False) -> tuple[int, ...]:
    """Sequences that leave as a new turn begins, under a policy that keeps the newest messages alone.

    Args:
        inside: Inside a turn too. Otherwise nothing leaves there, so that its requests extend each other.
    """
    policy = policy_of(state.settings.policy)
    if policy.summarises or not policy.recent_only:
        return ()
    newest = state.newest_user
    if not inside and newest is not None and state.noted == newest.sequence:
        return ()
    return _sequences(before_recent(state))


def spent(state: Working) -> tuple[int, ...]:
    """Sequences that were cut and that no summary will stand for."""
    if not state.out or policy_of(state.settings.policy).summarises:
        return ()
    newest = state.newest_user
    last = state.entries[-1].group
    return _sequences(
        [
            one
            for one in state.entries
            if one.sequence in state.out and one.group != last and one is not newest
        ]
    )


def overflowing(state: Working) -> bool:
    """Whether so much came in without a context being asked for that it has to leave now."""
    policy = policy_of(state.settings.policy)
    if policy.summarises:
        return False
    if policy.recent_only and len(state.entries) > state.settings.budget.keep_recent + WAITING_MESSAGES:
        return True
    return state.tokens > OVERFLOW_FACTOR * state.settings.budget.context


def _sequences(entries: Sequence[Entry]) -> tuple[int, ...]:
    return tuple(entry.sequence for entry in entries)
