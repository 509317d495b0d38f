"""What an actor system counts, as frozen values.

Law of this file: counters only grow; gauges (`residents`, `waiting`) say what is now.
"""

from __future__ import annotations

import msgspec

__all__ = ["Counters", "KindStatistics", "SystemStatistics"]


class Counters(msgspec.Struct, kw_only=True):
    """The counters while they grow; each is explained in `KindStatistics`."""

    activations: int = 0
    passivations: int = 0
    restarts: int = 0
    given_up: int = 0
    messages: int = 0
    refused: int = 0
    waited: int = 0
    coalesced: int = 0
    discarded: int = 0
    cut_off: int = 0
    errors: int = 0
    last_error: str = ""
    last_crash: str = ""


class KindStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of actor: what it holds now, and its counts since the system was entered."""

    residents: int
    """Actors in memory."""
    waiting: int
    """Messages in mailboxes, and those of senders that wait for room."""
    activations: int
    """Instances made, restarts included."""
    passivations: int
    """Idle instances ended, to be made again when a message comes."""
    restarts: int
    """Crashes after which a new instance was made at once."""
    given_up: int
    """Times that an actor crashed too often and was left alone for a while."""
    messages: int
    """Messages that entered a mailbox."""
    refused: int
    """Messages not taken: mailbox full, actor given up, or stopped. The sender got an error."""
    waited: int
    """Messages that had to wait for room."""
    coalesced: int
    """Waiting messages replaced by a newer one with the same key."""
    discarded: int
    """Tells that were in a mailbox when their actor was given up or cut off."""
    cut_off: int
    """Actors that the end of the system did not wait for any longer."""
    errors: int
    """Errors that nobody waited for: of a tell, of `stopped`, of `on_crash`."""
    last_error: str
    """Type and text of the last of these if it is an ActorMemError, else its type alone."""
    last_crash: str
    """Type of the last exception that crashed an actor."""


class SystemStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """One `KindStatistics` for each registered kind, in order of registration."""

    kinds: dict[str, KindStatistics]
