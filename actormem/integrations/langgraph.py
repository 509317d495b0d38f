"""LangGraph: a `BaseStore` whose searches are recalls, and the node that gives an agent its context.

    import anyio, actormem
    from actormem.integrations.langgraph import MemoryStore

    async def main() -> None:
        async with actormem.open(None) as runtime:
            store = MemoryStore(runtime)
            await store.aput(("memories", "ada"), "food", {"text": "Ada is allergic to peanuts."})
            for item in await store.asearch(("memories", "ada"), query="what must she not eat?"):
                print(item.key, item.value["text"])

    anyio.run(main)

Each namespace is an owner of its own (tenant `langgraph`, the labels joined by periods are the user), so that what is
put in one is in no other's reach, and `forget_user` forgets one whole. Give the store to `compile(store=…)` or to an
agent as you would any other. `langgraph_agent` has the node for the context.

Synchronous programs keep the runtime in a thread of its own, and give its portal:

    from anyio.from_thread import start_blocking_portal
    import actormem
    from actormem.integrations.langgraph import MemoryStore

    with start_blocking_portal() as portal:
        with portal.wrap_async_context_manager(actormem.open(None)) as runtime:
            store = MemoryStore(runtime, portal=portal)
            store.put(("memories", "ada"), "food", {"text": "Ada likes green tea."})
            print(store.get(("memories", "ada"), "food").value["text"])

LangGraph knows asyncio alone; on trio none of this works.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeAlias, cast

import anyio
import anyio.to_thread
import msgspec

from actormem import Item, NotFoundError, Runtime, UsageError

try:
    from anyio.from_thread import BlockingPortal
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        validate_op_namespace,
    )
    from langgraph.store.base import Item as StoreItem

    from actormem.integrations.calling import LoopCalls, together
    from actormem.integrations.store_values import (
        Entry,
        attribute_of,
        check_put,
        entry_of,
        holds,
        matches,
        namespace_of,
        now_utc,
        packed,
        path_of,
        plain_labels,
        words_of,
    )
except ImportError as missing:
    raise ImportError(
        "actormem.integrations.langgraph needs langgraph: pip install 'actormem[langgraph]'"
    ) from missing

__all__ = ["MemoryStore"]

Namespace: TypeAlias = tuple[str, ...]
Name: TypeAlias = tuple[Namespace, str]
NAMESPACES_MAX = 10_000  # below one prefix, in one answer
HITS_MAX = 100  # of one recall
QUERY_CHARS_MAX = 8_000  # of a recall: an agent may search for all it was told
READ_INLINE = 256  # values read on the event loop: 3 ms; more of them in a thread
FILTERED = "a filter of the runtime took out of the value what cannot be left out of it; nothing was put"
TTL_SLACK = 0.02  # a read within this share of a value's time after the last one writes nothing


class Kept(msgspec.Struct, frozen=True):
    """An entry of a namespace, and the memory that keeps it."""

    namespace: Namespace
    entry: Entry
    item: Item


class MemoryStore(BaseStore):
    """A LangGraph store in an actormem runtime.

    Values are durable when a put has returned. `search(query=…)` recalls: hits come first, best first, with their
    scores from 0 to 1; what matches and is no hit follows without one, the newest first. At most 100 values of a
    namespace are hits. Values of one batch are written beside each other, and each for itself; of two puts of one key
    the later counts. Reads of a batch come before its puts. A delete erases the value from the files, as
    `Runtime.forget` does. Values pass the runtime's filters: with the built-in one, secrets in them are not kept.

    Args:
        runtime: Stays yours to close.
        tenant: Under which the namespaces are owners; two stores of different tenants share nothing.
        fields: What of a value is searched, as paths (`text`, `messages[*].content`); None: all its texts and numbers.
        ttl: As LangGraph defines it, in minutes; what has expired is never given. `asweep_ttl` erases it.
        portal: Of the runtime's loop, where that runs in a thread of its own; None: the store is made in that loop.
        deadline_s: What a search waits at most for each recall, in seconds; None: what `open` was told.
        now: The moment, for tests.

    Raises:
        UsageError: No asyncio loop is running here, and no portal was given.
    """

    supports_ttl = True
    __slots__ = ("_calls", "_deadline_s", "_fields", "_lock", "_now", "_runtime", "_tenant", "ttl_config")

    def __init__(
        self,
        runtime: Runtime,
        *,
        tenant: str = "langgraph",
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        portal: BlockingPortal | None = None,
        deadline_s: float | None = None,
        now: Callable[[], datetime] = now_utc,
    ) -> None:
        self._runtime = runtime
        self._tenant = tenant
        self._fields = None if fields is None else tuple(fields)
        self._calls = LoopCalls(portal)
        self._deadline_s = deadline_s
        self._now = now
        self._lock = anyio.Lock()
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do them, from a thread; see the class for their order."""
        return self._calls.blocking(partial(self._done, list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do them; see the class for their order."""
        return await self._calls.awaited(partial(self._done, list(ops)))

    def sweep_ttl(self) -> int:
        """Erase what has expired, from a thread; gives how many values."""
        return self._calls.blocking(self._swept)

    async def asweep_ttl(self) -> int:
        """Erase what has expired; gives how many values. Cost: all namespaces are read."""
        return await self._calls.awaited(self._swept)

    async def _done(self, ops: Sequence[Op]) -> list[Result]:
        for op in ops:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(ops)
        puts: dict[Namespace, dict[str, PutOp]] = defaultdict(dict)
        reads: list[Callable[[], Awaitable[None]]] = []
        for place, op in enumerate(ops):
            if isinstance(op, PutOp):
                puts[op.namespace][op.key] = op
            else:
                reads.append(partial(self._read_into, results, place, op))
        await together(reads)
        if puts:
            async with self._lock:  # whoever puts a key sees what was put there before
                await together(
                    [partial(self._put, space, tuple(some.values())) for space, some in puts.items()]
                )
        return results

    async def _read_into(self, results: list[Result], place: int, op: Op) -> None:
        match op:
            case GetOp():
                results[place] = await self._got(op)
            case SearchOp():
                results[place] = cast("Result", await self._searched(op))
            case ListNamespacesOp():
                results[place] = await self._listed(op)
            case _:
                raise UsageError(f"a store does not know {type(op).__name__}")

    # --- reading --------------------------------------------------------------------------------------

    async def _got(self, op: GetOp) -> StoreItem | None:
        found = await self._kept(op.namespace, key=op.key)
        if not found:
            return None
        await self._refresh(found[-1:], op.refresh_ttl)
        entry = found[-1].entry
        return StoreItem(
            value=entry.value,
            key=entry.key,
            namespace=op.namespace,
            created_at=entry.created_at,
            updated_at=entry.updated_at,
        )

    async def _searched(self, op: SearchOp) -> list[SearchItem]:
        spaces = await self._namespaces(op.namespace_prefix)
        wanted: dict[Name, Kept] = {}
        scores: dict[Name, float] = {}

        async def recall(space: Namespace) -> None:
            for hit in await self._recalled(space, op.query or ""):
                entry = entry_of(hit.item)
                if entry is not None and entry.indexed and holds(entry.value, op.filter):
                    wanted[space, entry.key] = Kept(space, entry, hit.item)
                    scores[space, entry.key] = hit.score

        async def look(space: Namespace) -> None:
            for one in await self._kept(space):
                if (space, one.entry.key) not in scores and holds(one.entry.value, op.filter):
                    wanted[space, one.entry.key] = one

        if op.query and op.query.strip():
            await together([partial(recall, space) for space in spaces])
        if len(scores) < op.offset + op.limit:  # else what is no hit is on none of these pages
            await together([partial(look, space) for space in spaces])
        best = sorted(scores, key=lambda name: -scores[name])
        rest = [name for name in wanted if name not in scores]
        rest.sort(key=lambda name: (wanted[name].entry.indexed, wanted[name].entry.updated), reverse=True)
        chosen = [*best, *rest][op.offset : op.offset + op.limit]
        await self._refresh([wanted[name] for name in chosen], op.refresh_ttl)
        return [_found(wanted[name], scores.get(name)) for name in chosen]

    async def _recalled(self, namespace: Namespace, query: str) -> Sequence[Any]:
        found = await self._runtime.recall(
            query[:QUERY_CHARS_MAX],
            user=path_of(namespace),
            tenant=self._tenant,
            limit=HITS_MAX,
            deadline_s=self._deadline_s,
        )
        return found.hits

    async def _listed(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        begins = next((plain_labels(one) for one in conditions if one.match_type == "prefix"), ())
        found = [
            one
            for one in await self._namespaces(begins)
            if all(matches(condition, one) for condition in conditions)
        ]
        if op.max_depth is not None:
            found = list({one[: op.max_depth] for one in found})
        return sorted(found)[op.offset : op.offset + op.limit]

    async def _namespaces(self, prefix: Namespace) -> list[Namespace]:
        """The namespaces in which something was put, that begin so."""
        rows = await self._runtime.owners(limit=NAMESPACES_MAX, tenant=self._tenant, prefix=path_of(prefix))
        if len(rows) == NAMESPACES_MAX:
            raise UsageError(
                f"{NAMESPACES_MAX} namespaces or more begin so",
                hint="name more of the labels they begin with",
            )
        found = [namespace_of(row.owner.user) for row in rows if row.item_count]
        return [one for one in found if one[: len(prefix)] == tuple(prefix)]

    async def _kept(
        self, namespace: Namespace, *, key: str | None = None, expired: bool = False
    ) -> list[Kept]:
        """What a namespace holds, or what it holds under a key; the newest of each key last."""
        if not namespace:
            return []
        items = await self._runtime.items(path_of(namespace), tenant=self._tenant, history=expired)
        if key is not None:
            attribute = attribute_of(key)
            items = tuple(one for one in items if one.attribute == attribute)
        if len(items) <= READ_INLINE:
            return _read(namespace, items)
        return await anyio.to_thread.run_sync(_read, namespace, items)

    async def _refresh(self, used: Sequence[Kept], wanted: bool) -> None:
        """Count the time of what was read anew."""
        if not wanted:
            return
        now, due = self._now(), list[Kept]()
        for one in used:
            ttl = one.entry.ttl_minutes
            left_s = one.item.expires_ms / 1000 - now.timestamp()
            if ttl is not None and left_s < ttl * 60 * (1 - TTL_SLACK):
                due.append(one)
        if due:
            async with self._lock:
                await together([partial(self._prolong, one, now) for one in due])

    async def _prolong(self, one: Kept, now: datetime) -> None:
        try:
            newest = await self._runtime.item(one.item.id, user=path_of(one.namespace), tenant=self._tenant)
        except NotFoundError:
            return
        if newest.version == one.item.version and newest.state == "live":
            await self._edited(one.namespace, newest, newest.text, newest.value, _end(one.entry, now))

    # --- writing --------------------------------------------------------------------------------------

    async def _put(self, namespace: Namespace, ops: Sequence[PutOp]) -> None:
        for op in ops:
            check_put(op.key, op.value)
        only = ops[0].key if len(ops) == 1 else None
        known: dict[str, list[Kept]] = defaultdict(list)
        for one in await self._kept(namespace, key=only, expired=True):
            known[one.entry.key].append(one)
        await together([partial(self._put_one, namespace, op, known.get(op.key, [])) for op in ops])

    async def _put_one(self, namespace: Namespace, op: PutOp, known: Sequence[Kept]) -> None:
        if op.value is None:
            await together([partial(self._erased, namespace, one.item) for one in known])
            return
        now = self._now()
        words = "" if op.index is False else words_of(op.value, op.index or self._fields)
        entry = Entry(
            key=op.key,
            value=dict(op.value),
            created=known[-1].entry.created if known else now.isoformat(),
            updated=now.isoformat(),
            ttl_minutes=op.ttl,
            indexed=bool(words),
        )
        value, text = packed(entry), words or f"{'/'.join(namespace)}/{op.key}"[:QUERY_CHARS_MAX]
        if not known:
            made = await self._runtime.remember(
                text,
                user=path_of(namespace),
                tenant=self._tenant,
                attribute=attribute_of(op.key),
                value=value,
                expires=_end(entry, now),
            )
            if entry_of(made) is None:
                await self._erased(namespace, made)
                raise UsageError(FILTERED)
            return
        newest = known[-1].item
        if newest.state == "archived":
            await self._runtime.archive(
                newest.id, user=path_of(namespace), tenant=self._tenant, archived=False
            )
        edited = await self._edited(namespace, newest, text, value, _end(entry, now))
        if entry_of(edited) is None:
            await self._edited(namespace, newest, newest.text, newest.value, _end(known[-1].entry, now))
            raise UsageError(FILTERED)
        await together([partial(self._erased, namespace, one.item) for one in known[:-1]])

    async def _edited(
        self, namespace: Namespace, item: Item, text: str, value: str, expires: datetime | None
    ) -> Item:
        return await self._runtime.edit(
            item.id, text, user=path_of(namespace), tenant=self._tenant, value=value, expires=expires
        )

    async def _erased(self, namespace: Namespace, item: Item) -> None:
        await self._runtime.forget(item.id, user=path_of(namespace), tenant=self._tenant, sources="keep")

    async def _swept(self) -> int:
        count = 0
        for namespace in await self._namespaces(()):
            for one in await self._kept(namespace, expired=True):
                if 0 < one.item.expires_ms <= self._now().timestamp() * 1000:
                    await self._erased(namespace, one.item)
                    count += 1
        return count


def _read(namespace: Namespace, items: Sequence[Item]) -> list[Kept]:
    entries = ((entry_of(item), item) for item in items)
    return [Kept(namespace, entry, item) for entry, item in entries if entry is not None]


def _found(one: Kept, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=one.namespace,
        key=one.entry.key,
        value=one.entry.value,
        created_at=one.entry.created_at,
        updated_at=one.entry.updated_at,
        score=score,
    )


def _end(entry: Entry, now: datetime) -> datetime | None:
    return None if entry.ttl_minutes is None else now + timedelta(minutes=entry.ttl_minutes)
