"""A turn: from a user's message to the reply that answers it."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import anyio

from actormem.actors.messages import AddMessages, BuildContext, CloseTurn, Opened, OpenTurn, WithdrawTurn
from actormem.core.context import Context
from actormem.core.streaming import ReplyDraft
from actormem.core.trace import Trace
from actormem.core.values import JsonValue, Message
from actormem.core.wire import parse_message
from actormem.errors import ActorMemError, AskTimeoutError, OverloadedError, UsageError
from actormem.kernel import Clock, Ref
from actormem.limits import ASK_TIMEOUT_S, OUTCOME_WAIT_S

__all__ = ["Turn"]


class Turn:
    """One turn of a session; an async context manager. Made by `Session.turn`.

    Entering it adds the user's message, recalls and builds the context. Leaving it records the reply and the
    outcome: `complete` after a whole reply, `partial` where the stream ended early, `unanswered` without a
    reply, `failed` where the block raised. An outcome is recorded under cancellation too.

    Attributes:
        messages: The newest context, ready for `chat.completions.create(messages=…)`.
        trace: Why it is what it is.
        id: The id of the user's message. The same id resumes an unanswered turn.
        first_token_ms: From the context to the first streamed word, or None.
    """

    def __init__(self, ref: Ref, clock: Clock, message: Message, turn_wait_s: float) -> None:
        self.messages: list[dict[str, JsonValue]] = []
        self.id = message.id
        self.first_token_ms: float | None = None
        self._ref = ref
        self._clock = clock
        self._message = message
        self._turn_wait_s = turn_wait_s
        self._trace: Trace | None = None
        self._draft = ReplyDraft()
        self._pending: list[Message] = []
        self._began_s = 0.0
        self._open = False

    def __repr__(self) -> str:
        return f"<Turn {self.id}, {'open' if self._open else 'closed'}>"

    @property
    def trace(self) -> Trace:
        """The trace of the newest context.

        Raises:
            UsageError: The turn was not entered yet.
        """
        if self._trace is None:
            raise UsageError("the turn has no context yet", hint="enter it with `async with`")
        return self._trace

    async def __aenter__(self) -> Self:
        try:
            opened = await self._ref.ask(OpenTurn(self._message), timeout_s=self._turn_wait_s)
        except AskTimeoutError:
            self._withdraw()
            raise OverloadedError(
                f"the turn waited {self._turn_wait_s:g} s for the one before it",
                mailbox="turns of the session",
                waiting=1,
                limit=1,
            ) from None
        except BaseException:
            self._withdraw()
            raise
        assert isinstance(opened, Opened)
        self._open = True
        self._take(opened.context)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        last = self._flush(whole=error is None)
        if error is None:
            outcome = "unanswered" if not (self._draft.said or self._pending) else "complete"
            if self._draft.said and not self._draft.whole:
                outcome = "partial"
        else:
            outcome = "failed" if isinstance(error, Exception) else ("partial" if last else "unanswered")
        close = CloseTurn(self.id, tuple(self._pending), outcome)
        if error is None:
            await self._ref.ask(close, timeout_s=ASK_TIMEOUT_S)
            return
        # The block's own error is on its way out: the outcome is handed over, and waited for a moment only.
        with anyio.CancelScope(shield=True):
            try:
                await self._ref.ask(close, timeout_s=OUTCOME_WAIT_S, control=True)
            except ActorMemError as lost:
                error.add_note(f"the turn's outcome was not acknowledged: {lost}")

    def feed(self, chunk: object) -> None:
        """Take in one chunk of a streamed reply: words, tool calls, usage.

        Args:
            chunk: A chunk of the openai package, or the mapping it was made of.

        Raises:
            UsageError: It is not one, or the turn is not open.
        """
        self._check_open()
        words_before = self._draft.said
        self._draft.feed(chunk)
        if self._draft.said and not words_before and self.first_token_ms is None:
            self.first_token_ms = (self._clock.monotonic_s() - self._began_s) * 1000

    def reply(self, message: str | Mapping[str, object] | Message | object) -> None:
        """Say what the model answered: its text, or its whole message (tool calls too).

        Raises:
            UsageError: It is not an assistant message, or the turn is not open.
        """
        self._check_open()
        given = {"role": "assistant", "content": message} if isinstance(message, str) else message
        parsed = parse_message(given)
        if parsed.role != "assistant":
            raise UsageError(f"a reply must have the role assistant, not {parsed.role}")
        self._flush(whole=True)
        self._pending.append(parsed)
        self._draft.said = self._draft.whole = True

    async def add(self, message: Mapping[str, object] | Message) -> None:
        """Add a message inside the turn, such as a tool's result; what was fed so far goes in before it.

        Returns when it is durable.

        Raises:
            UsageError: It is not a message, or the turn is not open.
        """
        self._check_open()
        parsed = parse_message(message)
        self._flush(whole=True)
        added, self._pending = (*self._pending, parsed), []
        await self._ref.ask(AddMessages(added, self.id), timeout_s=ASK_TIMEOUT_S)

    async def context(self) -> list[dict[str, JsonValue]]:
        """The context again, after tool results; an extension of the one before. It becomes `messages`."""
        self._check_open()
        self._flush(whole=True)
        if self._pending:
            added, self._pending = tuple(self._pending), []
            await self._ref.ask(AddMessages(added, self.id), timeout_s=ASK_TIMEOUT_S)
        context = await self._ref.ask(BuildContext(), timeout_s=ASK_TIMEOUT_S)
        assert isinstance(context, Context)
        self._take(context)
        return self.messages

    def _take(self, context: Context) -> None:
        self.messages, self._trace = context.messages, context.trace
        self._began_s = self._clock.monotonic_s()
        self._draft = ReplyDraft()

    def _flush(self, *, whole: bool) -> bool:
        """Make a message of what was fed; whether there was one. Tool calls that are not whole are dropped."""
        fields = self._draft.message(whole=whole)
        if fields is None:
            return False
        self._pending.append(parse_message(fields))
        said, done = self._draft.said, self._draft.whole
        self._draft = ReplyDraft()
        self._draft.said, self._draft.whole = said, done
        return True

    def _withdraw(self) -> None:
        try:
            self._ref.tell(WithdrawTurn(self.id), control=True)
        except ActorMemError:
            pass  # the session is gone, and its waiting turns with it

    def _check_open(self) -> None:
        if not self._open:
            raise UsageError("the turn is not open", hint="use it inside its `async with` block")
