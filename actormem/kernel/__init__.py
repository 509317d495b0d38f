"""Actors for one process: bounded mailboxes, supervision, passivation. Knows nothing of memory.

    ref.tell / send / ask ──▶ mailbox ──▶ cell (the loop) ──▶ life (one instance: actor, replies, children)
                                            │  crash: new life, mailbox kept; too often: given up
                                            └─ idle: passivated; the next message wakes a new one

It promises, and `tests/unit/test_kernel_*.py` cite the numbers:

1. An actor handles one message at a time. What one task sends on one lane arrives in order; the
   control lane goes first.
2. A mailbox is bounded. Full, `tell` is refused, `send` and `ask` wait, a waiting message with the same
   coalesce key is replaced; all is counted, nothing is dropped silently.
3. Every asker gets exactly one of: a value, an error, AskTimeoutError, StoppedError; also when the actor
   kept the reply and then crashed or ended.
4. An ActorMemError from `receive` is an answer. Any other exception, and any from `started`, `idle` or a
   child task, is a crash: the asker gets StoppedError naming its type, a new instance takes over the mailbox.
5. An actor that crashes more than `count` times in `within_s` is given up: everyone waiting is answered,
   messages are refused for `cooldown_s`, then one more crash gives it up again. Nothing of this reaches
   the caller's task group.
6. An actor is passivated only if it says it is idle, its mailbox is empty, it keeps no reply and runs no
   child. The next message wakes it. No message is lost over this, and no two instances of a key coexist.
7. Cancelling an asker, by scope or by asyncio's `Task.cancel`, never disturbs the actor.
8. asyncio and trio both work; nothing is bound to an event loop at import.
9. Leaving the system ends kinds in reverse order of registration within `shutdown_s`: queued tells are
   handled, `stopped` runs, askers get StoppedError. A cancelled caller gets the same orderly end.
"""

from actormem.kernel.actor import Actor, Envelope, Reply, Scope
from actormem.kernel.clock import Clock, SystemClock
from actormem.kernel.kind import Crash
from actormem.kernel.probe import LoopGaps, LoopProbe
from actormem.kernel.ref import Ref
from actormem.kernel.statistics import KindStatistics, SystemStatistics
from actormem.kernel.supervisor import RestartWindow
from actormem.kernel.system import ActorSystem

__all__ = [
    "Actor",
    "ActorSystem",
    "Clock",
    "Crash",
    "Envelope",
    "KindStatistics",
    "LoopGaps",
    "LoopProbe",
    "Ref",
    "Reply",
    "RestartWindow",
    "Scope",
    "SystemClock",
    "SystemStatistics",
]
