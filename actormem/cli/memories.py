"""`actormem memories`: what is remembered of one user, to be looked at, searched, edited and forgotten by hand."""

import argparse
import shutil
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from actormem import Hit, Item
from actormem.cli.place import add_embedder, add_place, memory_at, positive, waiting
from actormem.cli.show import LINE_COLUMNS, clip, moment, plain, table, width
from actormem.cli.transfer import written

__all__ = ["add_memories", "hits_table", "items_table", "shown"]

KINDS = ("fact", "preference", "event", "episode", "summary")
TEXT_COLUMNS_MIN = 20
ABOUT = """\
What is remembered of a user: list it, look at one item with its sources, search as a turn would,
give an item another text, erase items with the words they came from, or write all of them to a
file. A folder must not be open elsewhere; a memory that is being served is reached by its URL."""
EXAMPLES = """\
examples:
  actormem memories list memory/ --user ada
  actormem memories search memory/ 'order number' --user ada --limit 5
  actormem memories show memory/ m12 --user ada --json
  actormem memories edit memory/ m12 'Ada lives in Hangzhou.' --user ada
  actormem memories forget memory/ m12 m13 --user ada
  actormem memories export http://127.0.0.1:8377 --user ada --out memories.jsonl
"""


def add_memories(
    add_parser: Callable[..., argparse.ArgumentParser], parser: type[argparse.ArgumentParser]
) -> None:
    """Let the command line understand it."""
    look = add_parser(
        "memories", help="look at, search, edit and forget what is remembered", description=ABOUT
    )
    codes = look.epilog
    look.epilog = f"{EXAMPLES}\n{codes}"
    steps = look.add_subparsers(required=True, metavar="COMMAND", parser_class=parser)

    def add(
        name: str, about: str, run: Callable[..., Any], *, embeds: bool = False
    ) -> argparse.ArgumentParser:
        own = "".join(f"{line}\n" for line in EXAMPLES.splitlines() if f" {name} " in line)
        step = steps.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"examples:\n{own}\n{codes}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_place(step)
        if embeds:
            add_embedder(step)
        step.set_defaults(run=run)
        return step

    step = add("list", "list the items, oldest first", list_items)
    step.add_argument("--kind", action="append", choices=KINDS, help="only this kind; may be given again")
    step.add_argument("--history", action="store_true", help="superseded and archived items, too")
    _add_json(step)
    step = add("show", "show one item, with its sources", show_item)
    step.add_argument("item", metavar="ID", help="of the item")
    _add_json(step)
    step = add("search", "search the items as a turn would", search, embeds=True)
    step.add_argument("query", metavar="QUERY", help="the words to find them by")
    step.add_argument("--kind", action="append", choices=KINDS, help="only this kind; may be given again")
    step.add_argument("--limit", type=positive, default=10, metavar="N", help="hits at most (default: 10)")
    step.add_argument("--deep", action="store_true", help="archived items, too")
    _add_json(step)
    step = add("edit", "give an item another text", edit, embeds=True)
    step.add_argument("item", metavar="ID", help="of the item")
    step.add_argument("text", metavar="TEXT", help="that it is to have")
    step.add_argument(
        "--expires", type=_date, metavar="TIME", help="when its time runs out; ISO 8601 with a zone"
    )
    _add_json(step)
    step = add("forget", "erase items, and the words they came from", forget, embeds=True)
    step.add_argument("items", nargs="+", metavar="ID", help="of the items")
    step.add_argument("--keep-sources", action="store_true", help="leave the messages as they are")
    _add_json(step)
    step = add("export", "write all items as JSONL, superseded and archived ones too", export)
    step.add_argument("--out", metavar="FILE", help="write there (default: print)")


async def list_items(options: argparse.Namespace) -> int:
    """List them."""
    async with memory_at(options, embeds=False) as runtime:
        found = await runtime.items(
            options.user, tenant=options.tenant, kinds=options.kind, history=options.history
        )
    print(_json(found) if options.json else items_table(found, states=options.history))
    return 0


async def show_item(options: argparse.Namespace) -> int:
    """Show it."""
    async with memory_at(options, embeds=False) as runtime:
        item = await runtime.item(options.item, user=options.user, tenant=options.tenant)
    print(_json(item) if options.json else shown(item))
    return 0


async def search(options: argparse.Namespace) -> int:
    """Search."""
    async with memory_at(options) as runtime:
        found = await runtime.recall(
            options.query,
            user=options.user,
            tenant=options.tenant,
            limit=options.limit,
            kinds=options.kind,
            deep=options.deep,
        )
    if options.json:
        print(_json(found))
        return 0
    print(hits_table(found.hits))
    if found.degraded:
        print(f"\nnot everything was looked at: {', '.join(found.degraded)}")
    return 0


async def edit(options: argparse.Namespace) -> int:
    """Edit it."""
    async with memory_at(options) as runtime:
        given = {"expires": options.expires} if options.expires is not None else {}
        item = await runtime.edit(
            options.item, options.text, user=options.user, tenant=options.tenant, **given
        )
        with waiting("finding its vector"):
            await runtime.settle()
    print(_json(item) if options.json else shown(item))
    return 0


async def forget(options: argparse.Namespace) -> int:
    """Erase them; all of them are sought before the first is erased."""
    whose: dict[str, Any] = {"user": options.user, "tenant": options.tenant}
    async with memory_at(options) as runtime:
        for id in options.items:
            await runtime.item(id, **whose)
        sources = "keep" if options.keep_sources else "redact"
        with waiting("erasing"):
            receipts = {
                id: await runtime.forget(id, **whose, sources=sources) for id in dict.fromkeys(options.items)
            }
    if options.json:
        print(_json(receipts))
        return 0
    head = ("id", "items erased", "texts rewritten", "found in files since")
    rows = [
        (plain(id), str(one.item_count), str(one.text_count), str(one.found_count))
        for id, one in receipts.items()
    ]
    print(table([head, *rows]))
    for place in next(iter(receipts.values())).elsewhere:
        print(f"not looked at: {place}")
    return 0


async def export(options: argparse.Namespace) -> int:
    """Write them."""
    async with memory_at(options, embeds=False) as runtime:
        items = await runtime.items(options.user, tenant=options.tenant, history=True)
    lines = b"".join(msgspec.json.encode(item) + b"\n" for item in items)
    written(options.out, lines, f"{len(items)} items")
    return 0


def items_table(items: Sequence[Item], *, states: bool = False) -> str:
    """The items in lines that fit the terminal."""
    if not items:
        return "nothing is remembered"
    rows = [
        (one.id, one.kind, moment(one.event_ms, one.offset_minutes), *([one.state] if states else []))
        for one in items
    ]
    head = ("id", "kind", "since", *(["state"] if states else []))
    return _with_text([head, *rows], [one.text for one in items])


def hits_table(hits: Sequence[Hit]) -> str:
    """The hits with their scores, in lines that fit the terminal."""
    if not hits:
        return "nothing was found"
    rows = [
        (one.item.id, one.item.kind, moment(one.item.event_ms, one.item.offset_minutes), f"{one.score:.2f}")
        for one in hits
    ]
    return _with_text([("id", "kind", "since", "score"), *rows], [one.item.text for one in hits])


def shown(item: Item) -> str:
    """All of an item that a person may want to know."""
    value = f"{item.attribute}: {item.value}" if item.attribute else item.value
    fields = [
        ("id", f"{item.id}, version {item.version}, {item.state}"),
        ("kind", item.kind),
        ("text", item.text),
        ("value", value),
        (
            "said",
            moment(item.event_ms, item.offset_minutes) + (f" by {item.speaker}" if item.speaker else ""),
        ),
        ("first said", moment(item.first_ms, item.offset_minutes) if item.first_ms else ""),
        ("expires", moment(item.expires_ms, item.offset_minutes) if item.expires_ms else ""),
        ("sources", ", ".join(f"{session}/{id}" for session, id in item.sources)),
        ("takes the place of", item.supersedes),
        ("its place took", item.superseded_by),
        ("scope", item.scope),
        ("shown", f"{item.shown_count} times" if item.shown_count else ""),
        ("weight", f"importance {item.importance:.2f}, confidence {item.confidence:.2f}"),
    ]
    return table([(name, plain(words)) for name, words in fields if words])


def _with_text(rows: Sequence[Sequence[str]], texts: Sequence[str]) -> str:
    """The rows with the text as their last column, in what room the others leave."""
    taken = sum(max(width(row[column]) + 2 for row in rows) for column in range(len(rows[0])))
    columns = shutil.get_terminal_size((LINE_COLUMNS, 24)).columns
    room = max(TEXT_COLUMNS_MIN, columns - taken)
    cells = ["text", *(clip(plain(text), room) for text in texts)]
    return table([(*row, cell) for row, cell in zip(rows, cells, strict=True)])


def _json(found: object) -> str:
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


def _add_json(step: argparse.ArgumentParser) -> None:
    step.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _date(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.utcoffset() is None:
        raise argparse.ArgumentTypeError(f"must be like 2027-01-31T12:00+08:00, not {text!r}")
    return time
