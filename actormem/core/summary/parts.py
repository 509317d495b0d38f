"""The requests for a summary of a span, of which each fits the model's window.

The law of the file: a request and the reply it asks for take at most `window_tokens`, as `count` counts; the parts
follow each other without gap or overlap, cut by topic where they can be; and the summary so far goes in with each
part.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

import msgspec

from actormem.core.entities import find_entities
from actormem.core.summary.known_values import FindEntities
from actormem.core.summary.outline import fitted, parsed
from actormem.core.summary.request import TEXT_CHARS, message_row, says_something, summary_messages
from actormem.core.summary.spoken import conversation_language
from actormem.core.summary.topics import groups_of, split_span
from actormem.core.values import Message
from actormem.limits import MESSAGE_OVERHEAD_TOKENS, PRIMING_TOKENS

__all__ = ["WINDOW_TOKENS_MIN", "Request", "SpanRequests"]

WINDOW_TOKENS_MIN: Final = 400  # short instructions, a summary to merge with, one message and a reply
BRIEF_TOKENS: Final = 2_000  # a smaller window is better filled with the conversation than with instructions
SUMMARY_PART: Final = 8  # of the window: a summary takes at most an eighth, and its reply twice that
PREVIOUS_PART: Final = 4  # and what it is merged with a quarter
REPLY_FACTOR: Final = 2  # models overrun what they are told; more than this is no summary
TEXT_CHARS_MIN: Final = 40  # of a message: who speaks, and of what
FRAME_TOKENS: Final = PRIMING_TOKENS + 2 * MESSAGE_OVERHEAD_TOKENS


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One call to a model.

    Attributes:
        prompt: What it is sent.
        prompt_tokens: What that takes.
        reply_tokens: What the reply may take.
        tokens: What the summary in it may take.
        messages: The messages it is about.
        previous: The summary it is merged with, as it is sent.
    """

    prompt: list[dict[str, str]]
    prompt_tokens: int
    reply_tokens: int
    tokens: int
    messages: tuple[Message, ...]
    previous: str


class SpanRequests:
    """The requests for one span, one after the other; for one thread at a time.

    Args:
        messages: Oldest first. Those that say nothing are left out.
        tokens: Most tokens of the summary; a small window allows fewer.
        window_tokens: What the model's context holds, at least `WINDOW_TOKENS_MIN`.
        count: Tokens of a text.
        find: Finds the entities of a text.

    Cost:
        Counts each message once, and each request once or a few times.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        tokens: int,
        window_tokens: int,
        count: Callable[[str], int],
        find: FindEntities = find_entities,
    ) -> None:
        assert window_tokens >= WINDOW_TOKENS_MIN
        self._messages = tuple(message for message in messages if says_something(message))
        self._sizes = [count(message_row(message)) + 1 for message in self._messages]
        self._count = count
        self._find = find
        self._window_tokens = window_tokens
        self._tokens = max(1, min(tokens, window_tokens // SUMMARY_PART))
        self._brief = window_tokens < BRIEF_TOKENS
        self._place = 0

    def next(self, previous: str) -> Request | None:
        """The request for the next part, merged with the summary so far; None where nothing is left to read."""
        rest = self._messages[self._place :]
        if not rest:
            return None
        previous = self._shortened(previous)
        room = self._window_tokens - REPLY_FACTOR * self._tokens
        limit = room - self._tokens_of(self._prompt((), previous, TEXT_CHARS))
        part, request = self._fitting(rest, previous, room, max(1, limit))
        self._place += len(part)
        return request

    def _fitting(
        self, rest: tuple[Message, ...], previous: str, room: int, limit: int
    ) -> tuple[tuple[Message, ...], Request]:
        """As many of the messages as the room holds, whole groups where it can; at least one, cut if need be."""
        part = rest[: self._part_count(rest, limit)]
        chars = TEXT_CHARS
        while True:
            prompt = self._prompt(part, previous, chars)
            size = self._tokens_of(prompt)
            units = groups_of(part)
            if size <= room or (len(part) == 1 and chars <= TEXT_CHARS_MIN):
                break
            if len(units) > 1:
                limit = max(1, min(limit - 1, limit * room // size))
                part = part[: min(self._part_count(part, limit), units[-1].start)]
            elif chars > TEXT_CHARS_MIN:
                chars = max(TEXT_CHARS_MIN, chars // 2)
            else:
                part = part[: len(part) // 2]
        return part, Request(
            prompt=prompt,
            prompt_tokens=size,
            reply_tokens=REPLY_FACTOR * self._tokens,
            tokens=self._tokens,
            messages=part,
            previous=previous,
        )

    def _part_count(self, messages: Sequence[Message], limit: int) -> int:
        """How many of the messages the first part has: about `limit` tokens, up to where a topic ends."""
        sizes = self._sizes[self._place : self._place + len(messages)]
        seen = sum(total <= 2 * limit for total in accumulate(sizes)) + 1
        return split_span(messages[:seen], sizes[:seen], window_tokens=limit)[0].stop

    def _shortened(self, previous: str) -> str:
        """The weightiest lines of an earlier summary that is too large for the window."""
        most = self._window_tokens // PREVIOUS_PART
        if self._count(previous) <= most:
            return previous
        tongue = conversation_language((), previous)
        return fitted(parsed(previous), tongue, tokens=most, count=self._count)

    def _prompt(self, messages: Sequence[Message], previous: str, chars: int) -> list[dict[str, str]]:
        return summary_messages(
            messages,
            previous=previous,
            tokens=self._tokens,
            find=self._find,
            brief=self._brief,
            text_chars=chars,
        )

    def _tokens_of(self, prompt: Sequence[dict[str, str]]) -> int:
        return FRAME_TOKENS + sum(self._count(message["content"]) for message in prompt)
