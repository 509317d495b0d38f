"""actormem: an in-process actor runtime for the conversation memory of LLM agents.

     user message                                                                    reply (a message again)
        │                                                                                   ▲
        ▼                                                                                   │
     session ──▶ working memory ──────────────────────────────────▶ context ──▶ LLM ────────┘
        │             ▲                                                 ▲
        │ over budget │ summary block (only for what it was made from)  │ recall, under a deadline; items changed
        ▼             │                                                 │
     summarizer ──────┘        extraction ──▶ facts ──▶ long-term ──────┘
                                   ▲                     (remember · supersede · forget · expire)
        every turn ────────────────┘

A session is an actor, the summarizer is one for all, long-term memory is one for each owner; two more kinds work
behind them: one embeds the queries of all sessions together, and one ends what was begun: erasures and summaries that a
crash cut off, and what `Retention` lets go.

Where to read on: `opening` puts the parts together; `session` and `turn` are what a user holds, `memory`,
`knowledge`, `upkeep` and `exporting` what the runtime says of items; `actors` are those five kinds; `core` is
everything that is decided without waiting; `kernel` is what an actor is; `ports` is what is asked of the outside,
and `storage` and `adapters` are what stands there. `blocking` is the same front door for programs without an event
loop, `remote` the one to a memory that a `server` has; `integrations` are for libraries people already use, `observe`
for those who watch over it all.
"""

from actormem import blocking as blocking
from actormem.core.budget import Budget
from actormem.core.context.assembly import Context
from actormem.core.context.layout import Layout
from actormem.core.context.trace import Trace
from actormem.core.health.checkup import Checkup, Finding
from actormem.core.health.retention import Retention
from actormem.core.live import LiveEvent
from actormem.core.prices import Prices
from actormem.core.session.past import PastTurn
from actormem.core.task import Task
from actormem.core.values import Hit, Item, Message, Owner, Recall, SessionKey, ToolCall
from actormem.errors import (
    ActorMemError,
    AskTimeoutError,
    BudgetError,
    CorruptError,
    FencedError,
    FolderInUseError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    StoppedError,
    StorageError,
    UsageError,
    VersionError,
)
from actormem.opening import open
from actormem.remote.connecting import connect
from actormem.running import run
from actormem.runtime import UNSET, Runtime
from actormem.session import Session
from actormem.statistics import Receipt, RuntimeStatistics
from actormem.turn import Turn
from actormem.verifying import Verification, verify

__all__ = [
    "UNSET",
    "ActorMemError",
    "AskTimeoutError",
    "Budget",
    "BudgetError",
    "Checkup",
    "Context",
    "CorruptError",
    "FencedError",
    "Finding",
    "FolderInUseError",
    "Hit",
    "Item",
    "Layout",
    "LiveEvent",
    "Message",
    "NotFoundError",
    "OverloadedError",
    "Owner",
    "PastTurn",
    "Prices",
    "ProviderError",
    "Recall",
    "Receipt",
    "Retention",
    "Runtime",
    "RuntimeStatistics",
    "Session",
    "SessionKey",
    "StoppedError",
    "StorageError",
    "Task",
    "ToolCall",
    "Trace",
    "Turn",
    "UsageError",
    "Verification",
    "VersionError",
    "connect",
    "open",
    "run",
    "verify",
]
