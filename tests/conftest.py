"""What every test may use: the event loops, by name; and generated examples that are the same at each run."""

import faulthandler
import gc
from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres.server import MISSING, Server, served

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")

LOOPS = ["asyncio", "trio", *(["uvloop"] if find_spec("uvloop") else [])]
ON_UVLOOP = ("test_kernel", "test_session", "test_turn", "test_compacting", "test_memory")
"""Files about the kernel and the actors, whose tests run on uvloop too."""


@pytest.fixture(params=LOOPS)
def anyio_backend(request: pytest.FixtureRequest) -> str | tuple[str, dict[str, Any]]:
    """Each async test runs once on asyncio and once on trio; those about actors on asyncio with uvloop, too."""
    name = str(request.param)
    return ("asyncio", {"use_uvloop": True}) if name == "uvloop" else name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what uvloop is not for: it is another loop for the same asyncio."""
    items[:] = [item for item in items if not _on_uvloop(item) or item.path.name.startswith(ON_UVLOOP)]


def _on_uvloop(item: pytest.Item) -> bool:
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("anyio_backend") == "uvloop"


@pytest.fixture
def as_long_as_it_takes() -> None:
    """For what is told on the command line how long to go on: it is not ended as one that waits for ever."""
    faulthandler.cancel_dump_traceback_later()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Sizes of what is run by hand: `tests/crash/test_conversation_kill.py` and `tests/soak`."""
    parser.addoption("--rounds", type=int, default=None, help="kills of a conversing process, by hand")
    parser.addoption("--minutes", type=float, default=10.0, help="how long `pytest -m soak` lasts")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests are objects too, which every collection of garbage would look at again."""
    leave_alone_what_stays()


@pytest.fixture(autouse=True, scope="module")
def little_for_the_collector() -> Generator[None, None, None]:
    """Nor does it look at what the modules before have left: reports, caches, libraries."""
    yield
    leave_alone_what_stays()


def leave_alone_what_stays() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Generator[Server, None, None]:
    """A server, the same for all processes of a test run; each test has a schema of its own in it."""
    if MISSING:
        pytest.skip(f"{', '.join(MISSING)} not installed: no PostgreSQL here")
    base = tmp_path_factory.getbasetemp()
    with served((base if worker_id == "master" else base.parent) / "postgres") as server:
        yield server
