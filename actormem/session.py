"""A session: one conversation of one owner, as its user holds it."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast
from uuid import uuid4

import msgspec

from actormem.actors.messages import AddMessages, BuildContext, ReadMessages
from actormem.core.context.assembly import Context
from actormem.core.ids import checked_id
from actormem.core.values import Message, SessionKey
from actormem.errors import UsageError
from actormem.front import Given, given_message, query_text
from actormem.kernel import Clock, Ref
from actormem.limits import ASK_TIMEOUT_S
from actormem.turn import Turn

__all__ = ["Session"]


class Session:
    """A handle of one session; made by `Runtime.spawn`. Cheap, and good for as long as the runtime is open.

    Two handles of the same key are the same session: its actor serves them in order.
    """

    def __init__(
        self, key: SessionKey, ref: Ref, clock: Clock, turn_wait_s: float, check_loop: Callable[[], None]
    ) -> None:
        self.key = key
        self._ref = ref
        self._clock = clock
        self._turn_wait_s = turn_wait_s
        self._check_loop = check_loop

    def __repr__(self) -> str:
        return f"<Session {self.key.session_id!r}>"

    def turn(self, content: str | Sequence[Mapping[str, object]] | Given, *, id: str | None = None) -> Turn:
        """A turn that begins with this user message; enter it with `async with`.

        Turns of a session are serial, first come first served.

        Args:
            content: Text, a list of multimodal parts, or a whole user message.
            id: Of the message. The id of an unanswered turn resumes it: a retry never doubles the message.

        Raises:
            UsageError: It is not a user message.
        """
        is_message = isinstance(content, (Message, Mapping))
        given: object = content if is_message else {"role": "user", "content": content}
        message = given_message(given)
        if message.role != "user":
            raise UsageError(f"a turn begins with a user message, not one of role {message.role}")
        turn_id = checked_id(id, "turn id") if id is not None else message.id or uuid4().hex
        message = msgspec.structs.replace(message, id=turn_id)
        return Turn(self._ref, self._clock, message, self._turn_wait_s, self._check_loop)

    async def add(self, message: Given) -> Message:
        """Add one message of any role. Returns it, with its id, when it is durable.

        A message whose id the session has is not stored again.

        Raises:
            UsageError: It is not a message; nothing changed.
            StorageError: The disk failed; the outcome is unknown.
        """
        [added] = await self.add_many([message])
        return added

    async def add_many(self, messages: Sequence[Given]) -> tuple[Message, ...]:
        """Add messages, all or none, in order. None at all is a message less."""
        parsed = tuple(given_message(one) for one in messages)
        if not parsed:
            return ()
        added = await self._ask(AddMessages(parsed))
        return cast("tuple[Message, ...]", added)

    async def context(self, query: str | None = None) -> Context:
        """The context as it stands, without opening a turn.

        Args:
            query: Recall for these words, for this context's note alone; None: for the newest user message.
        """
        context = await self._ask(BuildContext("" if query is None else query_text(query)))
        assert isinstance(context, Context)
        return context

    async def messages(self) -> tuple[Message, ...]:
        """Every message of the session, oldest first, summarised ones too."""
        return cast("tuple[Message, ...]", await self._ask(ReadMessages()))

    async def _ask(self, message: object) -> object:
        self._check_loop()
        return await self._ref.ask(message, timeout_s=ASK_TIMEOUT_S)
