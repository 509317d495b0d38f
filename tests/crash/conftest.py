"""The places whose users are killed."""

from pathlib import Path

import pytest

from tests.crash.places import LEASE_S


@pytest.fixture(params=["folder", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path)
    server = request.getfixturevalue("postgres")
    return server.url(server.schema_of(tmp_path), lease_s=LEASE_S)
