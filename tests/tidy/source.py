"""The package's own source, read once, for the tidy tests."""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "actormem"


@cache
def files() -> tuple[Path, ...]:
    """Every Python file of the package."""
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    """Its syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    """The file as people say it: `core/values.py`."""
    return path.relative_to(PACKAGE).as_posix()


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a file, nested ones too."""
    return [one for one in ast.walk(tree(path)) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
