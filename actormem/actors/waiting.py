"""The turns of a session that wait for the one before them to end.

Law of this file: they begin in the order they were asked for; one whose asker has gone never begins.
"""

from actormem.actors.messages import OpenTurn
from actormem.errors import OverloadedError, StoppedError
from actormem.kernel import Reply
from actormem.limits import MAILBOX_MESSAGES

__all__ = ["WaitingTurns"]


class WaitingTurns:
    """A line of asked turns, in a list: every session has one, seldom used. It is false when nobody waits."""

    def __init__(self) -> None:
        self._turns: list[tuple[OpenTurn, Reply]] = []

    def __len__(self) -> int:
        return len(self._turns)

    def line_up(self, asked: OpenTurn, reply: Reply) -> None:
        """Wait behind those who wait already.

        Raises:
            OverloadedError: As many wait as may.
        """
        self._turns = [one for one in self._turns if not one[1].answered]
        if len(self._turns) >= MAILBOX_MESSAGES:
            raise OverloadedError(
                "too many turns wait",
                mailbox="turns of the session",
                waiting=len(self._turns),
                limit=MAILBOX_MESSAGES,
            )
        self._turns.append((asked, reply))

    def leave(self) -> tuple[OpenTurn, Reply] | None:
        """The first whose asker is still there; it waits no longer. None where there is none."""
        while self._turns:
            asked, reply = self._turns.pop(0)
            if not reply.answered:
                return asked, reply
        return None

    def withdraw(self, request: str) -> None:
        """What this asker asked for does not begin."""
        self._turns = [one for one in self._turns if one[0].request != request]

    def erased(self) -> None:
        """None of them begins: the session is being forgotten."""
        for _, reply in self._turns:
            reply.fail(StoppedError("the turn cannot begin", reason="the session is being forgotten"))
        self._turns.clear()
