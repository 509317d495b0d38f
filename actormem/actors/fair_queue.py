"""Jobs of many owners in one bounded queue, that none of them can fill for the others.

The law of the file: owners take turns, whatever each has waiting; when there is no room, who has most gives up his
newest.
"""

from collections import OrderedDict

from actormem.actors.messages import Summarize
from actormem.core.values import Owner

__all__ = ["FairQueue"]


class FairQueue:
    """Requests for summaries, at most one of each session.

    Args:
        limit: Requests in all, at least 1.

    Cost:
        O(1); where there is no room, O(owners that wait).
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        self._queues: OrderedDict[Owner, OrderedDict[str, Summarize]] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def put(self, job: Summarize) -> Summarize | None:
        """Take a request in, in the place of an older one of its session; gives what had no room, maybe this one."""
        owner, session_id = job.key.owner, job.key.session_id
        queue = self._queues.setdefault(owner, OrderedDict())
        self._count += session_id not in queue
        queue[session_id] = job
        if self._count <= self._limit:
            return None
        longest = max(self._queues, key=lambda one: (len(self._queues[one]), one == owner))
        return self._pop(longest, last=True)

    def next(self) -> Summarize:
        """The oldest request of the owner whose turn it is.

        Raises:
            KeyError: It is empty.
        """
        owner = next(iter(self._queues), None)
        if owner is None:
            raise KeyError("no request waits")
        job = self._pop(owner, last=False)
        if owner in self._queues:
            self._queues.move_to_end(owner)
        return job

    def _pop(self, owner: Owner, *, last: bool) -> Summarize:
        queue = self._queues[owner]
        _, job = queue.popitem(last=last)
        self._count -= 1
        if not queue:
            del self._queues[owner]
        return job
