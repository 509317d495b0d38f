"""What filters let into long-term memory, and into what a background LLM is sent.

The law of the file: filters see a text before it is kept or sent; one that raises, or gives what is no text, has
refused it; nothing of the text is told in a log.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import iscoroutinefunction
from typing import Literal, Protocol, TypeAlias, cast

import msgspec

from actormem.core.filters import redacted
from actormem.core.values import Fact, Item, ItemKind, JsonValue, Message, Owner, Source
from actormem.core.wire import content_text, from_wire, with_content
from actormem.errors import UsageError
from actormem.limits import ITEM_TEXT_CHARS_MAX

__all__ = ["BUILT_IN", "About", "Filter", "Filters", "checked_filters"]

logger = logging.getLogger(__name__)
READ_CHARS = ITEM_TEXT_CHARS_MAX + 512  # of a message: no more of it is kept, nor searched for facts


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a text is that a filter is shown.

    Attributes:
        tenant, user: Whose it is; a knowledge base has no user.
        kind: What it would be kept as; `prompt`: it would be sent to the LLM of background work.
        source: Whose words they are.
        session_id: The session it comes from; empty where it comes from none.
    """

    tenant: str
    user: str = ""
    kind: ItemKind | Literal["prompt"]
    source: Source = "user"
    session_id: str = ""


Filter: TypeAlias = Callable[[str, About], str | None]
"""Gives the text as it may be kept, or None: it is not to be kept at all."""


def without_secrets(text: str, _: About) -> str:
    """The filter there is where nobody gave one."""
    return redacted(text)


BUILT_IN: tuple[Filter, ...] = (without_secrets,)


def checked_filters(given: object) -> tuple[Filter, ...]:
    """The filters that a caller gave; None for the built-in one, which is called `secrets` among others.

    Raises:
        UsageError: One of them is neither `secrets` nor a plain function.
    """
    if given is None:
        return BUILT_IN
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise UsageError(f"filters must be a sequence of functions, not {type(given).__name__}")
    found: list[Filter] = []
    for one in cast("Sequence[object]", given):
        if one == "secrets":
            found += BUILT_IN
        elif callable(one) and not iscoroutinefunction(one):
            found.append(cast("Filter", one))
        else:
            hint = "give functions (text, about) -> text or None; they are not awaited"
            raise UsageError(
                f"a filter must be 'secrets' or a plain function, not {type(one).__name__}", hint=hint
            )
    return tuple(found)


class Counts(Protocol):
    """Where it is counted what filters did."""

    redactions: int
    refusals: int


class Filters:
    """The filters of one runtime, one after the other; each sees what those before it left."""

    def __init__(self, filters: Sequence[Filter], counts: Counts) -> None:
        self._filters = tuple(filters)
        self._counts = counts

    def words(self, text: str, about: About) -> str | None:
        """The text as it may be kept or sent, None where it may not; the same object where nothing had to change."""
        left = text
        for one in self._filters:
            found = _asked(one, left, about) if left else left
            if found is None:
                self._counts.refusals += 1
                return None
            left = found
        if left == text:
            return text
        self._counts.redactions += 1
        return left

    def checked(self, text: str, about: About) -> str:
        """The text as it may be kept, for a caller who waits to hear of it.

        Raises:
            UsageError: A filter refused it.
        """
        found = self.words(text, about)
        if found is None or not found.strip():
            raise UsageError("a filter refused the text", hint="nothing was kept; see filters of open")
        return found

    def message(self, message: Message, owner: Owner, session_id: str, source: Source) -> Message | None:
        """A message as it may be remembered, None where it may not."""
        words = message.text[:READ_CHARS]
        found = self.words(words, _about(owner, "episode", source, session_id))
        if found is None or found == words:
            return None if found is None else message
        return msgspec.structs.replace(message, content=found, wire="")

    def fact(self, fact: Fact, owner: Owner, session_id: str, source: Source) -> Fact | None:
        """A fact as it may be remembered, None where it may not; what it quotes is filtered with it."""
        about = _about(owner, fact.kind, source, session_id)
        text = self.words(fact.text, about)
        if text is None or text == fact.text:
            return None if text is None else fact
        quote = self.words(fact.quote, about) or ""
        return msgspec.structs.replace(fact, text=text, value=_value_left(fact, text), quote=quote)

    def stated(self, fact: Fact, owner: Owner) -> Fact:
        """A fact that a caller has remembered.

        Raises:
            UsageError: A filter refused it.
        """
        about = _about(owner, fact.kind, "user", "")
        text = self.checked(fact.text, about)
        value = _value_left(fact, text)
        return msgspec.structs.replace(
            fact, text=text, value=self.checked(value, about) if value != text else value
        )

    def edited(self, item: Item, text: str) -> str:
        """The new text of an item.

        Raises:
            UsageError: A filter refused it.
        """
        return self.checked(text, _about(item.owner, item.kind, item.source, item.session_id))

    def sent(self, messages: Sequence[Message], owner: Owner, session_id: str) -> tuple[Message, ...]:
        """Messages as they may be sent to an LLM, without those that may not; arguments of calls too."""
        found: list[Message] = []
        for message in messages:
            source: Source = message.role if message.role in ("assistant", "tool") else "user"
            look = partial(self.words, about=_about(owner, "prompt", source, session_id))
            one = _message_sent(message, look)
            if one is not None:
                found.append(one)
        return tuple(found)

    def earlier(self, summary: str, owner: Owner, session_id: str, kind: Literal["summary", "prompt"]) -> str:
        """A summary as it may be remembered or sent; empty where it may not."""
        return self.words(summary, _about(owner, kind, "summary", session_id)) or ""

    def query(self, query: str, owner: Owner, session_id: str) -> str:
        """A query as it may be sent to an LLM; empty where it may not."""
        return self.words(query, _about(owner, "prompt", "user", session_id)) or ""

    def document(self, text: str, tenant: str) -> str | None:
        """The text of a document as it may be put into a knowledge base, None where it may not."""
        return self.words(text, About(tenant=tenant, kind="knowledge", source="knowledge"))


def _about(owner: Owner, kind: ItemKind | Literal["prompt"], source: Source, session_id: str) -> About:
    return About(tenant=owner.tenant, user=owner.user, kind=kind, source=source, session_id=session_id)


def _value_left(fact: Fact, text: str) -> str:
    """The value beside a text that was changed: the text itself where it is not in there any more."""
    return fact.value if fact.value not in fact.text or fact.value in text else text


def _asked(chosen: Filter, text: str, about: About) -> str | None:
    try:
        found: object = chosen(text, about)
    except Exception as error:
        logger.warning("a filter raised %s: the text counts as refused", type(error).__name__)
        return None
    if found is None or isinstance(found, str):
        return found
    logger.warning("a filter gave a %s: the text counts as refused", type(found).__name__)
    return None


def _message_sent(message: Message, look: Callable[[str], str | None]) -> Message | None:
    content = message.content
    if content_text(content):
        left = _content_sent(content, look)
        if left is None:
            return None
        if left != content:
            message = with_content(message, left)
    arguments = [look(call.arguments) for call in message.tool_calls]
    if arguments == [call.arguments for call in message.tool_calls]:
        return message
    fields: dict[str, JsonValue] = msgspec.json.decode(message.wire)
    fields["tool_calls"] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": left or ""}}
        for call, left in zip(message.tool_calls, arguments, strict=True)
    ]
    return from_wire(
        msgspec.json.encode(fields).decode(),
        id=message.id,
        time_ms=message.time_ms,
        offset_minutes=message.offset_minutes,
    )


def _content_sent(content: JsonValue, look: Callable[[str], str | None]) -> JsonValue:
    """The content with its words as they may be sent; None where one of its parts may not."""
    if isinstance(content, str):
        return look(content)
    assert isinstance(content, Sequence)
    parts: list[JsonValue] = []
    for part in content:
        fields: Mapping[str, JsonValue] = part if isinstance(part, Mapping) else {}
        words = part if isinstance(part, str) else fields.get("text")
        if not isinstance(words, str):
            parts.append(part)
            continue
        left = look(words)
        if left is None:
            return None
        parts.append(left if isinstance(part, str) else {**fields, "text": left})
    return parts
