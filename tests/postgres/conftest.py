"""One loop for what is about the server; what the record promises is checked on every loop by the contract."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.postgres.server import MISSING, Server, served


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def schema(request: pytest.FixtureRequest, tmp_path: object) -> str:
    """A schema of the test's own."""
    server = request.getfixturevalue("postgres")
    return server.schema_of(tmp_path)


@pytest.fixture
def own_server(tmp_path: Path) -> Generator[Server, None, None]:
    """A server of the test's own, which it may kill."""
    if MISSING:
        pytest.skip(f"{', '.join(MISSING)} not installed: no PostgreSQL here")
    with served(tmp_path / "server") as server:
        yield server


@pytest.fixture
def guarded(postgres: Server) -> Generator[Server, None, None]:
    """The server with a user `locked` who has to give a password."""
    rules = Path(postgres.process.pgdata) / "pg_hba.conf"
    before = rules.read_text()
    with postgres.connect(role="postgres") as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'locked'").fetchone() is None:
            connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        rules.write_text(f"local all locked scram-sha-256\n{before}")
        connection.execute("SELECT pg_reload_conf()")
        yield postgres
        rules.write_text(before)
        connection.execute("SELECT pg_reload_conf()")
