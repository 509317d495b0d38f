"""What is left to do when a runtime is closed: counted, told in one line, and taken up at the next opening.

The law of the file: numbers alone, of everybody's together; and whatever the disk does, closing goes on in time.
"""

import logging

import anyio
import msgspec

from actormem.actors.extracting import EXTRACT_INTENTS
from actormem.actors.resuming import SUMMARY_INTENTS
from actormem.core.erasure import BYTES_INTENTS, ERASURE_INTENTS
from actormem.errors import ActorMemError
from actormem.kernel import SystemStatistics
from actormem.limits import CLOSE_REPORT_S
from actormem.ports import Record

__all__ = ["Remaining", "remaining_work"]

logger = logging.getLogger(__name__)


class Remaining(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime left to do when it was closed. It is durable, and done after the next opening; nothing is lost.

    Attributes:
        summaries: Sessions that wait for a summary.
        extractions: Messages that wait to be read by the `llm` for facts.
        erasures: Erasures that are not ended, and files that are to be cleared after them.
        sessions_behind: Sessions whose newest messages long-term memory has not taken in.
        actors_cut_off: Sessions, memories and others that had not ended when the time for it was over: what they had
            not acknowledged has failed.
    """

    summaries: int
    extractions: int
    erasures: int
    sessions_behind: int
    actors_cut_off: int


async def remaining_work(record: Record, system: SystemStatistics) -> Remaining | None:
    """What is left when every actor has ended; None where the disk does not say in time. It is logged, in one line."""
    cut_off = sum(kind.cut_off for kind in system.kinds.values())
    counts, behind = None, 0
    with anyio.move_on_after(CLOSE_REPORT_S, shield=True):
        try:
            await record.sync()
            behind = len(await record.behind())
            counts = await record.intent_counts()
        except ActorMemError:
            counts = None
    if counts is None:
        logger.warning("closed; the record does not say what is left to do; actors cut off: %d", cut_off)
        return None
    remaining = Remaining(
        summaries=counts.get(SUMMARY_INTENTS, 0),
        extractions=counts.get(EXTRACT_INTENTS, 0),
        erasures=counts.get(ERASURE_INTENTS, 0) + counts.get(BYTES_INTENTS, 0),
        sessions_behind=behind,
        actors_cut_off=cut_off,
    )
    told = msgspec.structs.asdict(remaining)
    if any(told.values()):
        level = logging.WARNING if cut_off else logging.INFO
        logger.log(
            level, "closed; left for the next opening: %s", ", ".join(f"{k} {v}" for k, v in told.items())
        )
    return remaining
