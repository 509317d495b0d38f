"""What a session tells its owner's long-term memory: what was said, and the summary blocks that were made.

Law of this file: it is told after the commit, in order. News that did not get through are not lost: they are
told again with the next ones, and at the next waking.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from actormem.actors.memory_messages import BlockWords, Observe, Observed, RememberBlocks, observed
from actormem.actors.services import Services
from actormem.core.session.events import BlockMade, Configured, Rewound, SessionEvent, summary_of
from actormem.core.session.working import Working
from actormem.core.values import SessionKey
from actormem.errors import OverloadedError, StoppedError

__all__ = ["News"]


class News:
    """One session's news, and what of them did not get through."""

    def __init__(self, key: SessionKey, services: Services) -> None:
        self._key = key
        self._services = services
        self._missed = 0  # first event whose news did not get through, or 0
        self._untold: tuple[BlockWords, ...] = ()  # blocks whose news did not get through
        self._scope = ""
        self._held: list[tuple[int, tuple[SessionEvent, ...]]] | None = None

    @contextmanager
    def held(self) -> Generator[None]:
        """Inside, what becomes durable is not told yet: somebody waits for a context, and nobody for the news."""
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            for first, events in held:
                self.durable(first, events)

    def woken(self, state: Working, progress: int) -> None:
        """Tell what a crash may have left untold: events after `progress`, and every block."""
        self._scope = state.settings.scope
        newest = max(state.rewound, state.entries[-1].sequence if state.entries else 0)
        if progress < newest:
            self._observe(progress + 1, newest, ())
        self._tell_blocks(tuple(BlockWords(one.first, one.last, one.summary) for one in state.blocks))

    def durable(self, first: int, events: tuple[SessionEvent, ...]) -> None:
        """Tell what was said in these events, now that it will not be lost."""
        if self._held is not None:
            self._held.append((first, events))
            return
        for event in events:
            if isinstance(event, Configured):
                self._scope = event.scope
        found = observed(enumerate(events, first))
        if found or self._missed or isinstance(events[0], Rewound):
            self._observe(first, first + len(events) - 1, found)
        self._tell_blocks((*self._untold, *_blocks_made(events)))

    def erased(self) -> None:
        """There is nothing to tell any more."""
        self._missed, self._untold, self._scope = 0, (), ""

    def _tell_blocks(self, blocks: tuple[BlockWords, ...]) -> None:
        self._untold = ()
        if blocks and not self._gets_through(RememberBlocks(self._key, blocks, self._scope)):
            self._untold = blocks

    def _observe(self, first: int, upto: int, found: tuple[Observed, ...]) -> None:
        """What did not get through before is read from the record, with all since: then the news hold no messages."""
        missed, self._missed = self._missed, 0
        messages = () if missed else found
        news = Observe(key=self._key, first=missed or first, upto=upto, messages=messages, scope=self._scope)
        if not self._gets_through(news):
            self._missed = missed or first

    def _gets_through(self, news: Observe | RememberBlocks) -> bool:
        try:
            self._services.ref("longterm", self._key.owner).tell(news)
        except (OverloadedError, StoppedError):
            self._services.counters.news_refused += 1
            return False
        return True


def _blocks_made(events: Iterable[SessionEvent]) -> tuple[BlockWords, ...]:
    return tuple(
        BlockWords(event.first, event.last, summary_of(event))
        for event in events
        if isinstance(event, BlockMade)
    )
