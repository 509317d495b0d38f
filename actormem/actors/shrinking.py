"""Answering a provider that would not take a context: a smaller one, and a better count for the next ones."""

from actormem.actors.calibrating import Calibrator
from actormem.actors.compacting import Compactor
from actormem.core.session.decide import Draft
from actormem.core.session.shrink import goals, shrink
from actormem.errors import BudgetError

__all__ = ["shrunk"]


async def shrunk(
    state_draft: Draft, tokens: int, calibrator: Calibrator, compactor: Compactor, now_ms: int
) -> Draft:
    """A draft in which the context is smaller, and a model counted by a bound is counted higher.

    The summary that is ready takes its place first: then less is cut.

    Args:
        state_draft: Of the state now, nothing decided.
        tokens: The provider's limit, or 0 where it is not known.

    Raises:
        BudgetError: Nothing more can go; with both numbers. Nothing was decided, and nothing learned.
    """
    state = state_draft.state
    budget, had = state.settings.budget.context, state.tokens
    wanted = goals(had, tokens)

    def cut(draft: Draft) -> Draft:
        counter = calibrator.tokenizer(draft.state.settings)
        compactor.swap(draft, counter, between_turns=False, reserve=budget - wanted[0])
        shrink(draft, wanted, had, counter, now_ms)
        return draft

    plain = Draft(state)
    shrink(plain, wanted, had, calibrator.tokenizer(state.settings), now_ms)
    draft = Draft(state)
    await calibrator.refused(draft, tokens or budget)
    try:
        return cut(draft)
    except BudgetError:  # counted higher, what must stay is too much: as it was counted before it is not
        return plain
