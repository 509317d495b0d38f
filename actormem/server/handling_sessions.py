"""What is done for requests on sessions and their turns. Each handler gives the answer that its operation names."""

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Any, TypeVar

import anyio
import msgspec

from actormem import (
    ActorMemError,
    NotFoundError,
    PastTurn,
    Receipt,
    Session,
    SessionKey,
    Task,
    Trace,
    Turn,
    UsageError,
)
from actormem.remote import wire
from actormem.server.calls import Call
from actormem.server.turns import HeldTurn

__all__ = ["SESSION_HANDLERS"]

Handler = Callable[[Call], Awaitable[object]]
T = TypeVar("T")


async def sessions(call: Call) -> object:
    """The user's sessions."""
    return await call.runtime.sessions(**call.whose)


async def spawn(call: Call) -> wire.SessionSettings:
    """Set what is given."""
    given: wire.SessionSettings = call.body
    fields: dict[str, Any] = {name: getattr(given, name) for name in given.__struct_fields__}
    session = await call.runtime.spawn(call.query.session, **call.whose, **fields)
    call.state.handle(session)
    return _settings(session)


async def settings(call: Call) -> wire.SessionSettings:
    """As they are."""
    await call.known_session()
    return _settings(await call.runtime.spawn(call.query.session, **call.whose))


async def forget_session(call: Call) -> Receipt:
    """Erase it; its handle stays, with the settings it gives the session that begins anew."""
    try:
        return await call.runtime.forget_session(call.query.session, **call.whose)
    finally:
        call.state.contexts.drop(call.owner)


async def messages(call: Call) -> wire.Messages:
    """All of them."""
    return _said(_newest(await (await call.known_session()).messages(), call.query.last))


async def add(call: Call) -> wire.Messages:
    """Add them."""
    return _said(await (await call.session()).add_many(call.body.messages))


async def rewind(call: Call) -> wire.Messages:
    """Go back."""
    left = await (await call.known_session()).rewind(call.body.message_id)
    call.state.contexts.drop(call.owner)
    return _said(left)


async def context(call: Call) -> wire.ContextAnswer:
    """The context without a turn."""
    found = await (await call.session()).context(call.body.query)
    return wire.ContextAnswer(
        turn_id=found.trace.turn_id,
        messages=found.messages,
        trace=found.trace,
        cache_breakpoints=found.cache_breakpoints,
    )


async def summaries(call: Call) -> object:
    """The summary items that came from the session."""
    found = await call.runtime.items(**call.whose, kinds=["summary"])
    return tuple(item for item in found if item.session_id == call.query.session)


async def task(call: Call) -> wire.MaybeTask:
    """What it is at."""
    found: Task | None = await (await call.known_session()).task.get()
    return wire.MaybeTask(task=found)


async def set_task(call: Call) -> wire.Nothing:
    """Begin a task."""
    asked: wire.NewTask = call.body
    await (await call.session()).task.set(asked.goal, step=asked.step, values=asked.values)
    return wire.Nothing()


async def update_task(call: Call) -> wire.Nothing:
    """Change it."""
    asked: wire.TaskChange = call.body
    await (await call.session()).task.update(goal=asked.goal, step=asked.step, values=asked.values)
    return wire.Nothing()


async def clear_task(call: Call) -> wire.Nothing:
    """End it."""
    await (await call.known_session()).task.clear()
    return wire.Nothing()


# --- turns --------------------------------------------------------------------------------------------


async def turns(call: Call) -> tuple[PastTurn, ...]:
    """All of them."""
    return _newest(await (await call.known_session()).turns(), call.query.last)


async def trace(call: Call) -> Trace:
    """Of one turn."""
    return await (await call.known_session()).trace(call.query.turn)


async def turn(call: Call) -> wire.TurnSeen:
    """One turn with all that is kept of it."""
    session, turn_id = await call.known_session(), call.query.turn
    found = next((one for one in await session.turns() if one.id == turn_id), None)
    if found is None:
        raise NotFoundError("the session has no turn of that id", id=turn_id)
    try:
        why = await session.trace(turn_id)
    except NotFoundError:
        why = None
    return wire.TurnSeen(turn=found, trace=why, messages=call.state.contexts.find(session.key, turn_id))


async def open_turn(call: Call) -> wire.ContextAnswer:
    """Open it; where the caller hangs up while it waits for the turn before, it does not begin."""
    asked: wire.Opening = call.body
    session, mark = await call.session(), call.state.contexts.mark(call.owner)
    given = asked.message
    id = given.get("id") if asked.id is None and isinstance(given, dict) else asked.id
    held, failure = None, None
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_when_gone, call, group.cancel_scope)
        try:
            held = await call.state.turns.open(session, given, id, idle_s=asked.idle_s, request=asked.request)
        except ActorMemError as error:
            failure = error
        group.cancel_scope.cancel()
    if held is None:
        raise failure or UsageError("the caller has gone before the turn was open")
    return _context(call, held, mark)


async def add_in_turn(call: Call) -> wire.Nothing:
    """Add them."""
    held = call.state.turns.find(_key(call), call.query.turn, call.query.request)
    asked: wire.NewMessages = call.body
    async with held.lock:
        _count(held.turn, asked.prompt_tokens)
        for message in asked.messages:
            await held.turn.add(message)
    return wire.Nothing()


async def turn_context(call: Call) -> wire.ContextAnswer:
    """The context again."""
    asked: wire.TurnContext = call.body
    held = call.state.turns.find(_key(call), call.query.turn, asked.request)
    mark = call.state.contexts.mark(call.owner)
    async with held.lock:
        _count(held.turn, asked.prompt_tokens)
        await held.turn.context()
    return _context(call, held, mark)


async def shrink(call: Call) -> wire.ContextAnswer:
    """A smaller one."""
    asked: wire.Shrinking = call.body
    held = call.state.turns.find(_key(call), call.query.turn, asked.request)
    mark = call.state.contexts.mark(call.owner)
    async with held.lock:
        await held.turn.shrink(asked.tokens)
    return _context(call, held, mark)


async def reply(call: Call) -> wire.Nothing:
    """End it with the reply; once more changes nothing."""
    asked: wire.Ending = call.body
    key, turn_id = _key(call), call.query.turn
    ending = _digest(asked)
    if call.state.turns.has_ended(key, turn_id, ending):
        return wire.Nothing()
    held = call.state.turns.find(key, turn_id, asked.request)
    replies = [*asked.messages]
    if isinstance(asked.message, str):
        replies.append({"role": "assistant", "content": asked.message})
    elif asked.message is not None:
        replies.append(asked.message)
    async with held.lock:
        _count(held.turn, asked.prompt_tokens)
    await call.state.turns.end(held, replies, asked.outcome, ending)
    return wire.Nothing()


async def leave_turn(call: Call) -> wire.Nothing:
    """End it as it is."""
    key, turn_id, ending = _key(call), call.query.turn, _digest(call.query)
    if not call.state.turns.has_ended(key, turn_id, ending):
        held = call.state.turns.find(key, turn_id, call.query.request)
        await call.state.turns.end(held, ending=ending)
    return wire.Nothing()


async def keep_turns(call: Call) -> wire.Count:
    """Touch them."""
    count = 0
    for session_id, turn_id in call.body.turns:
        try:
            call.state.turns.find(_key(call, session_id), turn_id)
        except UsageError:
            continue
        count += 1
    return wire.Count(count=count)


SESSION_HANDLERS: dict[str, Handler] = {
    one.__name__: one
    for one in (
        sessions, settings, spawn, forget_session, messages, add, rewind, context, summaries, task, set_task,
        update_task, clear_task, turns, trace, turn, open_turn, add_in_turn, turn_context, shrink, reply, leave_turn,
        keep_turns,
    )
}  # fmt: skip


def _key(call: Call, session_id: str | None = None) -> SessionKey:
    return SessionKey(call.owner, call.query.session if session_id is None else session_id)


def _settings(session: Session) -> wire.SessionSettings:
    return msgspec.convert(session.settings, wire.SessionSettings)


async def _cancel_when_gone(call: Call, scope: anyio.CancelScope) -> None:
    await call.gone()
    scope.cancel()


def _newest(found: tuple[T, ...], last: int | None) -> tuple[T, ...]:
    if last is not None and last < 1:
        raise UsageError(f"last must be above 0, not {last}")
    return found if last is None else found[-last:]


def _said(found: tuple[Any, ...]) -> wire.Messages:
    return wire.Messages(messages=tuple(wire.said(one) for one in found))


def _context(call: Call, held: HeldTurn, mark: tuple[int, int]) -> wire.ContextAnswer:
    call.state.contexts.keep(held.key, held.turn.id, held.turn.messages, mark)
    return wire.ContextAnswer(
        turn_id=held.turn.id,
        messages=held.turn.messages,
        trace=held.turn.trace,
        cache_breakpoints=held.turn.cache_breakpoints,
    )


def _digest(asked: msgspec.Struct) -> bytes:
    """Tells one way to end a turn from another, and holds none of its words."""
    return blake2b(msgspec.json.encode(asked), digest_size=16).digest()


def _count(turn: Turn, prompt_tokens: int) -> None:
    """What the provider counted, told to the turn as a chunk of its stream tells it."""
    if prompt_tokens:
        turn.feed({"usage": {"prompt_tokens": prompt_tokens}, "choices": []})
