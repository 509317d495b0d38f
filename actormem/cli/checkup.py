"""`actormem checkup`: looks through the memories in a folder, prints what is wrong with them, repairs it if told to.

Law: it prints ids, kinds and numbers, never words of a memory.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

import actormem
from actormem import Checkup, Runtime, UsageError
from actormem.cli.place import NoEmbedder, folder_or_url, missing
from actormem.cli.show import plain, table
from actormem.verifying import is_memory

__all__ = ["add_checkup", "checkup"]

OWNERS_MAX = 10_000  # among which a sample is taken
IDS_SHOWN = 4
ABOUT = """\
Looks through a user's memories, or those of a sample of users: items that say the same, that contradict each
other, that have expired, that say nothing, that are too long or have no vector. Prints ids and proposed
repairs; --apply does them. No other process may have the folder open."""


def add_checkup(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    look = add_parser(
        "checkup", help="find and repair what is wrong with the memories in a folder", description=ABOUT
    )
    look.add_argument(
        "folder", type=folder_or_url, metavar="FOLDER", help="of the memory, or the URL of a database"
    )
    whose = look.add_mutually_exclusive_group(required=True)
    whose.add_argument("--user", metavar="USER", help="whose memories")
    whose.add_argument(
        "--sample", type=int, metavar="N", help="those of so many users, spread over all of them"
    )
    look.add_argument("--tenant", default="", metavar="TENANT", help="whose user it is (default: none)")
    look.add_argument("--apply", action="store_true", help="do the proposed repairs")
    look.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    look.add_argument(
        "--embedder",
        metavar="NAME",
        help="the embedder that the folder is used with; without it missing vectors are not looked for",
    )
    look.set_defaults(run=checkup)


async def checkup(options: argparse.Namespace) -> int:
    """Look, print, repair; 0 where nothing is wrong any more, 1 where something is."""
    folder: Path | str = options.folder
    if not await is_memory(folder):
        raise missing(folder)
    if options.sample is not None and not 1 <= options.sample <= OWNERS_MAX:
        raise UsageError(f"--sample must be a number from 1 to {OWNERS_MAX}, not {options.sample}")
    async with actormem.open(folder, embedder=options.embedder or NoEmbedder()) as runtime:
        found = [
            await runtime.checkup(user, tenant=tenant, apply=options.apply)
            for tenant, user in await _owners(runtime, options)
        ]
        if options.apply:
            await runtime.settle()
    print(_json(found) if options.json else _table(found))
    return int(any(one.open_count for one in found))


async def _owners(runtime: Runtime, options: argparse.Namespace) -> list[tuple[str, str]]:
    if options.user is not None:
        return [(options.tenant, options.user)]
    rows = [one for one in await runtime.owners(limit=OWNERS_MAX) if one.item_count]
    if options.tenant:
        rows = [one for one in rows if one.owner.tenant == options.tenant]
    count = min(options.sample, len(rows))
    chosen = [rows[place * len(rows) // count] for place in range(count)]
    return [(one.owner.tenant, one.owner.user) for one in chosen]


def _json(found: Sequence[Checkup]) -> str:
    body = {"memories": found, "findings": _counts(found)}
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()


def _counts(found: Sequence[Checkup]) -> dict[str, int]:
    return dict(sorted(Counter(finding.kind for one in found for finding in one.findings).items()))


def _table(found: Sequence[Checkup]) -> str:
    item_count = sum(one.item_count for one in found)
    total = f"{item_count} items of {len(found)} user{'' if len(found) == 1 else 's'}"
    rows = [
        (plain(one.owner.user), finding.kind, _ids(finding.item_ids), finding.reason, _repair(finding))
        for one in found
        for finding in one.findings
    ]
    if not rows:
        return f"{total}: nothing is wrong." if item_count else f"{total}: there is nothing to look at."
    counts = ", ".join(f"{count} {kind}" for kind, count in _counts(found).items())
    head = ("user", "finding", "items", "why", "repair")
    return (
        f"{table([head, *rows])}\n\n{total}: {counts}; {sum(one.open_count for one in found)} not repaired."
    )


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
    return " ".join(ids[:IDS_SHOWN]) + more


def _repair(finding: actormem.Finding) -> str:
    return f"{finding.repair}, done" if finding.applied else finding.repair
