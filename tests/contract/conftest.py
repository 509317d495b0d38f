"""The records every test of the port runs over."""

from pathlib import Path

import pytest

from tests.contract.records import Place, in_folder, in_memory


@pytest.fixture(params=["memory", "folder", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    match request.param:
        case "memory":
            return Place(in_memory, tmp_path)
        case "folder":
            return Place(in_folder, tmp_path / "record")
        case _:
            return Place(request.getfixturevalue("postgres").open, tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    return Place(in_folder, tmp_path / "record")


@pytest.fixture(params=["folder", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A record that is still there when it is opened again."""
    if request.param == "folder":
        return Place(in_folder, tmp_path / "record")
    return Place(request.getfixturevalue("postgres").open, tmp_path)
