"""A memory that stays open in a task of its own, for programs whose tasks are started one by one."""

from contextlib import AbstractAsyncContextManager

import anyio
from anyio.abc import TaskStatus

from actormem.runtime import Runtime

__all__ = ["run"]


async def run(
    opened: AbstractAsyncContextManager[Runtime],
    *,
    task_status: TaskStatus[Runtime] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Keep a memory open until the task is cancelled.

    `runtime = await group.start(actormem.run, actormem.open("memory/"))`: the memory is opened and closed in that
    task; where it cannot be opened, `start` raises what `open` raises.

    Args:
        opened: What `actormem.open(…)` gave, not entered yet.
    """
    async with opened as runtime:
        task_status.started(runtime)
        await anyio.sleep_forever()
