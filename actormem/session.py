"""A session: one conversation of one owner, as its user holds it."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast
from uuid import uuid4

import msgspec

from actormem.actors.messages import (
    AddMessages,
    BuildContext,
    Configure,
    ReadMessages,
    ReadTrace,
    ReadTurns,
    Rewind,
)
from actormem.actors.observers import Observers, SessionObservers
from actormem.core.context.assembly import Context
from actormem.core.context.trace import Trace
from actormem.core.ids import checked_id
from actormem.core.session.past import PastTurn
from actormem.core.values import Message, SessionKey
from actormem.core.wire import parse_message
from actormem.front import Address, Given, query_text, user_message
from actormem.kernel import Clock
from actormem.limits import ASK_TIMEOUT_S
from actormem.task import SessionTask
from actormem.turn import Turn

__all__ = ["Session"]


class Session:
    """A handle of one session; made by `Runtime.spawn`. Cheap, and good for as long as the runtime is open.

    Two handles of the same key are the same session: its actor serves them in order. A session that was
    forgotten begins anew at the next use, with the settings it had when this handle was made.
    """

    def __init__(
        self,
        key: SessionKey,
        ref: Address,
        settings: Configure,
        clock: Clock,
        turn_wait_s: float,
        check_loop: Callable[[], None],
        observers: Observers | None = None,
    ) -> None:
        self.key = key
        self._ref = ref
        self._settings = settings
        self._clock = clock
        self._turn_wait_s = turn_wait_s
        self._check_loop = check_loop
        self._seen = SessionObservers(key, observers)

    def __repr__(self) -> str:
        return f"<Session {self.key.session_id!r}>"

    @property
    def settings(self) -> dict[str, object]:
        """The settings it had when this handle was made, as `Runtime.spawn` takes them: `spawn(id, **settings)`."""
        given = msgspec.structs.asdict(self._settings)
        given["tools"] = msgspec.json.decode(self._settings.tools or "[]")
        given["knowledge"] = list(self._settings.knowledge or ())
        return {name: value for name, value in given.items() if value is not None}

    @property
    def task(self) -> SessionTask:
        """What the session is at: `set`, `update`, `clear`, `get`."""
        return SessionTask(self._ask)

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
        message = user_message(given)
        turn_id = checked_id(id, "turn id") if id is not None else message.id or uuid4().hex
        message = msgspec.structs.replace(message, id=turn_id)
        return Turn(
            self._ref, self._settings, self._clock, message, self._turn_wait_s, self._check_loop, self._seen
        )

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
        parsed = tuple(parse_message(one) for one in messages)
        if not parsed:
            return ()
        added = await self._ask(AddMessages(parsed, settings=self._settings))
        return cast("tuple[Message, ...]", added)

    async def context(self, query: str | None = None) -> Context:
        """The context as it stands, without opening a turn.

        Args:
            query: Recall for these words, for this context's note alone; None: for the newest user message.
        """
        asked = BuildContext("" if query is None else query_text(query), settings=self._settings)
        began_s = self._clock.monotonic_s()
        context = await self._ask(asked)
        assert isinstance(context, Context)
        self._seen.context(context.trace, (self._clock.monotonic_s() - began_s) * 1000)
        return context

    async def messages(self) -> tuple[Message, ...]:
        """Every message of the session, oldest first, summarised ones too."""
        return cast("tuple[Message, ...]", await self._ask(ReadMessages()))

    async def turns(self) -> tuple[PastTurn, ...]:
        """Every turn of the session, oldest first, the open one too; rewound ones are not there."""
        return cast("tuple[PastTurn, ...]", await self._ask(ReadTurns()))

    async def trace(self, turn_id: str) -> Trace:
        """The trace of the last context of a turn, however long ago it was.

        Raises:
            NotFoundError: The session has no turn of that id, or none was kept of it: the process ended inside
                it, or its end was rewound; says which.
        """
        trace = await self._ask(ReadTrace(checked_id(turn_id, "turn id")))
        assert isinstance(trace, Trace)
        return trace

    async def rewind(self, message_id: str) -> tuple[Message, ...]:
        """Go back to just before a message: for another answer to the same question, or for another question.

        That message and all later ones leave the session, with their turns, summaries and exact values; messages
        that only a later summary stood for are verbatim again, and the settings stay as they are. What memory
        learned from them alone is taken back, and what that had taken the place of holds again. Their ids are
        free. Rewound to its reply, a turn is unanswered: the same id resumes it.

        Their words stay in the record, out of sight, until they are forgotten or the session is.

        Returns:
            The messages that left, oldest first, when it is durable.

        Raises:
            UsageError: A turn is open; nothing changed.
            NotFoundError: The session has no message of that id; nothing changed.
            StorageError: The disk failed; the outcome is unknown.

        Cost:
            A replay, beside the event loop, of what came since the last snapshot from before that message; of all
            of the session where there is none.
        """
        left = await self._ask(Rewind(checked_id(message_id, "message id")))
        return cast("tuple[Message, ...]", left)

    async def _ask(self, message: object) -> object:
        self._check_loop()
        return await self._ref.ask(message, timeout_s=ASK_TIMEOUT_S)
