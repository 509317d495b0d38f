"""User messages as a model is asked about them: found in the owner's memory, with what was said before each."""

from itertools import islice

from actormem.core.facts.request import Said
from actormem.core.ids import item_number
from actormem.core.recall.partition import Partition
from actormem.core.values import Item

__all__ = ["said_in"]

SOUGHT_MAX = 512  # newest messages of a session among which one is sought that waits to be read


def said_in(partition: Partition, source: tuple[str, str]) -> Said | None:
    """The user message of a session as it is now, with the assistant's before it; None where it is gone or long ago.

    Args:
        source: Its session and its id.
    """
    session_id, message_id = source
    near = islice(partition.session_episodes(session_id), SOUGHT_MAX)
    said: list[Item] = []
    before: Item | None = None
    for item in near:
        if message_id in item.source_ids and item.source == "user":
            said.append(item)
        elif said:
            before = item
            break
    if not said:
        return None
    one = said[-1]
    return Said(
        session_id=session_id,
        message_id=message_id,
        text="".join(passage.text for passage in reversed(said)),
        before=before.text if before is not None and before.source == "assistant" else "",
        speaker=one.speaker,
        time_ms=one.event_ms,
        offset_minutes=one.offset_minutes,
        number=item_number(one.id) or 0,
    )
