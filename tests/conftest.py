"""What every test may use: both event loops, by name."""

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Each async test runs once on asyncio and once on trio."""
    return str(request.param)
