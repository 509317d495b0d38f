"""The records every test of the port runs over."""

from pathlib import Path

import pytest

from tests.contract.records import Place


@pytest.fixture(params=["memory", "folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(None if request.param == "memory" else tmp_path / "record")


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    return Place(tmp_path / "record")
