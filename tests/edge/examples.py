"""Runs the example that stands in a module's docstring, as it stands there."""

import contextlib
import io
from importlib import import_module
from textwrap import dedent

__all__ = ["example", "printed_by"]


def example(module: str, number: int = 0) -> str:
    """The indented blocks of the docstring are its examples; this is one of them."""
    blocks: list[list[str]] = [[]]
    for line in (import_module(module).__doc__ or "").splitlines():
        if line.startswith("    "):
            blocks[-1].append(line)
        elif not line.strip() and blocks[-1]:
            blocks[-1].append("")
        elif blocks[-1]:
            blocks.append([])
    return dedent("\n".join([block for block in blocks if block][number])).strip() + "\n"


def printed_by(module: str, number: int = 0) -> str:
    """What the example prints."""
    printed = io.StringIO()
    code = compile(example(module, number), f"<example of {module}>", "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, {"__name__": "__main__"})
    return printed.getvalue()
