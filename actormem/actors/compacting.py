"""One session's compaction: asked for beside the reply path, swapped in between turns.

At most one is in flight, and noted while it is: where the process ends before the answer is kept, it is asked for
again at the next opening. It is asked for at `compact_at`, well before it is needed, and waits (recorded, so that
a restart changes nothing) until the context nears its budget: an epoch lasts as long as it can, and a context
that would be over its budget finds a block ready, and is not cut. Its result is used for exactly the messages it
was made from, or not at all.
"""

from collections.abc import Callable
from contextlib import suppress

from actormem.actors.messages import Summarize, SummaryReady, SummaryRefused
from actormem.actors.resuming import summary_asked, summary_settled
from actormem.actors.services import Services
from actormem.core.context.blocks import Plan, plan_compaction, wants_swap
from actormem.core.context.fitting import over_budget
from actormem.core.policy import policy_of
from actormem.core.session.decide import Draft, keep_summary, swap_block
from actormem.core.session.working import Working
from actormem.core.values import SessionKey
from actormem.errors import OverloadedError, StoppedError
from actormem.limits import SUMMARY_LOST_S
from actormem.ports import DeleteIntent, PutIntent, Tokenizer

__all__ = ["Compactor"]


class Compactor:
    """Asks the summarizer, and swaps its answer in when it is time.

    Args:
        note: Records that a summary is waited for, or not any more.
    """

    def __init__(
        self, key: SessionKey, services: Services, note: Callable[[PutIntent | DeleteIntent], None]
    ) -> None:
        self._key = key
        self._services = services
        self._note = note
        self._noted = False
        self._request = 0
        self._plan: Plan | None = None
        self._asked_s: float | None = None

    @property
    def in_flight(self) -> bool:
        """Whether a summary is being made."""
        return self._asked_s is not None

    def woken(self, *, noted: bool) -> None:
        """Where a note of a summary that was asked for is in the record, `want` takes it up, or strikes it."""
        self._noted = self._noted or noted

    def want(self, state: Working) -> None:
        """Ask for a summary if one is due and none is ready or in flight, or the one in flight was lost."""
        clock = self._services.clock
        if self._asked_s is not None:
            if clock.monotonic_s() - self._asked_s < SUMMARY_LOST_S:
                return
            self.discard()
        plan = plan_compaction(state) if state.ready is None else None
        self._keep_note(plan is not None)
        if plan is None:
            return
        self._request = next(self._services.request_numbers)
        self._plan = plan
        job = Summarize(
            key=self._key,
            request=self._request,
            messages=tuple(one.message for one in state.entries if plan.first <= one.sequence <= plan.last),
            previous=plan.previous,
            tokens=plan.tokens,
            model=state.settings.model,
        )
        try:
            self._services.ref("summarizer", "").tell(job, coalesce=self._key)
        except (OverloadedError, StoppedError):
            self._services.counters.summaries_refused += 1
            return
        self._asked_s = clock.monotonic_s()

    def arrived(self, draft: Draft, answer: SummaryReady) -> None:
        """Keep the answer, if it is to the request in flight."""
        if self._asked_s is None or self._plan is None or answer.request != self._request:
            return
        plan = self._plan
        self.discard()
        keep_summary(draft, plan, answer.summary.text, answer.summary.method)

    def refused(self, answer: SummaryRefused) -> None:
        """Ask again when the session next has reason to, if it was the request in flight."""
        if answer.request == self._request:
            self.discard()

    def swap(self, draft: Draft, tokenizer: Tokenizer, *, between_turns: bool, reserve: int = 0) -> None:
        """Put the block that is ready, if one is and it is time, in the place of the messages it was made from.

        Args:
            between_turns: Then it is time once the context nears its budget; inside a turn only where it
                would be over it, and cut if there were no block.
            reserve: Tokens that are to be added to the context.
        """
        ready = draft.state.ready
        if ready is None:
            return
        if not policy_of(draft.state.settings.policy).summarises:
            self.discard()
            return
        if not (wants_swap(draft.state) if between_turns else over_budget(draft.state, reserve)):
            return
        if not any(entry.sequence == ready.last for entry in draft.state.entries):
            return  # their words are erased meanwhile
        swap_block(draft, ready, ready.summary, ready.method, tokenizer, self._services.clock.now_ms())

    def _keep_note(self, waits: bool) -> None:
        """Let the record say whether a summary is waited for; where it takes nothing, it says so by itself."""
        if waits != self._noted:
            with suppress(OverloadedError):
                self._note(summary_asked(self._key) if waits else summary_settled(self._key))
                self._noted = waits

    def discard(self) -> None:
        """Forget the request in flight; its answer will not be used."""
        self._request = 0
        self._plan = None
        self._asked_s = None
