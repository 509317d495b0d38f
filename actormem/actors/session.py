"""The session actor: owns one conversation's working memory, and answers for it.

Every message goes the same way: decide (pure), record, evolve, perform. A context is answered at once; an
acknowledgement, and what others are told, waits for the commit.
"""

from collections.abc import Callable, Sequence
from functools import partial

import anyio
import anyio.to_thread

from actormem.actors import messages as say
from actormem.actors.adding import Adding
from actormem.actors.calibrating import Calibrator
from actormem.actors.compacting import Compactor
from actormem.actors.configuring import settle_on
from actormem.actors.contexts import ContextMaker
from actormem.actors.expiring import expired_texts
from actormem.actors.history import past_messages, past_trace, turns_of
from actormem.actors.journal import Journal
from actormem.actors.news import News
from actormem.actors.redacting import redacted_texts
from actormem.actors.rewinding import returned
from actormem.actors.services import Services
from actormem.actors.shrinking import shrunk
from actormem.actors.waiting import WaitingTurns
from actormem.actors.warming import Prewarming
from actormem.core.context.assembly import Context
from actormem.core.session import decide
from actormem.core.task import changed_task
from actormem.core.values import Message, SessionKey
from actormem.errors import NotFoundError, OverloadedError, StoppedError, StorageError, UsageError
from actormem.kernel import Reply, Scope
from actormem.ports import Tokenizer

__all__ = ["SessionActor"]


class SessionActor:
    """One session. Made anew at each waking; everything that matters is in the record."""

    def __init__(self, key: SessionKey, services: Services) -> None:
        self._key = key
        self._services = services
        self._news = News(key, services)
        self._journal = Journal(key, services, self._news.durable)
        self._compactor = Compactor(key, services, self._journal.note)
        self._calibrator = Calibrator(services)
        self._adding = Adding(services, self._calibrator)
        self._contexts = ContextMaker(key, services, self._compactor)
        self._prewarming = Prewarming(services, self._answer_settling)
        self._waiting = WaitingTurns()
        self._open_request = ""  # who asked for the open turn
        self._settling: list[Reply] = []
        self._unreadable: StorageError | None = None

    async def started(self, scope: Scope) -> None:
        """Load the session; ask again for what a crash may have left undone.

        One that cannot be read answers with that error, until it is woken again.
        """
        self._prewarming.start(scope)
        try:
            await self._journal.load()
        except StorageError as error:
            self._unreadable = error
            return
        state = self._journal.state
        self._calibrator.woken(state.settings)
        self._contexts.loaded(state)
        self._news.woken(state, self._journal.progress)
        if state.turn_id:  # the process ended inside a turn: it was never answered
            draft = self._journal.draft()
            decide.close_turn(draft, "unanswered", self._services.clock.now_ms())
            self._journal.commit(draft)

    async def stopped(self, reason: str) -> None:
        """Keep a snapshot, so that the next waking is quick."""
        self._journal.snapshot()

    def idle(self) -> bool:
        """Nothing open, nothing on its way."""
        state = self._journal.state
        busy = state.turn_id or self._waiting or self._journal.waiting_count or self._compactor.in_flight
        return not busy and self._journal.failure is None

    async def receive(self, message: object, reply: Reply | None) -> None:
        """Handle one message; see `actors.messages` for what each is answered by."""
        if self._unreadable is not None and not isinstance(message, say.Erase):
            if reply is None or not isinstance(message, say.Settle):
                raise self._unreadable.with_traceback(None)
            reply.answer(None)  # nothing of it is on its way
            return
        if self._key.owner in self._services.forgetting and not isinstance(message, (say.Erase, say.Settle)):
            raise StoppedError("nothing is taken in", reason="the user is being forgotten")
        match message:
            case say.OpenTurn():
                assert reply is not None
                self._waiting.line_up(message, reply)
                await self._open_waiting()
            case say.BuildContext():
                await self._build_context(message, reply)
            case say.Shrink():
                await self._shrink(message, reply)
            case say.AddMessages():
                await self._add(message, reply)
            case say.CloseTurn():
                await self._close_turn(message, reply)
            case say.WithdrawTurn():
                await self._withdraw(message)
            case say.Configure():
                self._configure(message, reply)
            case say.SummaryReady():
                draft = self._journal.draft()
                self._compactor.arrived(draft, message)
                self._journal.commit(draft)
                self._after()
            case say.SummaryRefused():
                self._compactor.refused(message)
                self._answer_settling()
            case say.ChangeTask() | say.ClearTask():
                self._change_task(message, reply)
            case say.ReadTask():
                assert reply is not None
                reply.answer(self._journal.state.task)
            case say.ReadMessages() | say.ReadTurns() | say.ReadTrace():
                assert reply is not None
                reply.answer(await self._read(message))
            case say.Rewind():
                await self._rewind(message, reply)
            case say.Redact():
                await self._redact(message, reply)
            case say.ExpireTexts():
                await self._expire(message, reply)
            case say.Erase():
                self._erase(reply)
            case say.Wake():
                self._compactor.woken(noted=message.summary_noted)
                self._after()
            case say.Settle():
                assert reply is not None
                self._settling.append(reply)
                self._after()
            case _:
                raise AssertionError(f"a session was sent a {type(message).__name__}")

    # --- settings -------------------------------------------------------------------------------------

    def _configure(self, asked: say.Configure, reply: Reply | None) -> None:
        draft = self._journal.draft()
        settle_on(draft, asked, self._calibrator, self._services)
        if draft.events:
            self._prewarming.discard()
        self._journal.commit(draft, _acknowledge(reply, say.configured(draft.state.settings)))
        self._after()

    def _draft(self, settings: say.Configure | None) -> decide.Draft:
        """A decision that starts from the state now; a session that was erased gets its handle's settings first."""
        draft = self._journal.draft()
        if not draft.state.settings.nonce:
            settle_on(draft, settings or say.Configure(), self._calibrator, self._services)
        return draft

    def _change_task(self, asked: say.ChangeTask | say.ClearTask, reply: Reply | None) -> None:
        draft = self._draft(None)
        if isinstance(asked, say.ClearTask):
            decide.clear_task(draft)
        else:
            before = None if asked.fresh else draft.state.task
            task = changed_task(before, asked.goal, asked.step, asked.values)
            decide.change_task(draft, task, fresh=asked.fresh)
        self._journal.commit(draft, _acknowledge(reply, None))

    # --- messages -------------------------------------------------------------------------------------

    async def _add(self, asked: say.AddMessages, reply: Reply | None) -> None:
        if asked.turn_id and asked.turn_id != self._journal.state.turn_id:
            raise UsageError("this turn has ended", hint="open a new one")
        draft = self._draft(asked.settings)
        added = [await self._take_in(draft, message) for message in asked.messages]
        self._journal.commit(draft, _acknowledge(reply, tuple(added)))
        self._after()

    async def _take_in(self, draft: decide.Draft, message: Message) -> Message:
        return await self._adding.take_in(draft, message, self._journal.names)

    async def _read(self, asked: say.ReadMessages | say.ReadTurns | say.ReadTrace) -> object:
        state, newest = self._journal.state, self._contexts.newest
        if isinstance(asked, say.ReadMessages):
            return await past_messages(self._key, self._services, state.sequence)
        if isinstance(asked, say.ReadTurns):
            return await turns_of(self._key, self._services, state, newest)
        if newest is not None and asked.turn_id == newest.turn_id == state.turn_id:
            return newest
        if asked.turn_id not in self._journal.names:
            raise NotFoundError("the session has no turn of that id", id=asked.turn_id)
        await self._services.record.sync()
        return await past_trace(self._key, self._services, state.sequence, asked.turn_id)

    # --- turns and contexts -----------------------------------------------------------------------------

    async def _open_waiting(self) -> None:
        """Open the first waiting turn whose caller is still there, if no turn is open."""
        while not self._journal.state.turn_id and (first := self._waiting.leave()) is not None:
            asked, reply = first
            try:
                await self._open(asked, reply)
            except (UsageError, OverloadedError, StorageError) as error:
                reply.fail(error)

    async def _open(self, asked: say.OpenTurn, reply: Reply) -> None:
        known = asked.message.id in self._journal.names
        if known and self._journal.state.outcomes.get(asked.message.id, "complete") == "complete":
            raise UsageError(
                "a message of this id is in the session already", hint="give the new turn its own id"
            )
        draft = self._draft(asked.settings)
        await self._calibrator.adopt(draft)
        decide.check_room(draft.state.settings)
        message = await self._take_in(draft, asked.message)
        decide.open_turn(draft, message.id, self._services.clock.now_ms())
        self._journal.commit(draft)
        self._open_request = asked.request
        self._prewarming.turn_opened()
        with self._news.held():
            async with self._services.pools.contexts:
                context = await self._context(say.BuildContext())
            gone = reply.answered  # the asker has left meanwhile
            reply.answer(say.Opened(message.id, context))
        if gone:
            await self._withdraw(say.WithdrawTurn(asked.request))

    async def _build_context(self, asked: say.BuildContext, reply: Reply | None) -> None:
        assert reply is not None
        if asked.turn_id and asked.turn_id != self._journal.state.turn_id:
            raise UsageError("this turn has ended", hint="open a new one")
        draft = self._draft(asked.settings)
        await self._calibrator.learn(draft, asked.prompt_tokens)
        self._journal.commit(draft)
        reply.answer(await self._context(asked))

    async def _context(self, asked: say.BuildContext) -> Context:
        draft = self._draft(asked.settings)
        decide.check_room(draft.state.settings)
        return await self._made(draft, asked.query)

    async def _made(self, draft: decide.Draft, query: str = "") -> Context:
        """The context of the draft's state. It is recorded, unless it is for a query."""
        context = await self._contexts.make(draft, self._calibrator.tokenizer(draft.state.settings), query)
        if not query:
            self._journal.commit(draft)
            self._calibrator.sent(self._contexts.parts, draft.state)
        return context

    async def _shrink(self, asked: say.Shrink, reply: Reply | None) -> None:
        assert reply is not None
        if asked.turn_id != self._journal.state.turn_id:
            raise UsageError("this turn has ended", hint="open a new one")
        now_ms = self._services.clock.now_ms()
        draft = await shrunk(self._draft(None), asked.tokens, self._calibrator, self._compactor, now_ms)
        reply.answer(await self._made(draft))

    async def _close_turn(self, asked: say.CloseTurn, reply: Reply | None) -> None:
        if asked.turn_id != self._journal.state.turn_id:
            raise UsageError("this turn has ended already")
        draft = self._journal.draft()
        for message in asked.messages:
            await self._take_in(draft, message)
        await self._calibrator.learn(draft, asked.prompt_tokens)
        decide.close_turn(draft, asked.outcome, self._services.clock.now_ms(), self._contexts.newest)
        self._journal.commit(draft, _acknowledge(reply, None))
        self._contexts.usage.replied("\n".join(one.text for one in asked.messages if one.role == "assistant"))
        self._after()
        await self._open_waiting()

    async def _withdraw(self, asked: say.WithdrawTurn) -> None:
        self._waiting.withdraw(asked.request)
        if self._journal.state.turn_id and self._open_request == asked.request:
            draft = self._journal.draft()
            decide.close_turn(draft, "unanswered", self._services.clock.now_ms(), self._contexts.newest)
            self._journal.commit(draft)
            self._contexts.usage.replied("")
            self._after()
            await self._open_waiting()

    # --- going back and forgetting ----------------------------------------------------------------------

    async def _rewind(self, asked: say.Rewind, reply: Reply | None) -> None:
        state = self._journal.state
        if state.turn_id:
            raise UsageError("a session is not rewound while a turn is open", hint="leave the turn first")
        if asked.message_id not in self._journal.names:
            raise NotFoundError("the session has no message of that id", id=asked.message_id)
        await self._services.record.sync()
        back = await returned(self._key, self._services, state, asked.message_id, self._tokenizer)
        self._journal.rewind(back, _acknowledge(reply, back.messages))
        self._compactor.discard()
        self._after()

    async def _redact(self, asked: say.Redact, reply: Reply | None) -> None:
        if asked.newest_only and not frozenset(self._journal.state.shown).intersection(asked.item_ids):
            assert reply is not None
            reply.answer(say.Redacted(0))
            return
        await self._services.record.sync()
        record, state = self._services.record, self._journal.state
        texts = redacted_texts(await record.read_events(self._key, 1, state.sequence), asked)
        await self._rewrite(texts, asked.reason, reply)

    async def _expire(self, asked: say.ExpireTexts, reply: Reply | None) -> None:
        await self._services.record.sync()
        texts: list[tuple[int, str | None]] = []
        if not self._journal.state.turn_id:  # an open turn must not lose its beginning
            sequence = self._journal.state.sequence
            events = await self._services.record.read_events(self._key, 1, sequence)
            texts = await anyio.to_thread.run_sync(
                expired_texts, events, asked.before_ms, limiter=self._services.pools.background
            )
        await self._rewrite(texts, "retention", reply)

    async def _rewrite(
        self, texts: Sequence[tuple[int, str | None]], reason: str, reply: Reply | None
    ) -> None:
        """Put these texts in the place of the old ones, and begin anew from there."""
        if not texts:
            assert reply is not None
            reply.answer(say.Redacted(0))
            return
        self._compactor.discard()
        self._prewarming.discard()
        done = anyio.Event()
        self._journal.replace_texts(tuple(texts), lambda _: done.set())
        await done.wait()
        if self._journal.failure is not None:
            raise self._journal.failure
        await self._journal.load()
        draft = self._journal.draft()
        decide.after_redaction(draft, self._tokenizer, self._services.clock.now_ms(), reason)
        self._journal.commit(draft, _acknowledge(reply, say.Redacted(len(texts))))
        self._after()

    def _erase(self, reply: Reply | None) -> None:
        self._compactor.discard()
        self._prewarming.discard()
        existed = self._unreadable is not None or self._journal.state.sequence > 0
        self._unreadable = None
        self._news.erased()
        self._waiting.erased()
        assert reply is not None
        self._contexts.erased()
        self._journal.erase(partial(_answer, reply, existed))
        self._after()

    # --- afterwards ---------------------------------------------------------------------------------------

    @property
    def _tokenizer(self) -> Tokenizer:
        return self._calibrator.tokenizer(self._journal.state.settings)

    def _after(self) -> None:
        """What follows from where things stand now: swap a block in, ask for a compaction, tell who waits."""
        if not self._journal.state.turn_id:
            draft = self._journal.draft()
            self._compactor.swap(draft, self._tokenizer, between_turns=True)
            decide.make_room(draft, self._tokenizer, self._services.clock.now_ms())
            self._journal.commit(draft)
            if draft.events:
                self._prewarming.want(self._journal.state, self._tokenizer)
        self._compactor.want(self._journal.state)
        self._answer_settling()

    def _answer_settling(self) -> None:
        if not self._compactor.in_flight and not self._prewarming.in_flight:
            for (
                reply
            ) in self._settling:  # what is on its way to the record is told to others when it is there
                self._journal.after_all(lambda _, reply=reply: reply.answer(None))
            self._settling.clear()


def _acknowledge(reply: Reply | None, answer: object) -> Callable[[StorageError | None], None] | None:
    """What to do when the commit is back: answer, or fail with its error."""
    return None if reply is None else partial(_answer, reply, answer)


def _answer(reply: Reply, answer: object, error: StorageError | None) -> None:
    if error is None:
        reply.answer(answer)
    else:
        reply.fail(error)
