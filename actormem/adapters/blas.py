"""Holding BLAS to one thread while ours are at work: a second one makes small products many times slower.

Law: the setting is the process's, so it is held only while it must be, and given back as it was.
"""

import threading
from types import TracebackType
from typing import Any

__all__ = ["OneBlasThread"]


class OneBlasThread:
    """A block inside which BLAS uses one thread; threads may be inside together, the last one out gives it back.

    Where threadpoolctl is not installed nothing is held. The encoder's own holding, inside of this, changes nothing:
    alone it would give back another thread's setting in place of the process's.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside_count = 0
        self._controller: Any = None
        self._limited: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside_count += 1
            if self._inside_count == 1:
                self._limited = self._limit()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside_count -= 1
            if self._inside_count == 0 and self._limited is not None:
                self._limited.restore_original_limits()
                self._limited = None

    def _limit(self) -> Any:
        if self._controller is None:
            try:
                from threadpoolctl import ThreadpoolController
            except ImportError:
                return None
            self._controller = ThreadpoolController()  # looks through the loaded libraries, once
        return self._controller.limit(limits=1, user_api="blas")
