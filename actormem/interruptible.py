"""Waits in a thread that an interrupt (Ctrl-C) ends."""

from concurrent.futures import Future
from typing import Final, TypeVar

__all__ = ["result_of"]

AWAKE_S: Final = 0.5
Answer = TypeVar("Answer")


def result_of(waiting: Future[Answer]) -> Answer:
    """What the future comes to, for a thread that can wait; raises what it ended with, or KeyboardInterrupt.

    A signal that comes just before the thread falls asleep is only seen when it wakes, and on Windows so is every one:
    the thread wakes twice a second.
    """
    while True:
        try:
            return waiting.result(AWAKE_S)
        except TimeoutError:
            if waiting.done():  # in between, or with an error of that kind
                return waiting.result()
