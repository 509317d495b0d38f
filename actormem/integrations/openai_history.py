"""What of a request's messages a session has not heard yet; pure.

Programs send a model either the whole conversation each time or, where somebody keeps it for them, what is new. Both
are read here by one rule:

    1. The newest message with which request and session agree is sought from the last assistant message of the
       request backwards; what stands behind it is the tail. Without an assistant message all of it is the tail.
    2. The tail loses, from its front, what the session has heard since: a question that was not answered, results.
    3. What is left is new. Where nothing is left the question is asked again, and a reply to it takes the place of
       the one there was; unless the user has asked something else since: then it is asked anew.

So a message is known by its words and its place, never by its words alone: a second "ok" is a second message. An
assistant message that the program has changed stands where the session has its own, which is kept.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, TypeAlias, cast

import msgspec

from actormem.integrations.openai_items import Item

__all__ = ["Key", "Log", "New", "key_of", "new_of", "split_system"]

Key: TypeAlias = tuple[str, ...]

KEYS_MAX: Final = 64  # of one session kept at hand; more are read where a request reaches further back


class Log:
    """What is known of a session's newest messages.

    Attributes:
        keys: Of the newest messages, oldest first.
        whole: Whether these are all of them.
        turn_id: Of the newest turn, where it was not answered to its end; else empty.
        answers: Items of the Responses API that the model answered in that turn, by the first call among them.
    """

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self.keys: deque[Key] = deque(keys)
        self.whole = True
        self.turn_id = ""
        self.answers: dict[str, list[Item]] = {}
        self._turn_length = 0

    def trim(self) -> None:
        """Let go of what is rarely needed."""
        self.whole = self.whole and len(self.keys) <= KEYS_MAX
        self.keys = deque(self.keys, maxlen=KEYS_MAX)

    def heard(self, key: Key) -> None:
        """One message more."""
        self.whole = self.whole and len(self.keys) != self.keys.maxlen
        self.keys.append(key)
        self._turn_length += 1

    def asked(self, turn_id: str, *, length: int = 0) -> None:
        """A turn has begun.

        Args:
            length: Messages of it that are among the keys already.
        """
        self.turn_id, self.answers, self._turn_length = turn_id, {}, length

    def answered(self) -> None:
        """The turn has come to its end."""
        self.turn_id, self.answers, self._turn_length = "", {}, 0

    def of_turn(self) -> list[Key]:
        """The messages of the newest turn, where it was not answered to its end."""
        return list(self.keys)[-self._turn_length :] if self.turn_id and self._turn_length else []


class New(msgspec.Struct, frozen=True):
    """What a request adds.

    Attributes:
        before: Messages before the question.
        question: The user's message that begins a turn; None: the newest turn goes on.
        after: What has happened since the question, such as results of calls.
        stale_count: Newest messages of the session that answer a question which is asked again.
    """

    before: tuple[Item, ...]
    question: Item | None
    after: tuple[Item, ...]
    stale_count: int = 0


def split_system(messages: Sequence[Item]) -> tuple[str | None, list[Item]]:
    """The system prompt with which messages begin, None where they begin without, and the rest of them."""
    count = 0
    while count < len(messages) and messages[count].get("role") in ("system", "developer"):
        count += 1
    words = [_words(one.get("content")) for one in messages[:count]]
    return "\n\n".join(words) if words else None, list(messages[count:])


def key_of(message: Mapping[str, Any]) -> Key:
    """What a message is known by: never its words, which are to be nowhere once they are forgotten."""
    role, calls = str(message.get("role")), message.get("tool_calls") or ()
    if role == "tool":
        return role, str(message.get("tool_call_id"))
    if calls:
        return role, *(str(call.get("id")) for call in calls)
    words = _words(message.get("content")).encode(errors="replace")
    return role, "", blake2b(words, digest_size=16).hexdigest()


def new_of(given: Sequence[Item], log: Log) -> New | None:
    """What of the messages is new; None where the log does not reach back far enough to say.

    Args:
        given: Without the system prompt.
    """
    keys = [key_of(one) for one in given]
    replies = [place for place, key in enumerate(keys) if key[0] == "assistant"]
    since, tail = log.of_turn(), 0
    if replies:
        known = {key: place for place, key in enumerate(log.keys)}
        met = next((place for place in range(replies[-1], -1, -1) if keys[place] in known), None)
        if met is None and not log.whole:
            return None
        since = [] if met is None else list(log.keys)[known[keys[met]] + 1 :]
        tail = 0 if met is None else met + 1
    new, heard_count = _unheard(keys[tail:], since)
    left = given[tail + new :]
    if not left:
        stale = since[heard_count:] if tail < len(given) else []
        if given[-1].get("role") == "user" and any(key[0] == "user" for key in stale):
            return New((), given[-1], ())
        return New((), None, (), stale_count=len(stale))
    question = max((place for place, one in enumerate(left) if one.get("role") == "user"), default=None)
    if question is None:
        return New((), None, tuple(left))
    return New(tuple(left[:question]), left[question], tuple(left[question + 1 :]))


def _unheard(tail: Sequence[Key], since: Sequence[Key]) -> tuple[int, int]:
    """How many of the tail were heard, and up to which message of those that came since."""
    at = 0
    for count, key in enumerate(tail):
        found = next((place for place in range(at, len(since)) if since[place] == key), None)
        if found is None and key[:2] == ("assistant", ""):
            found = next((place for place in range(at, len(since)) if since[place][0] == "assistant"), None)
        if found is None:
            return count, at
        at = found + 1
    return len(tail), at


def _words(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    if content is None:
        return ""
    parts = cast("Sequence[object]", content if isinstance(content, (list, tuple)) else (content,))
    texts = [cast("Item", part).get("text") if isinstance(part, Mapping) else part for part in parts]
    words = [text for text in texts if isinstance(text, str)]
    if len(words) == len(texts):
        return "\n".join(words).strip()
    return msgspec.json.encode(content, order="deterministic").decode()
