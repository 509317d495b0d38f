"""The task of a session, as its user sets it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from actormem.actors.messages import ChangeTask, ClearTask, ReadTask
from actormem.core.task import Task, checked_values, checked_words
from actormem.errors import UsageError

__all__ = ["SessionTask"]


class SessionTask:
    """What a session is at; reached as `session.task`.

    The application says it, contexts show it: in the next user message's note when it changed, and at the beginning
    of each epoch. It survives compaction and restart. While it is set, the calls made for it are told, shortly,
    once they are no longer verbatim. All of it takes at most `Budget.task` tokens.
    """

    def __init__(self, ask: Callable[[object], Awaitable[object]]) -> None:
        self._ask = ask

    async def set(
        self, goal: str, *, step: str = "", values: Mapping[str, str | int | float] | None = None
    ) -> None:
        """Begin a task; it takes the place of the one before. Returns when it is durable.

        Args:
            goal: What is to be reached; 1 to 1,000 characters.
            step: Where it stands; at most 500 characters.
            values: What to carry on, by name: at most 32, names of at most 64 and values of at most 200
                characters.

        Raises:
            UsageError: One of them is too long, or too many are given; nothing changed.
        """
        given = checked_values(values)
        if any(value is None for value in given.values()):
            raise UsageError("a new task has no value to take away", hint="leave it out, or use update()")
        await self._ask(
            ChangeTask(
                goal=checked_words("goal", goal), step=checked_words("step", step), values=given, fresh=True
            )
        )

    async def update(
        self,
        *,
        goal: str | None = None,
        step: str | None = None,
        values: Mapping[str, str | int | float | None] | None = None,
    ) -> None:
        """Change what is given of the task; the rest stays. Returns when it is durable.

        Args:
            values: Taken in beside those there are; None takes one away.

        Raises:
            UsageError: No task is set, or something is too long or too much; nothing changed.
        """
        await self._ask(
            ChangeTask(
                goal=None if goal is None else checked_words("goal", goal),
                step=None if step is None else checked_words("step", step),
                values=checked_values(values),
            )
        )

    async def clear(self) -> None:
        """End the task; nothing happens where there is none. Returns when it is durable."""
        await self._ask(ClearTask())

    async def get(self) -> Task | None:
        """The task with the calls made for it, or None."""
        return cast("Task | None", await self._ask(ReadTask()))
