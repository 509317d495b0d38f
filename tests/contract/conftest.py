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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A database's threads are the same on every loop: each promise is looked at on one, and on all with `full`."""
    for item in items:
        if {"trio", "postgres"} <= _chosen(item) and ("keeps" in item.name or "queue" in item.name):
            item.add_marker(pytest.mark.full)


def _chosen(item: pytest.Item) -> set[str]:
    called = getattr(item, "callspec", None)
    return set() if called is None else {value for value in called.params.values() if isinstance(value, str)}
