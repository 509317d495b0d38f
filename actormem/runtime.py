"""The runtime: owns all actors, and is the way to every session and every memory."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from actormem import wiring
from actormem.actors import messages as say
from actormem.actors.extracting import EXTRACT_INTENTS
from actormem.actors.memory_messages import EndErasures, ResumeSummaries
from actormem.actors.observers import Observer
from actormem.actors.resuming import SUMMARY_INTENTS
from actormem.actors.services import Services
from actormem.actors.unfinished import unfinished_erasures
from actormem.closing import Remaining, remaining_work
from actormem.core.budget import Budget
from actormem.core.context.layout import Layout
from actormem.core.erasure import BYTES_INTENTS, ERASURE_INTENTS
from actormem.core.ids import checked_id, checked_scope
from actormem.core.policy import PolicyName, checked_policy
from actormem.core.values import SessionKey
from actormem.core.wire import tools_wire
from actormem.errors import UsageError
from actormem.exporting import Exporting
from actormem.front import UNSET, Unset, check_settings, owner_of, text_or_none, zone_or_none
from actormem.kernel import ActorSystem, Ref
from actormem.knowledge import KnowledgeMemory
from actormem.limits import SETTLE_TIMEOUT_S
from actormem.ports import SessionRow
from actormem.session import Session
from actormem.statistics import RuntimeStatistics, runtime_statistics
from actormem.upkeep import Upkeep
from actormem.watching import Watching

__all__ = ["UNSET", "Runtime"]


class Runtime(Upkeep, KnowledgeMemory, Exporting, Watching):
    """A memory that is open. Made by `actormem.open`; belongs to the event loop it was opened in.

    Attributes:
        remaining: What was left to do when it was closed, a `Remaining`; it is logged too. None while it is open, of a
            memory without a folder, and where the disk did not say in time.
    """

    def __init__(
        self, system: ActorSystem, services: Services, tokenizers: wiring.Tokenizers, turn_wait_s: float
    ) -> None:
        super().__init__(system, services)
        self._tokenizers = tokenizers
        self._turn_wait_s = turn_wait_s
        self.remaining: Remaining | None = None

    def __repr__(self) -> str:
        sessions, owners = self._system.residents("session"), self._system.residents("longterm")
        return f"<Runtime with {sessions} sessions and {owners} owners in memory>"

    async def resume(self) -> None:
        """Take up what was in flight when the folder was left; `open` does it."""
        services = self._services
        for owner in await services.record.owners_with_intents(BYTES_INTENTS):
            self._system.ref("upkeep", owner).tell(EndErasures(owner))
        for owner in await services.record.owners_with_intents(ERASURE_INTENTS):
            _, shown_in = await unfinished_erasures(services.record, owner)
            services.unfinished.hold(owner, shown_in)
            self._system.ref("upkeep", owner).tell(EndErasures(owner, held=True))
        for key in await services.record.behind():
            if not services.unfinished.holds(key.owner):
                self._system.ref("session", key).tell(say.Wake())
        if await services.record.owners_with_intents(SUMMARY_INTENTS):
            self._system.ref("upkeep", "summaries").tell(ResumeSummaries())
        if services.llm is not None and services.options.extract:
            for owner in await services.record.owners_with_intents(EXTRACT_INTENTS):
                self._system.ref("longterm", owner).tell(say.Wake())

    async def closed(self) -> None:
        """Count what is left to do, when every actor has ended; `open` does it."""
        self.remaining = await remaining_work(self._services.record, self._system.statistics())

    # --- sessions ---------------------------------------------------------------------------------------

    async def spawn(
        self,
        session_id: str,
        *,
        user: str,
        tenant: str = "",
        model: str | Unset = UNSET,
        system: str | Unset = UNSET,
        tools: Sequence[Mapping[str, object]] | Unset = UNSET,
        budget: Budget | Unset = UNSET,
        timezone: str | Unset = UNSET,
        policy: PolicyName | Unset = UNSET,
        layout: Layout | Unset = UNSET,
        scope: str | Unset = UNSET,
        knowledge: Sequence[str] | Unset = UNSET,
    ) -> Session:
        """The session of that key, with these settings. It always exists; the same key wakes it.

        What is given is the newest word and, where it differs, ends the epoch; what is not given stays.

        Args:
            session_id, user, tenant: Unique for its user; whose memory it is, opaque; whose user.
            model: What the context is counted for; none counts as OpenAI's newest vocabulary.
            system, tools: The system prompt, and the tool schemas you send with each request: they are counted.
            budget: Tokens; `Budget(context=4_096)` to begin with.
            timezone: An IANA name such as `Asia/Shanghai`: dates of messages that say no zone.
            policy: What becomes of messages that do not fit: `auto` (to begin with), `hybrid`, `summary`, `vector`,
                `window` or `full`; see the table of policies in the README.
            layout: Where notes stand and what is joined; `Layout()` to begin with.
            scope: Keeps agents of one user apart: what is learned here is of it, and turns recall what is of it or
                of none; empty (to begin with): of none.
            knowledge: Knowledge bases of the tenant that turns recall from, too; changing them ends no epoch.

        Raises:
            BudgetError: System prompt and tools do not fit the budget; nothing changed.
            UsageError: An id or a setting is wrong, or (NotFoundError) no base has that name; nothing changed.
        """
        key = SessionKey(owner_of(user, tenant), checked_id(session_id, "session id"))
        check_settings(budget, layout)
        asked = say.Configure(
            model=text_or_none("model", model),
            system=text_or_none("system", system),
            tools=None if tools is UNSET else tools_wire(tools),
            budget=None if budget is UNSET else budget,
            timezone=zone_or_none(timezone),
            policy=None if policy is UNSET else checked_policy(policy),
            layout=None if layout is UNSET else layout,
            scope=None if scope is UNSET else checked_scope(scope),
            knowledge=None if knowledge is UNSET else await self.attached(knowledge, key.owner.tenant),
        )
        if asked.model is not None:
            await self._tokenizers.load(asked.model)
        ref = self._system.ref("session", key)
        settings = await self.ask(ref, asked)
        assert isinstance(settings, say.Configure)
        self.wake_bases(settings.knowledge or (), key.owner.tenant)
        return self._session(key, ref, settings)

    def _session(self, key: SessionKey, ref: Ref, settings: say.Configure) -> Session:
        services = self._services
        return Session(
            key, ref, settings, services.clock, self._turn_wait_s, self.check_loop, services.observers
        )

    async def sessions(self, user: str, *, tenant: str = "") -> tuple[SessionRow, ...]:
        """The user's sessions, newest change first."""
        self.check_loop()
        await self._services.record.sync()
        return await self._services.record.sessions(owner_of(user, tenant))

    # --- the runtime itself -------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Return when no background work is pending: summaries swapped in, facts and vectors made, all durable."""
        self.check_loop()
        for kind in ("upkeep", "session", "summarizer", "session", "longterm", "upkeep"):
            for key in self._system.keys(kind):
                await self.ask(self._system.ref(kind, key), say.Settle(), timeout_s=SETTLE_TIMEOUT_S)
        await self._services.record.sync()

    def observe(self, observer: Observer) -> AbstractContextManager[None]:
        """Have a function told of each step while a `with` block lasts: what was done, how long it took, never a word.

        Args:
            observer: Called in the event loop with one of `actormem.core.observed` after each step; it must be quick,
                and what it raises is logged and ends nothing. `actormem.observe` has some.
        """
        if not callable(observer):
            raise UsageError(f"an observer must be a function, not {type(observer).__name__}")
        return self._services.observers.added(observer)

    def statistics(self) -> RuntimeStatistics:
        """Counts since opening, and what is in memory now."""
        return runtime_statistics(self._system.statistics(), self._services)
