"""A turn: from a user's message to the reply that answers it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self, get_args
from uuid import uuid4

import anyio
import msgspec

from actormem.actors.messages import (
    AddMessages,
    BuildContext,
    CloseTurn,
    Configure,
    Opened,
    OpenTurn,
    Shrink,
    WithdrawTurn,
)
from actormem.actors.observers import SessionObservers
from actormem.core.context.assembly import Context
from actormem.core.context.trace import Trace
from actormem.core.observed import Outcome
from actormem.core.session.streaming import ReplyDraft, whole_reply
from actormem.core.values import JsonValue, Message
from actormem.core.wire import parse_message
from actormem.errors import ActorMemError, AskTimeoutError, OverloadedError, UsageError, given_as
from actormem.front import Address, whole
from actormem.kernel import Clock
from actormem.limits import ASK_TIMEOUT_S, OUTCOME_WAIT_S

__all__ = ["Turn"]

OUTCOMES: tuple[str, ...] = get_args(Outcome)


class Turn:
    """One turn of a session; an async context manager. Made by `Session.turn`.

    Entering it adds the user's message, recalls and builds the context. Leaving it records the reply and the
    outcome: `complete` after a whole reply, `partial` where the stream ended early, `unanswered` without a
    reply or at calls whose results are still to come (the same id goes on with them), `failed` where the block
    raised. An outcome is recorded under cancellation too.

    Attributes:
        messages: The newest context, ready for `chat.completions.create(messages=…)`.
        trace: Why it is what it is.
        cache_breakpoints: Places in `messages`, at most 4, where a provider that must be told so should end a
            cached prefix; empty before the turn was entered. See `Context`. For Anthropic's models behind a
            server that speaks OpenAI's protocol:

            for place in turn.cache_breakpoints:
                content = turn.messages[place]["content"]
                parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
                parts[-1]["cache_control"] = {"type": "ephemeral"}
                turn.messages[place]["content"] = parts
        id: The id of the user's message. The same id resumes an unanswered turn.
        prompt_tokens: What the provider counted for the last request it told the usage of, or 0.
        first_token_ms: From the context to the first streamed word, or None.
    """

    def __init__(
        self,
        ref: Address,
        settings: Configure,
        clock: Clock,
        message: Message,
        turn_wait_s: float,
        check_loop: Callable[[], None],
        seen: SessionObservers | None = None,
    ) -> None:
        self.messages: list[dict[str, JsonValue]] = []
        self.cache_breakpoints: tuple[int, ...] = ()
        self.id = message.id
        self.first_token_ms: float | None = None
        self.prompt_tokens = 0
        self._ref = ref
        self._settings = settings
        self._clock = clock
        self._message = message
        self._turn_wait_s = turn_wait_s
        self._check_loop = check_loop
        self._seen = seen or SessionObservers()
        self._request = uuid4().hex  # tells it from another turn of the same id
        self._trace: Trace | None = None
        self._draft = ReplyDraft()
        self._pending: list[Message] = []  # what was said and is not known to be recorded
        self._whole = False  # whether the newest of them came to its end
        self._began_s = self._entered_s = self._asked_s = 0.0
        self._context_count = 0
        self._usage_tokens = 0  # of the newest context, not told to the session yet
        self._entered = self._open = False

    def __repr__(self) -> str:
        return f"<Turn {self.id}, {'open' if self._open else 'closed'}>"

    @property
    def is_open(self) -> bool:
        """Whether it was entered and has not ended."""
        return self._open

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
        self._check_loop()
        if self._entered:
            raise UsageError("a turn is entered once", hint="make a new one with the same id to resume it")
        self._entered = True
        self._entered_s = self._asked_s = self._clock.monotonic_s()
        try:
            ask = OpenTurn(self._message, self._request, self._settings)
            opened = await self._ref.ask(ask, timeout_s=self._turn_wait_s)
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
        if not self._open:
            return  # `end` has ended it
        self._open = False
        self._flush(whole=False)
        outcome: Outcome = "failed" if isinstance(error, Exception) else self._outcome()
        try:
            await self._close(self._closing(outcome), error)
        finally:
            self._tell_end(outcome, error)

    async def _close(self, close: CloseTurn, error: BaseException | None) -> None:
        if error is None:
            await self._ref.ask(close, timeout_s=ASK_TIMEOUT_S, control=True)
            return
        # The block's own error is on its way out: the outcome is handed over, and waited for a moment only.
        with anyio.CancelScope(shield=True):
            try:
                await self._ref.ask(close, timeout_s=OUTCOME_WAIT_S, control=True)
            except ActorMemError as lost:
                error.add_note(f"the turn's outcome was not acknowledged: {lost}")

    async def end(self, outcome: Outcome | None = None) -> None:
        """End the turn now; leaving its block does nothing more. For turns that last longer than one block of code.

        Args:
            outcome: `complete`, `partial`, `unanswered` or `failed`; None for what follows from what was said.

        Raises:
            UsageError: The turn is not open, or that is no outcome.
            StorageError: The disk failed; the outcome is unknown.
        """
        self._check_open()
        if outcome is not None and outcome not in OUTCOMES:
            raise UsageError(f"outcome must be one of {', '.join(OUTCOMES)}, not {given_as(outcome)}")
        self._open = False
        self._flush(whole=False)
        outcome = outcome or self._outcome()
        try:
            await self._ref.ask(self._closing(outcome), timeout_s=ASK_TIMEOUT_S, control=True)
        except OverloadedError:
            self._open = True  # nothing changed
            raise
        except BaseException as error:
            self._tell_end(outcome, error)
            raise
        self._tell_end(outcome, None)

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
        self._counted(self._draft.prompt_tokens)
        if self._draft.said and not words_before and self.first_token_ms is None:
            self.first_token_ms = (self._clock.monotonic_s() - self._began_s) * 1000

    def reply(self, message: str | Mapping[str, object] | Message | object) -> None:
        """Say what the model answered: its text, its whole message (tool calls too), or the completion they came in.

        A completion (an object or a mapping with `choices`) says the usage too, from which the count learns.

        Raises:
            UsageError: It is not an assistant message, or the turn is not open.
        """
        self._check_open()
        said, prompt_tokens = whole_reply(message)
        parsed = parse_message({"role": "assistant", "content": said} if isinstance(said, str) else said)
        if parsed.role != "assistant":
            raise UsageError(f"a reply must have the role assistant, not {parsed.role}")
        self._flush(whole=True)
        self._pending.append(_named(parsed))
        self._whole = True
        self._counted(prompt_tokens)

    async def add(self, message: Mapping[str, object] | Message) -> None:
        """Add a message inside the turn, such as a tool's result; what was fed so far goes in before it.

        Returns when it is durable.

        Raises:
            UsageError: It is not a message, or the turn is not open.
        """
        self._check_open()
        parsed = _named(parse_message(message))
        self._flush(whole=True)
        self._pending.append(parsed)
        try:
            await self._record()
        except Exception:
            self._pending.remove(parsed)  # the caller knows, and may add it again
            raise

    async def context(self) -> list[dict[str, JsonValue]]:
        """The context again, after tool results; an extension of the one before. It becomes `messages`."""
        self._check_open()
        self._flush(whole=True)
        if self._pending:
            await self._record()
        self._asked_s = self._clock.monotonic_s()
        asked = BuildContext(turn_id=self.id, prompt_tokens=self._usage_tokens)
        context = await self._ref.ask(asked, timeout_s=ASK_TIMEOUT_S)
        assert isinstance(context, Context)
        self._take(context)
        return self.messages

    async def shrink(self, tokens: int | None = None) -> list[dict[str, JsonValue]]:
        """A smaller context, after a provider's "context too long". It becomes `messages`; a new epoch begins.

        What goes are the oldest groups; the user's newest message stays, shortened if need be. The next turns are
        built up to the budget again. A model counted by a bound, where no usage has measured it or this context
        was nearly full, is from here on counted as if the request had been over `tokens`, or the budget, by 2 %
        (but by a factor of 1.43 a call at most): so the same content does not exceed again.

        Args:
            tokens: The limit that the provider named; None: 70 % of what the context had, or what comes nearest.

        Returns:
            The messages, at most `tokens` by our count, and fewer tokens at each call.

        Raises:
            BudgetError: Nothing more can go; with both numbers. Nothing changed.
            UsageError: The turn is not open, or `tokens` is no number of tokens.
        """
        self._check_open()
        limit = 0 if tokens is None else whole("tokens", tokens)
        self._draft = ReplyDraft()  # a refused request has no reply
        if self._pending:
            await self._record()
        self._asked_s = self._clock.monotonic_s()
        context = await self._ref.ask(Shrink(turn_id=self.id, tokens=limit), timeout_s=ASK_TIMEOUT_S)
        assert isinstance(context, Context)
        self._take(context)
        return self.messages

    def _outcome(self) -> Outcome:
        """What follows from what was said."""
        if not self._pending or self._pending[-1].role == "tool" or self._pending[-1].tool_calls:
            return "unanswered"
        return "complete" if self._whole else "partial"

    def _tell_end(self, outcome: Outcome, error: BaseException | None) -> None:
        self._seen.turn(
            self.trace,
            outcome,
            model=self._settings.model or "",
            context_count=self._context_count,
            prompt_tokens=self.prompt_tokens,
            first_token_ms=self.first_token_ms,
            elapsed_ms=(self._clock.monotonic_s() - self._entered_s) * 1000,
            error=error,
        )

    def _closing(self, outcome: Outcome) -> CloseTurn:
        return CloseTurn(self.id, tuple(self._pending), outcome, self._usage_tokens)

    def _counted(self, prompt_tokens: int) -> None:
        """The provider counted so many for the newest context; 0 is no news."""
        self._usage_tokens = prompt_tokens or self._usage_tokens
        self.prompt_tokens = prompt_tokens or self.prompt_tokens

    def _take(self, context: Context) -> None:
        self.messages, self._trace = context.messages, context.trace
        self.cache_breakpoints = context.cache_breakpoints
        self._began_s = self._clock.monotonic_s()
        self._draft = ReplyDraft()
        self._usage_tokens = 0
        self._context_count += 1
        self._seen.context(context.trace, (self._began_s - self._asked_s) * 1000)

    def _flush(self, *, whole: bool) -> None:
        """Make a message of what was fed, if anything was. Tool calls that are not whole are dropped."""
        fields = self._draft.message(whole=whole)
        if fields is not None:
            self._pending.append(_named(parse_message(fields)))
            self._whole = self._draft.whole
            self._draft = ReplyDraft()

    async def _record(self) -> None:
        """Record what is pending. Cancelled, it stays so, and leaving sends it again by the same ids."""
        added = tuple(self._pending)
        await self._ref.ask(AddMessages(added, self.id), timeout_s=ASK_TIMEOUT_S)
        self._pending = [one for one in self._pending if one not in added]

    def _withdraw(self) -> None:
        with suppress(ActorMemError):  # the session is gone, and its waiting turns with it
            self._ref.tell(WithdrawTurn(self._request), control=True)

    def _check_open(self) -> None:
        if not self._open:
            raise UsageError("the turn is not open", hint="use it inside its `async with` block")


def _named(message: Message) -> Message:
    """The message with an id of its own, so that sending it twice stores it once."""
    return message if message.id else msgspec.structs.replace(message, id=uuid4().hex)
