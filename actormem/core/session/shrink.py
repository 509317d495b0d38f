"""Deciding to make a context smaller once: the provider would not take it.

Law: the budget stays, and the next turns are built up to it again. The newest user message stays, shortened if
need be; groups stay whole; where nothing more can go nothing is decided.
"""

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.fitting import restart
from actormem.core.context.shorten import Counter
from actormem.core.session import events as ev
from actormem.core.session.decide import Draft, check_room
from actormem.errors import BudgetError
from actormem.limits import BUDGET_TOKENS_MIN

__all__ = ["goals", "shrink"]

STEPS = (0.7, 0.85, 0.95)  # of what the context had; the later ones where what must stay takes more
LEAVE_AT, LEAVE_TO = 0.99, 0.98  # of the goal: what is cut once need not make room for turns to come


def goals(had_tokens: int, limit_tokens: int) -> tuple[int, ...]:
    """What a context of `had_tokens` may have at most, the first choice first.

    Args:
        limit_tokens: The provider's limit, or 0. One that the context was within by our count is no help.
    """
    if 0 < limit_tokens < had_tokens:
        return (limit_tokens,)
    return tuple(int(had_tokens * step) for step in STEPS)


def shrink(draft: Draft, asked: tuple[int, ...], had_tokens: int, counter: Counter, now_ms: int) -> None:
    """Cut the context to at most one of the goals and begin a new epoch, for the reason "shrink".

    Args:
        asked: `goals`; the first one that can be met is.
        had_tokens: Of the context that was refused.

    Raises:
        BudgetError: What must stay takes more; with both numbers. The draft is as it was.
    """
    refused: BudgetError | None = None
    for goal in asked:
        try:
            draft.emit(*_events(draft, min(goal, had_tokens - 1), counter, now_ms))
        except BudgetError as error:
            refused = refused or error
        else:
            return
    assert refused is not None
    raise refused


def _events(draft: Draft, goal: int, counter: Counter, now_ms: int) -> list[ev.SessionEvent]:
    if goal < BUDGET_TOKENS_MIN:
        raise _nothing_more(BUDGET_TOKENS_MIN, goal)
    settings = msgspec.structs.replace(
        draft.state.settings, budget=_budget(draft.state.settings.budget, goal)
    )
    check_room(settings)
    small = msgspec.structs.replace(draft.state, settings=settings)
    made = Draft(draft.state)
    made.emit(*restart(small, "shrink", counter, now_ms, keep_note=bool(small.turn_id)))
    newest = made.state.newest_user
    if made.state.tokens > goal:
        raise _nothing_more(made.state.tokens, goal)
    if newest is not None and newest.sequence in made.state.out:
        raise _nothing_more(made.state.tokens + newest.tokens, goal)
    if newest is not None and made.state.noted != newest.sequence:
        # No note: there is room for one in the budget, but not in what the provider takes.
        made.emit(ev.NoteWritten(message_sequence=newest.sequence, tokens=0, text=None))
    return made.events


def _budget(budget: Budget, goal: int) -> Budget:
    """The same shares of `goal` tokens."""
    return Budget(
        context=goal,
        summary=budget.summary_tokens * goal // budget.context,
        recall=budget.recall_tokens * goal // budget.context,
        entities=budget.entities_tokens * goal // budget.context,
        compact_at=LEAVE_AT,
        compact_to=LEAVE_TO,
        keep_recent=0,
    )


def _nothing_more(needed_tokens: int, goal: int) -> BudgetError:
    return BudgetError("the context cannot be made smaller", needed_tokens=needed_tokens, budget_tokens=goal)
