"""A runtime that another process has open: the same methods, asked as operations, and the same sessions and turns."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from actormem.actors.messages import Configure
from actormem.core.budget import Budget
from actormem.core.context.layout import Layout
from actormem.core.ids import checked_id
from actormem.core.policy import PolicyName
from actormem.core.values import SessionKey
from actormem.core.wire import tools_wire
from actormem.front import UNSET, Address, Unset, check_settings, owner_of
from actormem.kernel import Clock
from actormem.limits import SETTLE_TIMEOUT_S
from actormem.ports import SessionRow
from actormem.remote import wire
from actormem.remote.address import Aside, RemoteAddress
from actormem.remote.asking import Asking
from actormem.remote.memory import RemoteMemory
from actormem.session import Session
from actormem.statistics import RuntimeStatistics

__all__ = ["RemoteRuntime"]


class RemoteRuntime(RemoteMemory):
    """A memory at a server. Made by `actormem.connect`; belongs to the event loop it was made in.

    It has the methods of `Runtime`; `statistics` is to be awaited. What fails for want of the server is a
    `StoppedError` or an `AskTimeoutError`, whose text says whether anything may have changed.
    """

    def __init__(self, connection: Asking, aside: Aside, clock: Clock, turn_wait_s: float) -> None:
        super().__init__(connection)
        self._aside = aside
        self._clock = clock
        self._turn_wait_s = turn_wait_s

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
        """As `Runtime.spawn`."""
        key = SessionKey(owner_of(user, tenant), checked_id(session_id, "session id"))
        check_settings(budget, layout)
        body: dict[str, Any] = {
            "model": model,
            "system": system,
            "tools": UNSET if tools is UNSET else msgspec.json.decode(tools_wire(tools) or "[]"),
            "budget": budget,
            "timezone": timezone,
            "policy": policy,
            "layout": layout,
            "scope": scope,
            "knowledge": knowledge,
        }
        answer = await self._connection.ask("spawn", key.owner, body=body, session=key.session_id)
        address, settings = self._address(key), _settings(answer)
        return Session(key, address, settings, self._clock, self._turn_wait_s, self.check_loop)

    def _address(self, key: SessionKey) -> Address:
        return RemoteAddress(key, self._connection, self._aside)

    async def sessions(self, user: str, *, tenant: str = "") -> tuple[SessionRow, ...]:
        """As `Runtime.sessions`."""
        return await self._ask("sessions", owner_of(user, tenant))

    async def settle(self) -> None:
        """As `Runtime.settle`: of everybody's work at the server."""
        await self._connection.ask("settle", body=None, timeout_s=SETTLE_TIMEOUT_S)

    async def statistics(self) -> RuntimeStatistics:
        """As `Runtime.statistics`, which need not be awaited there."""
        return await self._ask("statistics", None)


def _settings(answer: wire.SessionSettings) -> Configure:
    given: dict[str, Any] = {
        name: value
        for name in answer.__struct_fields__
        if (value := getattr(answer, name)) is not msgspec.UNSET
    }
    tools, knowledge = given.pop("tools", None), given.pop("knowledge", None)
    return Configure(
        tools=None if tools is None else tools_wire(tools),
        knowledge=None if knowledge is None else tuple(knowledge),
        **given,
    )
