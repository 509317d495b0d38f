"""pykka's tell and ask, run by `benchmarks.kernel` in a process of its own: prints one JSON object.

python -m benchmarks.kernel_peer TELLS ASKS
"""

import sys
import threading
from collections.abc import Callable
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

import msgspec

__all__ = ["main"]

BULK = 50
TIMEOUT_S = 30.0


class _Handled:
    """Counts what an actor was told, and wakes who waits for the end of a bulk."""

    def __init__(self) -> None:
        self._left = 0
        self.all = threading.Event()

    def await_of(self, count: int) -> None:
        """So many are to come."""
        self._left = count
        self.all.clear()

    def one(self) -> None:
        """One has come."""
        self._left -= 1
        if not self._left:
            self.all.set()


def main(tell_count: int, ask_count: int) -> dict[str, float]:
    """The figures: processor time of the process, since an actor there is a thread, and both have a part in each."""
    pykka: Any = import_module("pykka")
    handled = _Handled()

    def on_receive(_self: object, message: int) -> int:
        if message < 0:
            handled.one()
        return message

    actor: Any = type("Echo", (pykka.ThreadingActor,), {"on_receive": on_receive})
    ref = actor.start()

    def tell() -> None:
        for _ in range(tell_count // BULK):
            handled.await_of(BULK)
            for _number in range(BULK):
                ref.tell(-1)
            if not handled.all.wait(TIMEOUT_S):
                raise TimeoutError(f"{BULK} messages were not handled in {TIMEOUT_S:.0f} s")

    def ask() -> None:
        for number in range(ask_count):
            ref.ask(number, timeout=TIMEOUT_S)

    try:
        ref.ask(0, timeout=TIMEOUT_S)
        tell_us, tells_per_s = _timed(tell, tell_count // BULK * BULK)
        ask_us, asks_per_s = _timed(ask, ask_count)
    finally:
        ref.stop()
    return {"tell_us": tell_us, "tells_per_s": tells_per_s, "ask_us": ask_us, "asks_per_s": asks_per_s}


def _timed(work: Callable[[], None], count: int) -> tuple[float, float]:
    """µs of processor time of one, and how many a second by the clock."""
    began_s, used_s = perf_counter(), process_time()
    work()
    elapsed_s, used_s = perf_counter() - began_s, process_time() - used_s
    return used_s / count * 1e6, count / elapsed_s


if __name__ == "__main__":
    print(msgspec.json.encode(main(int(sys.argv[1]), int(sys.argv[2]))).decode())
