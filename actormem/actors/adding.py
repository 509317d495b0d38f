"""Taking a message into a session: an id it has is not stored again, a time and a count it lacks are given.

A large message is counted and read in a thread, so that the loop is not held.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from zoneinfo import ZoneInfo

import anyio.to_thread
import msgspec

from actormem.actors.calibrating import Calibrator
from actormem.actors.services import Services
from actormem.core.entities.exact import MessageEntities, message_entities
from actormem.core.prices import Prices
from actormem.core.session import decide
from actormem.core.session.events import MessageAdded
from actormem.core.values import Message, Owner
from actormem.core.wire import message_tokens
from actormem.errors import UsageError
from actormem.limits import LARGE_TEXT_CHARS
from actormem.ports import Tokenizer

__all__ = ["Adding"]


class Adding:
    """Decides messages into drafts of one session."""

    def __init__(self, services: Services, calibrator: Calibrator) -> None:
        self._services = services
        self._calibrator = calibrator

    async def take_in(self, draft: decide.Draft, message: Message, names: AbstractSet[str]) -> Message:
        """The message as it is in the session now, with its id.

        Args:
            names: Ids of the messages of the session before the draft.
        """
        if message.id and (message.id in names or _drafted(draft, message.id)):
            return message
        if not message.time_ms:
            now_ms = self._services.moments.now_ms()
            offset = _offset_minutes(draft.state.settings.timezone, now_ms)
            message = msgspec.structs.replace(message, time_ms=now_ms, offset_minutes=offset)
        tokenizer = self._calibrator.tokenizer(draft.state.settings)
        tokens, entities = await self._counted(message, tokenizer, draft.state.settings.prices)
        return decide.add_message(draft, message, tokens, tokenizer, entities=entities)

    async def check_times(self, owner: Owner, messages: Sequence[Message]) -> None:
        """Refuse what was said before its owner was forgotten; only a message that tells an earlier time is looked at.

        Raises:
            UsageError: One of them was; nothing was taken in.
        """
        now_ms = self._services.moments.now_ms()
        earliest_ms = min((one.time_ms for one in messages if one.time_ms), default=now_ms)
        if earliest_ms < now_ms and earliest_ms < await self._services.record.forgotten_ms(owner):
            raise UsageError(
                "a message is older than the forgetting of its user",
                hint="what is said anew has a later time",
            )

    async def _counted(
        self, message: Message, tokenizer: Tokenizer, prices: Prices
    ) -> tuple[int, MessageEntities]:
        """Tokens and exact values."""

        def both() -> tuple[int, MessageEntities]:
            return message_tokens(message, tokenizer.count, prices), message_entities(message)

        if len(message.wire) < LARGE_TEXT_CHARS:
            return both()
        return await anyio.to_thread.run_sync(both, limiter=self._services.pools.counting)


def _offset_minutes(timezone: str, now_ms: int) -> int:
    """Offset from UTC of a zone at a time; 0 for no zone."""
    if not timezone:
        return 0
    offset = datetime.fromtimestamp(now_ms / 1000, ZoneInfo(timezone)).utcoffset()
    return int(offset.total_seconds() // 60) if offset else 0


def _drafted(draft: decide.Draft, id: str) -> bool:
    return any(isinstance(event, MessageAdded) and event.id == id for event in draft.events)
