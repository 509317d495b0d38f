"""What is done for requests on memories, on knowledge, and on the server. Each gives the answer its operation names."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version

from msgspec import UNSET

from actormem import Checkup, Item, Recall, Receipt, UsageError
from actormem.remote import wire
from actormem.server.calls import Call, moment

__all__ = ["ITEM_HANDLERS"]

Handler = Callable[[Call], Awaitable[object]]


async def health(call: Call) -> wire.Health:
    """It is up."""
    return wire.Health(version=version("actormem"), open_turns=len(call.state.turns))


async def grant(call: Call) -> wire.Granted:
    """What the caller may see."""
    return wire.Granted(name=call.grant.name, tenant=call.grant.tenant, user=call.grant.user)


async def recall(call: Call) -> Recall:
    """Find."""
    asked: wire.Recalling = call.body
    return await call.runtime.recall(
        asked.query,
        **call.whose,
        limit=asked.limit,
        kinds=asked.kinds,
        scope=asked.scope,
        at=moment("at", asked.at),
        deep=asked.deep,
        min_score=asked.min_score,
        deadline_s=asked.deadline_s,
        knowledge=asked.knowledge,
    )


async def items(call: Call) -> tuple[Item, ...]:
    """List."""
    query = call.query
    if query.offset < 0 or (query.limit is not None and query.limit < 1):
        raise UsageError(
            f"offset must not be below 0 and limit above 0, not {query.offset} and {query.limit}"
        )
    found = await call.runtime.items(
        **call.whose, kinds=query.kinds, history=query.history, scope=query.scope
    )
    ordered = found[::-1] if query.newest else found
    return ordered[query.offset :][: query.limit]


async def remember(call: Call) -> Item:
    """Remember."""
    asked: wire.Remembering = call.body
    return await call.runtime.remember(
        asked.text,
        **call.whose,
        attribute=asked.attribute,
        value=asked.value,
        kind=asked.kind,
        importance=asked.importance,
        time=moment("time", asked.time),
        expires=moment("expires", asked.expires),
        scope=asked.scope,
    )


async def item(call: Call) -> Item:
    """One."""
    return await call.runtime.item(call.query.item, **call.whose)


async def edit(call: Call) -> Item:
    """Another text."""
    asked = call.body
    expires = UNSET if asked.expires is UNSET else moment("expires", asked.expires)
    try:
        return await call.runtime.edit(
            call.query.item, asked.text, **call.whose, value=asked.value, expires=expires
        )
    finally:
        call.state.contexts.drop(call.owner)


async def forget(call: Call) -> Receipt:
    """Erase one."""
    try:
        return await call.runtime.forget(call.query.item, **call.whose, sources=call.query.sources)
    finally:
        call.state.contexts.drop(call.owner)


async def archive(call: Call) -> Item:
    """Out of reach, or back."""
    return await call.runtime.archive(call.query.item, **call.whose, archived=call.body.archived)


async def value(call: Call) -> wire.MaybeItem:
    """What holds."""
    user, tenant = call.owner.user, call.owner.tenant
    found = await call.runtime.value(user, call.query.attribute, tenant=tenant, scope=call.query.scope)
    return wire.MaybeItem(item=found)


async def import_history(call: Call) -> wire.Count:
    """Take a log in."""
    asked: wire.HistoryImport = call.body
    count = await call.runtime.import_history(
        asked.messages, session_id=asked.session_id, **call.whose, scope=asked.scope
    )
    return wire.Count(count=count)


async def export_user(call: Call) -> wire.UserExport:
    """All of it."""
    found = await call.runtime.export_user(**call.whose)
    return wire.UserExport(
        owner=found.owner,
        time_ms=found.time_ms,
        sessions=tuple(
            wire.SessionWords(session_id=one.session_id, messages=tuple(map(wire.said, one.messages)))
            for one in found.sessions
        ),
        items=found.items,
    )


async def checkup(call: Call) -> Checkup:
    """Look, and repair."""
    try:
        return await call.runtime.checkup(**call.whose, apply=call.body.apply)
    finally:
        if call.body.apply:
            call.state.contexts.drop(call.owner)


async def forget_user(call: Call) -> Receipt:
    """Erase everything."""
    try:
        return await call.runtime.forget_user(**call.whose)
    finally:
        call.state.contexts.drop(call.owner)
        call.state.forgotten_user(call.owner)


async def knowledge(call: Call) -> object:
    """The bases."""
    return await call.runtime.knowledge(call.owner.tenant)


async def import_knowledge(call: Call) -> object:
    """Put documents in; a path is one of the caller's machine, so that none is taken here."""
    return await call.runtime.import_knowledge(call.query.name, call.body.documents, tenant=call.owner.tenant)


async def remove_knowledge(call: Call) -> Receipt:
    """Erase a base; any context of the tenant may show some of it."""
    try:
        return await call.runtime.remove_knowledge(call.query.name, tenant=call.owner.tenant)
    finally:
        call.state.contexts.drop_all()


async def owners(call: Call) -> object:
    """Whose memories there are; of one tenant, where the key is for one."""
    asked, own = call.query, call.grant.tenant
    if own is not None and asked.of_tenant not in (None, own):
        return ()
    tenant = asked.of_tenant if own is None else own
    return await call.runtime.owners(limit=asked.limit, tenant=tenant, prefix=asked.prefix)


async def statistics(call: Call) -> object:
    """Counts."""
    return call.runtime.statistics()


async def settle(call: Call) -> wire.Nothing:
    """Wait."""
    await call.runtime.settle()
    return wire.Nothing()


ITEM_HANDLERS: dict[str, Handler] = {
    one.__name__: one
    for one in (
        health, grant, recall, items, remember, item, edit, forget, archive, value, import_history, export_user,
        checkup, forget_user, knowledge, import_knowledge, remove_knowledge, owners, statistics, settle,
    )
}  # fmt: skip
