"""`actormem import`: memories out of an older log. `actormem export`: all that is kept of a user, as JSON."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import anyio
import msgspec
from tqdm import tqdm

from actormem import ActorMemError, Runtime, UsageError
from actormem.cli.place import add_embedder, add_place, memory_at, waiting
from actormem.cli.replay import Conversation, Fault, read_log
from actormem.cli.show import one_line, plain, table

__all__ = ["add_export", "add_import", "written"]

ABOUT_IMPORT = """\
Makes memories of an older log: ids and times are kept, so that the same log, or a longer one, may
be imported again and adds nothing twice. What it says never takes the place of what was said
later, and what was forgotten stays so. Where Ctrl-C cut it off, import the log again: it goes on."""
EXAMPLES_IMPORT = """\
the log is one of:
  a JSON list of messages                      [{"role": "user", "content": "..."}, ...]
  a JSON object with messages                  {"id": "...", "messages": [...]}
  JSONL, one such object a line                each a conversation of its own
each message may have an "id" and a "time" such as "2025-03-01T09:00:00+08:00"

examples:
  actormem import memory/ chatlog.json --user ada --session support-2025
  actormem import http://127.0.0.1:8377 logs.jsonl --user ada --json
"""
ABOUT_EXPORT = """\
Writes everything that is kept of a user as one JSON object: every session with every message, and
every item, superseded and archived ones too. What was forgotten is not in it."""
EXAMPLES_EXPORT = """\
examples:
  actormem export memory/ --user ada --out ada.json
  actormem export unix:/run/app/memory.sock --user ada | jq .items
"""
Wire = list[dict[str, object]]


def add_import(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    take = add_parser("import", help="make memories of an older log", description=ABOUT_IMPORT)
    take.epilog = f"{EXAMPLES_IMPORT}\n{take.epilog}"
    add_place(take, made=True)
    take.add_argument("log", type=Path, metavar="LOG", help="the file; JSON or JSONL")
    take.add_argument(
        "--session", metavar="ID", help="of a conversation without an id (default: the file's name)"
    )
    add_embedder(take)
    take.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    take.set_defaults(run=import_log)


def add_export(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    give = add_parser("export", help="write all that is kept of a user", description=ABOUT_EXPORT)
    give.epilog = f"{EXAMPLES_EXPORT}\n{give.epilog}"
    add_place(give)
    give.add_argument("--out", metavar="FILE", help="write there (default: print)")
    give.set_defaults(run=export)


async def import_log(options: argparse.Namespace) -> int:
    """Import what can be; 0 if all could, 1 if some, 2 if none."""
    found = list(read_log(await anyio.Path(options.log).read_bytes()))
    conversations = [one for one in found if isinstance(one, Conversation)]
    faults = [one for one in found if isinstance(one, Fault)]
    taken: list[Conversation] = []
    changed_count = 0
    if conversations:

        async def tried(runtime: Runtime) -> object:
            return await runtime.sessions(options.user, tenant=options.tenant)  # refuses what is no user

        async with memory_at(options, tried=tried) as runtime:
            for one, count in await _imported(runtime, options, conversations, faults):
                taken.append(one)
                changed_count += count
            with waiting("making vectors"):
                await runtime.settle()
    for fault in sorted(faults, key=lambda one: one.line):
        print(f"line {fault.line}: {fault.reason}", file=sys.stderr)
    if not taken:
        print("actormem: nothing of this log could be imported", file=sys.stderr)
        return 2
    counts = {
        "conversations": len(taken),
        "messages": sum(len(one.messages) for one in taken),
        "items made or changed": changed_count,
        "lines with faults": len(faults),
    }
    if options.json:
        named = {name.replace(" ", "_"): count for name, count in counts.items()}
        print(msgspec.json.format(msgspec.json.encode(named), indent=2).decode())
    else:
        print(table([(name, f"{count:,}") for name, count in counts.items()]))
    return int(bool(faults))


async def _imported(
    runtime: Runtime, options: argparse.Namespace, conversations: list[Conversation], faults: list[Fault]
) -> list[tuple[Conversation, int]]:
    """Those that were taken in, with how many items each made or changed; what is wrong with others is a fault."""
    total = sum(len(one.messages) for one in conversations)
    done: list[tuple[Conversation, int]] = []
    with cast("tqdm[None]", tqdm(total=total, unit=" messages", file=sys.stderr, leave=False)) as bar:
        before = 0
        for one in conversations:

            def progress(count: int, _: int, before: int = before) -> None:
                bar.update(before + count - bar.n)

            try:
                changed_count = await runtime.import_history(
                    one.messages,
                    session_id=_session_id(one, options),
                    user=options.user,
                    tenant=options.tenant,
                    progress=progress,
                )
            except UsageError as error:
                faults.append(Fault(one.line, one_line(error)))
            except ActorMemError as error:
                why = f"{one_line(error)}; it was not imported to its end: import the log again"
                faults.append(Fault(one.line, why))
                done.append((one, 0))
                break
            else:
                done.append((one, changed_count))
            before += len(one.messages)
    return done


def _session_id(one: Conversation, options: argparse.Namespace) -> str:
    """Its own id; else the one given or the file's name, and of which line it is where that is not the first."""
    if one.id:
        return one.id
    name: str = options.session or options.log.stem
    return name if one.line == 1 else f"{name}, line {one.line}"


async def export(options: argparse.Namespace) -> int:
    """Write it."""
    async with memory_at(options, embeds=False) as runtime:
        with waiting("reading"):
            kept = await runtime.export_user(options.user, tenant=options.tenant)
    message_count = sum(len(one.messages) for one in kept.sessions)
    counts = f"{len(kept.sessions)} sessions, {message_count} messages, {len(kept.items)} items"
    written(options.out, msgspec.json.encode(kept) + b"\n", counts)
    return 0


def written(out: str | None, data: bytes, counts: str) -> None:
    """Print the data, or put them into the file at once: what stood there stays until all of them are there.

    Raises:
        OSError: The file cannot be written; nothing of it is left.
    """
    if out is None:
        print(data.decode(), end="")
        return
    file, beside = Path(out), Path(f"{out}.part")
    if file.is_dir():
        raise UsageError(f"--out names a directory: {plain(out)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # it is somebody's memory
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    print(f"{plain(out)}: {counts}", file=sys.stderr)
