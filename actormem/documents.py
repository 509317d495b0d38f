"""Documents as callers hand them in: texts, files and mappings, read and cut into passages in a thread.

The law of the file: a document that cannot be taken in is said before anything is stored.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias, cast

import anyio
import anyio.to_thread
import msgspec

from actormem.core.ids import checked_id
from actormem.core.knowledge.markdown import blocks_of
from actormem.core.knowledge.split import Passage, split
from actormem.core.text import clean
from actormem.errors import UsageError, given_as
from actormem.front import milliseconds, offset_minutes

__all__ = ["Document", "DocumentGiven", "file_fields", "read_documents"]

DOCUMENT_BYTES_MAX = 16 * 1024 * 1024  # one document: a shelf of books is several
DOCUMENTS_MAX = 10_000  # of one call: all of them are in memory at once
FIELDS = ("id", "title", "text", "time", "format")
MARKDOWN, PLAIN = (".md", ".markdown"), ".txt"

DocumentGiven: TypeAlias = str | os.PathLike[str] | Mapping[str, object]
"""A text, the path of a `.md` or `.txt` file, or a mapping of `text` and perhaps `id`, `title`, `time` and `format`."""


Filtered: TypeAlias = Callable[[str], str | None]


def keep(text: str) -> str:
    """The text as it is."""
    return text


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One document in passages; `time_ms` is 0 where nobody knows when it was written."""

    id: str
    passages: tuple[Passage, ...]
    time_ms: int = 0
    offset_minutes: int = 0


async def read_documents(
    given: object, limiter: anyio.CapacityLimiter, filtered: Filtered = keep
) -> tuple[Document, ...]:
    """The documents, in order, each with an id of its own.

    Args:
        filtered: Gives a text as it may be kept, None where it may not.

    Raises:
        UsageError: One is no document, cannot be read, has no words, is refused, or has another's id; says which.

    Cost:
        About 0.5 s a million characters, in a thread.
    """
    if isinstance(given, (str, os.PathLike, Mapping)) or not isinstance(given, Iterable):
        raise UsageError("documents must be a list of texts, paths or mappings")
    documents = list(cast("Iterable[object]", given))
    if not documents or len(documents) > DOCUMENTS_MAX:
        raise UsageError(
            f"between 1 and {DOCUMENTS_MAX} documents are imported at once, not {len(documents)}"
        )
    return await anyio.to_thread.run_sync(_read_all, documents, filtered, limiter=limiter)


def _read_all(given: Sequence[object], filtered: Filtered) -> tuple[Document, ...]:
    found: dict[str, Document] = {}
    for place, one in enumerate(given, 1):
        document = _read(one, f"document {place}", filtered)
        if document.id in found:
            raise UsageError(f"document {place} has the id of one before it")
        found[document.id] = document
    return tuple(found.values())


def _read(given: object, name: str, filtered: Filtered) -> Document:
    if isinstance(given, str):
        return _document(given, name, filtered)
    if isinstance(given, os.PathLike):
        return _of_file(Path(cast("os.PathLike[str]", given)), filtered)
    if not isinstance(given, Mapping):
        raise UsageError(f"{name} must be a text, a path or a mapping, not {type(given).__name__}")
    fields = cast("Mapping[object, object]", given)
    unknown = next((place for place, key in enumerate(fields, 1) if key not in FIELDS), None)
    if unknown is not None:
        raise UsageError(f"field {unknown} of {name} is unknown", hint=f"known are {', '.join(FIELDS)}")
    title, text, id = fields.get("title") or "", fields.get("text"), fields.get("id")
    if not isinstance(text, str) or not isinstance(title, str):
        raise UsageError(f"the text and the title of {name} must be text")
    time = _time(fields.get("time"), name)
    checked = id if id is None else checked_id(id, f"the id of {name}")
    form = fields.get("format", "markdown")
    if form not in ("markdown", "plain"):
        raise UsageError(f"the format of {name} must be 'markdown' or 'plain', not {given_as(form)}")
    return _document(text, name, filtered, title=title, id=checked, time=time, markdown=form == "markdown")


def _of_file(path: Path, filtered: Filtered) -> Document:
    fields = file_fields(path)
    return _document(
        fields["text"],
        str(path),
        filtered,
        title=fields["title"],
        id=fields["id"],
        markdown=fields["format"] == "markdown",
    )


def file_fields(path: Path) -> dict[str, str]:
    """The mapping that says the same as this file: its text, title, format, and its path as the id.

    Raises:
        UsageError: It is no such file, cannot be read, or is too large.
    """
    kind = path.suffix.lower()
    if kind not in (*MARKDOWN, PLAIN):
        raise UsageError(f"{path} must be a file that ends in .md, .markdown or .txt")
    try:
        size = path.stat().st_size
        body = path.read_bytes() if size <= DOCUMENT_BYTES_MAX else b""
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {type(error).__name__}") from None
    if size > DOCUMENT_BYTES_MAX:
        raise UsageError(f"{path} has {size} bytes, at most {DOCUMENT_BYTES_MAX} are allowed")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8, from byte {error.start} on") from None
    titled = kind != PLAIN and _has_title(text)
    name = checked_id(path.as_posix(), "the path of a document")
    form = "plain" if kind == PLAIN else "markdown"
    return {"id": name, "title": "" if titled else path.stem, "text": text, "format": form}


def _has_title(text: str) -> bool:
    first = next(iter(blocks_of(text[:4_096])), None)
    return first is not None and first.level == 1


def _document(
    text: str,
    name: str,
    filtered: Filtered,
    *,
    title: str = "",
    id: str | None = None,
    time: datetime | None = None,
    markdown: bool = True,
) -> Document:
    if len(text) > DOCUMENT_BYTES_MAX:
        raise UsageError(f"{name} has {len(text)} characters, at most {DOCUMENT_BYTES_MAX} are allowed")
    words, title = clean(text), clean(title).strip()
    kept, named = filtered(words), filtered(title)  # before it is cut: a key may be longer than a passage
    if kept is None or named is None:
        raise UsageError(f"a filter refused {name}", hint="see filters of open")
    passages = split(kept, title=named, markdown=markdown)
    if not passages:
        raise UsageError(f"{name} has no words")
    drawn = named or f"text:{blake2b(words.encode(), digest_size=16).hexdigest()}"
    return Document(
        id=id or checked_id(drawn, f"the title of {name}"),
        passages=passages,
        time_ms=0 if time is None else milliseconds(f"the time of {name}", time),
        offset_minutes=offset_minutes(time),
    )


def _time(given: object, name: str) -> datetime | None:
    if isinstance(given, str):
        try:
            return datetime.fromisoformat(given)
        except ValueError:
            raise UsageError(
                f"the time of {name} must be ISO 8601, such as 2026-01-31T09:30:00+08:00"
            ) from None
    if given is not None and not isinstance(given, datetime):
        raise UsageError(f"the time of {name} must be a datetime or ISO 8601 text")
    return given
