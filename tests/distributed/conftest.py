"""Ray knows no other event loop."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Each test of this folder runs on asyncio alone."""
    return "asyncio"
