"""What `benchmarks.kernel` measures on one event loop: tells and asks, ours and the floor in turn."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from random import Random
from time import perf_counter, thread_time

import anyio
import msgspec

from actormem.kernel import ActorSystem, Ref, Reply, Scope
from benchmarks import kernel_floor, report

__all__ = ["Size", "once"]

BULK = 50  # fits the default mailbox
TIMEOUT_S = 30.0
PAUSE_S = 0.1  # between an answer and the asker's next question, in the mean
SEED = 7


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    tell_count: int = 20_000
    ask_count: int = 4_000
    session_count: int = 200
    repeat_count: int = 7


class Handled:
    """Counts what an actor was told, and wakes who waits for the end of a bulk."""

    def __init__(self) -> None:
        self._left = 0
        self._all = anyio.Event()

    def await_of(self, count: int) -> anyio.Event:
        """The event of so many having come."""
        self._left = count
        self._all = anyio.Event()
        return self._all

    def one(self) -> None:
        """One has come."""
        self._left -= 1
        if not self._left:
            self._all.set()


class Echo:
    """Answers with what it was asked, and counts what it was told."""

    def __init__(self, handled: Handled, key: object) -> None:
        self._handled = handled
        self._key = key

    async def started(self, scope: Scope) -> None:
        """Nothing is to be loaded."""

    async def receive(self, message: object, reply: Reply | None) -> None:
        """The answer, where somebody waits for it."""
        if reply is not None:
            reply.answer(message)
        else:
            self._handled.one()

    async def stopped(self, reason: str) -> None:
        """Nothing is open."""

    def idle(self) -> bool:
        """Always."""
        return True


class Timed:
    """Seconds since it was made, by the clock and of this thread's processor time."""

    def __init__(self) -> None:
        self._began_s, self._used_s = perf_counter(), thread_time()

    def each_us(self, count: int) -> tuple[float, float]:
        """Of one among `count`, in µs: by the clock, and of the processor."""
        used_s, elapsed_s = thread_time() - self._used_s, perf_counter() - self._began_s
        return elapsed_s / count * 1e6, used_s / count * 1e6


async def once(size: Size, loop: str) -> dict[str, dict[str, float]]:
    """Ours and the floor of that name, each figure by row."""
    handled = Handled()
    floor = kernel_floor.Channels(handled) if loop == "trio" else kernel_floor.Queues(handled)
    least, timed, found = f"queue on {loop}", f"queue, deadline, on {loop}", dict[str, dict[str, float]]()
    async with ActorSystem() as system, floor:
        system.register("echo", partial(Echo, handled))
        ours = _Sender(system.ref("echo", 0))
        found[loop] = await _tells(ours, handled, size) | await _asks(ours.ask, size)
        found[least] = await _tells(floor, handled, size) | await _asks(floor.ask, size)
        found[timed] = await _asks(floor.ask_in_time, size)
        refs = [system.ref("echo", number) for number in range(size.session_count)]
        asks = [_Sender(ref).ask for ref in refs]
        found[loop] |= await _apart(asks, size) | await _burst(refs)
        found[timed] |= await _apart([floor.ask_in_time] * size.session_count, size)
    for figure, name, row in (
        ("tell_us", "tell_times_queue", least),
        ("ask_us", "ask_times_queue", least),
        ("ask_us", "ask_times_deadline", timed),
    ):
        found[loop][name] = found[loop][figure] / found[row][figure]
    return found


class _Sender:
    """Ours, in the words of the floor."""

    def __init__(self, ref: Ref) -> None:
        self._ref = ref

    def tell(self, message: object) -> None:
        self._ref.tell(message)

    async def ask(self, message: object) -> object:
        return await self._ref.ask(message, timeout_s=TIMEOUT_S)


async def _tells(
    sender: "_Sender | kernel_floor.Queues | kernel_floor.Channels", handled: Handled, size: Size
) -> dict[str, float]:
    await sender.ask(0)
    bulks = size.tell_count // BULK
    timed = Timed()
    for _ in range(bulks):
        all_handled = handled.await_of(BULK)
        for number in range(BULK):
            sender.tell(number)
        await all_handled.wait()
    elapsed_us, used_us = timed.each_us(bulks * BULK)
    return {"tell_us": used_us, "tells_per_s": 1e6 / elapsed_us}


async def _asks(ask: Callable[[object], Awaitable[object]], size: Size) -> dict[str, float]:
    timed = Timed()
    for number in range(size.ask_count):
        await ask(number)
    elapsed_us, used_us = timed.each_us(size.ask_count)
    return {"ask_us": used_us, "asks_per_s": 1e6 / elapsed_us}


async def _apart(asks: Sequence[Callable[[object], Awaitable[object]]], size: Size) -> dict[str, float]:
    """Each is asked by an asker of its own, who pauses between answer and question."""
    elapsed_us, used_us = list[float](), list[float]()

    async def ask_on(number: int, ask: Callable[[object], Awaitable[object]]) -> None:
        chance = Random(SEED + number)
        await ask(0)
        for message in range(max(1, size.ask_count // len(asks))):
            await anyio.sleep(chance.uniform(0, 2 * PAUSE_S))
            timed = Timed()
            await ask(message)
            elapsed, used = timed.each_us(1)
            elapsed_us.append(elapsed)
            used_us.append(used)

    async with anyio.create_task_group() as group:
        for number, ask in enumerate(asks):
            group.start_soon(ask_on, number, ask)
    return {
        "ask_p50_us": report.percentile(elapsed_us, 0.5),
        "ask_p99_us": report.percentile(elapsed_us, 0.99),
        "ask_p99_processor_us": report.percentile(used_us, 0.99),
    }


async def _burst(refs: Sequence[Ref]) -> dict[str, float]:
    waits_ms = list[float]()
    began_s = perf_counter()

    async def ask(ref: Ref) -> None:
        await ref.ask(0, timeout_s=TIMEOUT_S)
        waits_ms.append((perf_counter() - began_s) * 1000)

    async with anyio.create_task_group() as group:
        for ref in refs:
            group.start_soon(ask, ref)
    return {"burst_p99_ms": report.percentile(waits_ms, 0.99)}
