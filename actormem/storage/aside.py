"""Where damaged files of a folder are put, so that somebody may look at them: `damaged/`, for a week.

The law of the file: they hold words of users. So they go with everything that is forgotten, after a week at the
latest, and the oldest where there are too many; and nothing here raises, for what was set aside is already done
without.
"""

import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

__all__ = ["SetAside"]

FOLDER_NAME: Final = "damaged"
FOLDER_MODE: Final = 0o700
KEPT_MS: Final = 7 * 24 * 3_600 * 1_000  # long enough to find out what happened
KEPT_MAX: Final = 4  # a disk that is dying damages one after another: the first few tell it
DATE: Final = "%Y%m%dT%H%M%S.%fZ"  # begins the name of each, so that they sort by time

logger = logging.getLogger(__name__)


class SetAside:
    """The damaged files of one folder. Belongs to one thread at a time.

    Args:
        folder: The folder of the memory; nothing is made in it before something is damaged.
        now_ms: The wall clock, UTC, milliseconds.
    """

    def __init__(self, folder: Path, now_ms: Callable[[], int]) -> None:
        self._folder = folder.absolute() / FOLDER_NAME
        self._now_ms = now_ms
        self._due_ms = 0  # when the oldest has been kept long enough

    def take(self, paths: list[Path], name: str) -> None:
        """Move what there is of these out of the way, under the time and this name; what cannot be moved is removed."""
        found = [path for path in paths if path.exists() or path.is_symlink()]
        if not found:
            return
        place = self._folder / f"{datetime.fromtimestamp(self._now_ms() / 1000, UTC):{DATE}}-{name}"
        with suppress(OSError):
            place.mkdir(mode=FOLDER_MODE, parents=True)
        for path in found:
            try:
                path.rename(place / path.name)
            except OSError:
                removed(path)
        logger.warning("damaged files were set aside: %s", place)
        self._due_ms = 0
        self.expire()

    def expire(self) -> None:
        """Remove what has been kept long enough. Costs nothing where nothing is due."""
        now_ms = self._now_ms()
        if now_ms < self._due_ms:
            return
        kept: list[int] = []
        for number, place in enumerate(reversed(self._places()), 1):
            since_ms = time_ms(place)
            if number > KEPT_MAX or not now_ms - KEPT_MS < since_ms <= now_ms:
                removed(place)
            else:
                kept.append(since_ms)
        self._due_ms = min(kept, default=now_ms) + KEPT_MS

    def clear(self) -> None:
        """Remove all of it: something was forgotten that may be in it."""
        removed(self._folder)

    def _places(self) -> list[Path]:
        try:
            return sorted(self._folder.iterdir())
        except OSError:
            return []


def time_ms(place: Path) -> int:
    """When it was set aside; 0 where its name does not say so."""
    try:
        date = datetime.strptime(place.name.partition("-")[0], DATE.replace("Z", "%z"))  # noqa: DTZ007 - it has its zone
    except ValueError:
        return 0
    return int(date.timestamp() * 1000)


def removed(path: Path) -> None:
    """Remove a file or a folder with all that is in it, as far as the disk lets us."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
