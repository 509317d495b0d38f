"""What every test may use: both event loops, by name; and generated examples that are the same at each run."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Each async test runs once on asyncio and once on trio."""
    return str(request.param)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rounds N`: how often the child process of `tests/crash/test_conversation_kill.py` is killed."""
    parser.addoption("--rounds", type=int, default=None, help="kills of a conversing process, by hand")
