"""How often an actor may crash, and how long it is left alone after that.

Law of this file: pure bookkeeping on times that are handed in; it waits for nothing.
"""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

__all__ = ["CRASH_BOOK_LIMIT", "CrashBook", "RestartWindow"]

CRASH_BOOK_LIMIT = 4096
"""Keys of one kind whose crashes are remembered; beyond it the one that crashed longest ago is forgotten."""


class RestartWindow(msgspec.Struct, frozen=True, kw_only=True):
    """Restart intensity: more than `count` crashes within `within_s` and the actor is given up.

    The defaults follow Erlang/OTP in spirit: a fault of the moment is healed at once, one that stays
    costs a few tries a minute.
    """

    count: int = 3
    """Crashes that are healed by a restart; at least 0."""
    within_s: float = 60.0
    """Length of the window, seconds; more than 0."""
    cooldown_s: float = 30.0
    """How long messages are refused after it was given up, seconds; at least 0."""


class Crashes(msgspec.Struct, kw_only=True):
    """Crashes of one key."""

    times: list[float] = []
    last: str = ""
    closed_until_s: float | None = None
    """Given up until then, and on trial after that; None while the window counts."""


class CrashBook:
    """Crashes of the actors of one kind, by key."""

    __slots__ = ("_entries", "window")

    def __init__(self, window: RestartWindow) -> None:
        assert window.count >= 0
        assert window.within_s > 0
        assert window.cooldown_s >= 0
        self.window = window
        self._entries: dict[Hashable, Crashes] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def crashed(self, key: Hashable, now_s: float, name: str) -> bool:
        """Count a crash. True if the actor is to be given up now."""
        entry = self._entries.pop(key, None) or Crashes()
        self._entries[key] = entry
        if len(self._entries) > CRASH_BOOK_LIMIT:
            del self._entries[next(iter(self._entries))]
        entry.last = name
        recent = [time_s for time_s in entry.times if now_s - time_s <= self.window.within_s]
        entry.times = [*recent, now_s]
        if entry.closed_until_s is None and len(entry.times) <= self.window.count:
            return False
        entry.closed_until_s = now_s + self.window.cooldown_s
        entry.times = []
        return True

    def refusal(self, key: Hashable, now_s: float) -> tuple[float, str] | None:
        """Seconds for which messages to `key` are refused and the crash that led to it, or None."""
        entry = self._entries.get(key)
        if entry is None or entry.closed_until_s is None or now_s >= entry.closed_until_s:
            return None
        return entry.closed_until_s - now_s, entry.last

    def on_trial(self, key: Hashable) -> bool:
        """True if one more crash gives `key` up again."""
        entry = self._entries.get(key)
        return entry is not None and entry.closed_until_s is not None

    def survived(self, key: Hashable) -> None:
        """A message was handled on trial: the window counts from the beginning again."""
        self._entries.pop(key, None)
