"""`actormem verify`: looks at every row and file of a folder, prints what is damaged, makes anew what is derived.

Law: it prints ids, kinds and numbers, never words of a memory.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

import actormem
from actormem import Verification
from actormem.cli.show import plain, table

__all__ = ["add_verify", "verify"]

ABOUT = """\
Checks the checksum of every stored row, the format, that vectors fit items, that nothing forgotten still waits to be
cleared from the files, and the cache. --repair makes anew what is derived: vectors, snapshots, indexes, counts, the
cache; a log that is damaged in its middle is cut back to what is sound, and a copy of it set aside in damaged/.
No other process may have the folder open."""


def add_verify(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    look = add_parser("verify", help="find damage in a folder, and repair what can be", description=ABOUT)
    look.add_argument("folder", type=Path, metavar="FOLDER", help="of the memory")
    look.add_argument("--repair", action="store_true", help="make anew what is derived")
    look.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    look.set_defaults(run=verify)


async def verify(options: argparse.Namespace) -> int:
    """Look, print, repair; 0 where the folder is sound now, 1 where it is not."""
    found = await actormem.verify(options.folder, repair=options.repair)
    print(_json(found) if options.json else _table(found))
    return int(found.open_count > 0)


def _json(found: Verification) -> str:
    body = {**msgspec.structs.asdict(found), "open_count": found.open_count}
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()


def _table(found: Verification) -> str:
    total = f"{found.row_count} rows of format {found.format}"
    if not found.damage_count:
        return f"{total}: sound."
    rows = [
        (one.kind, plain(one.where), one.expected, plain(one.found), "repaired" if one.repaired else "open")
        for one in found.damages
    ]
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(row[0] for row in rows).items()))
    listed = table([("kind", "where", "expected", "found", ""), *rows])
    return f"{listed}\n\n{total}: {counts}; {found.open_count} not repaired."
