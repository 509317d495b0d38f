"""The way to a session that a server has: what a `Session` and a `Turn` say to an actor, said as operations.

So a session at a server is held by the very same classes as one in the process.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from actormem.actors import messages as say
from actormem.core.context.assembly import Context
from actormem.core.values import Message, SessionKey
from actormem.errors import ActorMemError, AskTimeoutError, StoppedError
from actormem.remote import wire
from actormem.remote.asking import LOST, Asking

__all__ = ["Aside", "RemoteAddress", "message_fields"]

SERVER_FIRST_S = 5.0  # the server's word comes before ours
TURN_IDLE_S = 45.0  # without a beat of ours the server ends a turn


class Aside(Protocol):
    """Does things beside, and beats for open turns."""

    def soon(self, call: Any, *arguments: object) -> None: ...
    def opened(self, key: SessionKey, turn_id: str) -> None: ...
    def ended(self, key: SessionKey, turn_id: str) -> None: ...


class RemoteAddress:
    """Where one session is asked."""

    def __init__(self, key: SessionKey, connection: Asking, aside: Aside) -> None:
        self.key = key
        self._connection = connection
        self._aside = aside
        self._requests: dict[
            str, str
        ] = {}  # turn ids that were asked for, by request, and requests by turn id

    def tell(self, message: object, *, control: bool = False) -> None:  # noqa: ARG002 - as an actor's
        """Only `WithdrawTurn` is told; it is sent beside."""
        assert isinstance(message, say.WithdrawTurn)
        turn_id = self._requests.pop(message.request, "")
        if turn_id:
            self._requests.pop(turn_id, None)
            self._aside.ended(self.key, turn_id)
            self._aside.soon(self._withdraw, turn_id, message.request)

    async def ask(self, message: object, *, timeout_s: float, control: bool = False) -> object:  # noqa: ARG002
        """The answer to what a handle asks."""
        match message:
            case say.OpenTurn():
                return await self._open(message, timeout_s)
            case say.CloseTurn():
                return await self._close(message, timeout_s)
            case say.AddMessages() if message.turn_id:
                await self._ask(
                    "add_in_turn",
                    {"messages": _all_fields(message.messages)},
                    turn=message.turn_id,
                    request=self._requests.get(message.turn_id, ""),
                )
                return message.messages
            case say.AddMessages():
                return _unsaid(await self._ask("add", {"messages": _all_fields(message.messages)}))
            case say.BuildContext() | say.Shrink():
                return _context(await self._asked_context(message))
            case say.ReadMessages():
                return _unsaid(await self._ask("messages"))
            case say.ReadTurns():
                return await self._ask("turns")
            case say.ReadTrace():
                return await self._ask("trace", turn=message.turn_id)
            case say.Rewind():
                return _unsaid(await self._ask("rewind", {"message_id": message.message_id}))
            case say.ChangeTask() | say.ClearTask() | say.ReadTask():
                return await self._task(message)
            case _:
                raise AssertionError(f"a session was asked a {type(message).__name__}")

    async def _open(self, asked: say.OpenTurn, timeout_s: float) -> say.Opened:
        turn_id = asked.message.id
        self._requests |= {asked.request: turn_id, turn_id: asked.request}
        body = {
            "message": message_fields(asked.message),
            "id": turn_id,
            "idle_s": TURN_IDLE_S,
            "request": asked.request,
        }
        try:
            answer = await self._ask("open_turn", body, timeout_s=timeout_s + SERVER_FIRST_S)
        except (
            AskTimeoutError
        ) as error:  # a turn takes that for its own waiting, which the server would have told
            raise StoppedError(LOST, reason=str(error).partition(";")[0]) from None
        self._aside.opened(self.key, turn_id)
        return say.Opened(turn_id, _context(answer))

    async def _close(self, asked: say.CloseTurn, timeout_s: float) -> None:
        request = self._requests.pop(asked.turn_id, "")
        self._requests.pop(request, None)
        self._aside.ended(self.key, asked.turn_id)
        body = {
            "messages": _all_fields(asked.messages),
            "outcome": asked.outcome,
            "prompt_tokens": asked.prompt_tokens,
            "request": request,
        }
        await self._ask("reply", body, turn=asked.turn_id, timeout_s=timeout_s)

    async def _asked_context(self, asked: say.BuildContext | say.Shrink) -> wire.ContextAnswer:
        request = self._requests.get(asked.turn_id, "")
        if isinstance(asked, say.Shrink):
            body = {"tokens": asked.tokens or None, "request": request}
            return await self._ask("shrink", body, turn=asked.turn_id)
        if asked.turn_id:
            body = {"prompt_tokens": asked.prompt_tokens, "request": request}
            return await self._ask("turn_context", body, turn=asked.turn_id)
        return await self._ask("context", {"query": asked.query or None})

    async def _task(self, asked: say.ChangeTask | say.ClearTask | say.ReadTask) -> object:
        if isinstance(asked, say.ReadTask):
            return (await self._ask("task")).task
        if isinstance(asked, say.ClearTask):
            return await self._ask("clear_task")
        if asked.fresh:
            body = {"goal": asked.goal, "step": asked.step or "", "values": asked.values}
            return await self._ask("set_task", body)
        body = {"goal": asked.goal, "step": asked.step, "values": asked.values}
        return await self._ask("update_task", body)

    async def _withdraw(self, turn_id: str, request: str) -> None:
        with suppress(ActorMemError):  # it never began, or has ended
            await self._ask("leave_turn", turn=turn_id, request=request)

    async def _ask(
        self,
        name: str,
        body: Mapping[str, object] | None = None,
        *,
        timeout_s: float | None = None,
        **query: object,
    ) -> Any:
        given = {} if timeout_s is None else {"timeout_s": timeout_s}
        key = self.key
        return await self._connection.ask(
            name, key.owner, body=body, session=key.session_id, **query, **given
        )


def message_fields(message: Message) -> dict[str, Any]:
    """The message as a request has it: what goes to a model, with our `id` and `time` beside."""
    fields: dict[str, Any] = msgspec.json.decode(message.wire, type=dict[str, Any])
    if message.id:
        fields["id"] = message.id
    if message.time_ms:
        fields["time"] = message.time.isoformat()
    return fields


def _all_fields(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    return [message_fields(one) for one in messages]


def _unsaid(answer: wire.Messages) -> tuple[Message, ...]:
    return tuple(wire.unsaid(one) for one in answer.messages)


def _context(answer: wire.ContextAnswer) -> Context:
    return Context(messages=answer.messages, trace=answer.trace, cache_breakpoints=answer.cache_breakpoints)
