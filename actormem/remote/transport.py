"""The HTTP client library: whichever of the two the openai package brings, so that nothing more is installed."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["client_library"]


def client_library() -> Any:
    """The module `httpx2` or, where that is not installed, `httpx`: they have the same names."""
    return import_module("httpx2" if find_spec("httpx2") else "httpx")
