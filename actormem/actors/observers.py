"""Those who are told what a runtime has done."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from actormem.core.context.trace import Trace
from actormem.core.observed import ContextBuilt, Observed, Outcome, TurnEnded
from actormem.core.values import SessionKey

__all__ = ["Observer", "Observers", "SessionObservers"]

logger = logging.getLogger(__name__)
Observer: TypeAlias = Callable[[Observed], None]


class Observers:
    """Told of each step, in the event loop, in the order they were added; what one raises ends nothing."""

    def __init__(self) -> None:
        self._told: tuple[Observer, ...] = ()

    def __bool__(self) -> bool:
        return bool(self._told)

    @contextmanager
    def added(self, observer: Observer) -> Generator[None]:
        """Tell this one too, until the block is left."""
        self._told = (*self._told, observer)
        try:
            yield
        finally:
            place = self._told.index(observer)
            self._told = (*self._told[:place], *self._told[place + 1 :])

    def tell(self, observed: Observed) -> None:
        """Tell everyone."""
        for observer in self._told:
            try:
                observer(observed)
            except Exception as error:
                logger.warning("an observer raised %s at a %s", type(error).__name__, type(observed).__name__)


class SessionObservers:
    """Told of the contexts and turns of one session.

    Args:
        observers: Who is told; None: nobody.
    """

    def __init__(self, key: SessionKey | None = None, observers: Observers | None = None) -> None:
        self._key = key
        self._observers = Observers() if observers is None else observers

    def context(self, trace: Trace, elapsed_ms: float) -> None:
        """A context was built."""
        if self._key is not None and self._observers:
            self._observers.tell(
                ContextBuilt(
                    owner=self._key.owner,
                    session_id=self._key.session_id,
                    trace=trace,
                    elapsed_ms=elapsed_ms,
                )
            )

    def turn(
        self,
        trace: Trace,
        outcome: Outcome,
        *,
        model: str,
        context_count: int,
        prompt_tokens: int,
        first_token_ms: float | None,
        elapsed_ms: float,
        error: BaseException | None,
    ) -> None:
        """A turn was left; `trace` is that of its last context."""
        if self._key is not None and self._observers:
            self._observers.tell(
                TurnEnded(
                    owner=self._key.owner,
                    session_id=self._key.session_id,
                    turn_id=trace.turn_id,
                    model=model,
                    outcome=outcome,
                    context_count=context_count,
                    tokens=trace.tokens,
                    prompt_tokens=prompt_tokens,
                    first_token_ms=first_token_ms,
                    elapsed_ms=elapsed_ms,
                    error="" if error is None else type(error).__name__,
                )
            )
