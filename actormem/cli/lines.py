"""Lines of stdin, read without a thread: whoever waits for one can be cancelled, and the interpreter can end."""

import os
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel

from actormem import UsageError

__all__ = ["Lines"]

LINE_BYTES_MAX = 8 * 1024 * 1024  # of one message on stdin
READ_BYTES = 65_536


class Lines:
    """The lines of a file descriptor, read as they come; waiting for one can be cancelled, as a thread's cannot."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        begun = bytearray()
        while True:
            try:
                await anyio.wait_readable(self._descriptor)
            except PermissionError:  # a file on disk can always be read
                await anyio.lowlevel.checkpoint()
            part = os.read(self._descriptor, READ_BYTES)
            begun += part
            if len(begun) > LINE_BYTES_MAX:
                raise UsageError(f"a message on stdin has more than {LINE_BYTES_MAX} bytes")
            *lines, rest = begun.split(b"\n") if b"\n" in part or not part else [begun]
            begun = bytearray(rest)
            for line in lines:
                yield line.decode(errors="replace")
            if not part:
                if begun:
                    yield begun.decode(errors="replace")
                return
