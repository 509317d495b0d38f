"""When an owner's retention is due: once the memory is awake, and again after each day of use."""

from actormem.actors.memory_messages import RetentionDue
from actormem.actors.services import Services
from actormem.core.values import Owner
from actormem.errors import OverloadedError, StoppedError

__all__ = ["Daily"]

DAY_S = 86_400.0


class Daily:
    """Tells upkeep of one owner, no more than once a day; one who is not used is told of when he wakes."""

    def __init__(self, owner: Owner, services: Services) -> None:
        self._owner = owner
        self._services = services
        self._due_s = 0.0 if services.options.retention.is_set else float("inf")

    def look(self) -> None:
        """Tell, if it is time; where upkeep has too much to do the next message tells again."""
        now_s = self._services.clock.monotonic_s()
        if now_s < self._due_s:
            return
        try:
            self._services.ref("upkeep", "").tell(RetentionDue(self._owner))
        except (OverloadedError, StoppedError):
            return
        self._due_s = now_s + DAY_S
