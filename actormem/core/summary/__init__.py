"""Summaries of messages: by a model and checked, or by rules alone; of one shape, merged with the one before.

The law of the file: a summary takes at most the tokens given, states no value that its sources lack, and
names beside it the values of the sources that it does not show.
"""

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Final

import msgspec

from actormem.core.entities import find_entities
from actormem.core.summary.check import checked_summary
from actormem.core.summary.known_values import FindEntities, KnownValues
from actormem.core.summary.merging import merged
from actormem.core.summary.outline import Line, Summary, fitted, parsed
from actormem.core.summary.parts import WINDOW_TOKENS_MIN, Request, SpanRequests
from actormem.core.summary.request import summary_messages
from actormem.core.summary.salience import section_of
from actormem.core.summary.spoken import conversation_language, lines_said, weighed
from actormem.core.summary.topics import split_span
from actormem.core.values import Message

__all__ = [
    "WINDOW_TOKENS_MIN",
    "Request",
    "SpanRequests",
    "Summary",
    "checked_summary",
    "extractive_summary",
    "split_span",
    "summary_messages",
]

LINE_TOKENS_MIN: Final = 6  # a mark, a speaker and a few words
SUMMARY_TOKENS_MIN: Final = 16  # below it not even a title and a few words fit


def extractive_summary(
    messages: Sequence[Message],
    *,
    previous: str = "",
    tokens: int,
    count: Callable[[str], int],
    find: FindEntities = find_entities,
) -> Summary:
    """A summary without a model: the sentences worth most, quoted, in four sections.

    They are needs, decisions, numbers and names, open questions, titled in the conversation's language.

    Each line names its speaker; within a section the weightiest comes first. Greetings, thanks and filler are
    left out; a tool call is `name(arguments) → outcome`; a short answer stands behind its question. Lines of
    `previous` stay while there is room; a newer line with another value for the same key replaces the older.

    Args:
        messages: Oldest first; of each large one the first 4 KB and the last 1 KB are read.
        previous: An earlier summary, by a model or by this function, or an empty string.
        tokens: Most tokens of the text, as `count` counts. Below 16 the text is empty.
        find: Finds the entities of a text; the caller's own patterns may be in it.

    Returns:
        The same for the same input, always. Values of the messages and of `previous` that the text lacks are
        in `attached`.

    Cost:
        O(characters of the messages) time.
    """
    find = cache(find)  # the same sentence is looked at several times
    tongue = conversation_language(messages, previous)
    names = {message.name for message in messages if message.name}
    old = [rated(named(line, names), find) for line in parsed(previous)]
    lines, replaced = merged(
        old, lines_said(messages, find=find), lines_max=tokens // LINE_TOKENS_MIN, find=find
    )
    text = fitted(lines, tongue, tokens=tokens, count=count) if tokens >= SUMMARY_TOKENS_MIN else ""
    known = KnownValues([*messages, previous], find=find)
    return Summary(text=text, method="extractive", attached=known.missing_from(text, replaced))


def named(line: Line, names: Collection[str]) -> Line:
    """The line with the name in front of it taken for its speaker, where someone of that name speaks."""
    name, mark, words = line.text.replace("：", ": ", 1).partition(": ")
    if line.speaker or not mark or name not in names:
        return line
    return msgspec.structs.replace(line, speaker=name, text=words.strip())


def rated(line: Line, find: FindEntities) -> Line:
    """A line of the earlier summary with its weight; one that stood under no title gets a section."""
    role = line.speaker or "user"
    section = line.section or section_of(line.text, role, len(find(line.text)))
    return weighed(msgspec.structs.replace(line, section=section), role, find=find)
