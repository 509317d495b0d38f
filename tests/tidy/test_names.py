"""Few public names, one word for each thing, no abbreviations, a docstring for all that is public."""

import ast
import re
from pathlib import Path

import pytest

import actormem
from tests.tidy import source

PUBLIC_NAMES = 42
WRONG_WORDS = {
    "manager": "runtime",
    "engine": "runtime",
    "utterance": "message",
    "scratchpad": "task state",
    "retrieve": "recall",
    "retrieval": "recall",
    "retriever": "recall",
    "purge": "forget",
    "worker": "actor",
    "helper": "a name that says what it does",
    "util": "a name that says what it does",
    "utils": "a name that says what it does",
    "msg": "message",
    "ctx": "context",
    "cfg": "settings",
    "conf": "settings",
    "tok": "token",
    "idx": "place",
    "mgr": "runtime",
    "tmp": "temporary",
    "impl": "a name that says what it does",
    "misc": "a name that says what it does",
}


def identifiers(path: Path) -> set[str]:
    found: set[str] = set()
    for one in ast.walk(source.tree(path)):
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(one.name)
        elif isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.arg):
            found.add(one.arg)
    return found


OTHERS_NAMES = {"AbstractContextManager", "AbstractAsyncContextManager"}
CLOCK = {"now_ms", "monotonic_s", "sleep", "deadline"}


def words(identifier: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)]


@pytest.mark.parametrize("path", source.files(), ids=source.name)
def test_our_own_names_use_our_own_words(path: Path) -> None:
    for identifier in identifiers(path) - OTHERS_NAMES:
        for word in words(identifier):
            assert word not in WRONG_WORDS, f"{identifier}: say {WRONG_WORDS[word]}"


def test_the_package_has_few_public_names_in_order() -> None:
    assert len(actormem.__all__) <= PUBLIC_NAMES
    constants = sorted(name for name in actormem.__all__ if name.isupper())
    classes = sorted(name for name in actormem.__all__ if name[0].isupper() and not name.isupper())
    others = sorted(name for name in actormem.__all__ if name[0].islower())
    assert list(actormem.__all__) == [*constants, *classes, *others]
    for name in actormem.__all__:
        assert hasattr(actormem, name)


@pytest.mark.parametrize("path", source.files(), ids=source.name)
def test_every_module_says_what_it_is_and_what_it_offers(path: Path) -> None:
    assert ast.get_docstring(source.tree(path)), "a module docstring is missing"
    if path.name != "__init__.py" and path.name not in ("errors.py", "limits.py"):
        names = [one for one in source.tree(path).body if isinstance(one, ast.Assign)]
        assert any(isinstance(one.targets[0], ast.Name) and one.targets[0].id == "__all__" for one in names)


@pytest.mark.parametrize("path", source.files(), ids=source.name)
def test_everything_offered_has_a_docstring(path: Path) -> None:
    offered = next(
        (
            ast.literal_eval(one.value)
            for one in source.tree(path).body
            if isinstance(one, ast.Assign)
            and isinstance(one.targets[0], ast.Name)
            and one.targets[0].id == "__all__"
        ),
        [],
    )
    for one in source.tree(path).body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and one.name in offered:
            assert ast.get_docstring(one), f"{one.name} has no docstring"
            for inner in one.body if isinstance(one, ast.ClassDef) else ():
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and not inner.name.startswith(
                    "_"
                ):
                    shown = ast.get_docstring(inner) or _is_port_or_name(one, inner) or _is_overload(inner)
                    assert shown, f"{one.name}.{inner.name} has no docstring"


def _is_port_or_name(owner: ast.ClassDef, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Ports number their promises in the class; what implements one is described there."""
    from actormem import ports

    promised = {
        name
        for port in ("Tokenizer", "Embedder", "LLM", "VectorIndex", "Cache", "Record")
        for name in dir(getattr(ports, port))
    }
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in owner.bases]
    protocol = any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases)
    return protocol or method.name in promised | CLOCK


def _is_overload(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """What it does is said where it is done."""
    return any(isinstance(one, ast.Name) and one.id == "overload" for one in method.decorator_list)


def test_no_todo_is_left() -> None:
    for path in source.files():
        assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", path.read_text(encoding="utf-8")), source.name(
            path
        )
