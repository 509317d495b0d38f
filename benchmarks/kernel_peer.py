"""pykka's tell and ask, run by `benchmarks.kernel` in a process of its own: prints one JSON object.

python -m benchmarks.kernel_peer TELLS ASKS
"""

import sys
from importlib import import_module
from time import perf_counter
from typing import Any

import msgspec

__all__ = ["main"]

BULK = 50
TIMEOUT_S = 30.0


def main(tell_count: int, ask_count: int) -> dict[str, float]:
    """The figures, by the clock: an actor there is a thread, and both threads have a part in each message."""
    pykka: Any = import_module("pykka")

    def on_receive(_self: object, message: object) -> object:
        return message

    actor: Any = type("Echo", (pykka.ThreadingActor,), {"on_receive": on_receive})
    ref = actor.start()
    try:
        ref.ask(0, timeout=TIMEOUT_S)
        began_s = perf_counter()
        for _ in range(tell_count // BULK):
            for number in range(BULK - 1):
                ref.tell(number)
            ref.ask(0, timeout=TIMEOUT_S)
        tell_us = (perf_counter() - began_s) / tell_count * 1e6
        began_s = perf_counter()
        for number in range(ask_count):
            ref.ask(number, timeout=TIMEOUT_S)
        ask_us = (perf_counter() - began_s) / ask_count * 1e6
    finally:
        ref.stop()
    return {
        "tell_us": tell_us,
        "tells_per_s": 1e6 / tell_us,
        "ask_us": ask_us,
        "asks_per_s": 1e6 / ask_us,
    }


if __name__ == "__main__":
    print(msgspec.json.encode(main(int(sys.argv[1]), int(sys.argv[2]))).decode())
