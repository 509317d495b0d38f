"""What people, models and attackers say, as Hypothesis draws it: `@given(strategies.conversations())`.

Law of this file: what `messages`, `conversations`, `budgets`, `ids` and `owners` give is valid, however wild, and the
runtime takes all of it; what `faulty_replies` and `wrong_ids` give is not, and the runtime must live with it.
Needs Hypothesis: `pip install 'actormem[testing]'`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "actormem.testing.strategies needs Hypothesis: pip install 'actormem[testing]'", name="hypothesis"
    ) from error

from actormem.core.budget import Budget
from actormem.core.values import Owner
from actormem.errors import ProviderError
from actormem.limits import BUDGET_TOKENS_MIN
from actormem.testing.corpus import (
    CONTROL_WORDS,
    FAULTY_REPLIES,
    GIANT,
    GRAPHEMES,
    HIDDEN,
    IDS,
    ODD_TEXTS,
    OWNERS,
    SAID,
    WRONG_IDS,
)

__all__ = [
    "IMAGE",
    "budgets",
    "contents",
    "conversations",
    "fact_replies",
    "fact_rows",
    "faulty_replies",
    "ids",
    "json_values",
    "messages",
    "owners",
    "texts",
    "tool_calls",
    "wrong_ids",
]

Wire: TypeAlias = dict[str, Any]
IMAGE: Final[Wire] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
"""A picture as a part of a message."""
PIECES: Final = (
    *SAID,
    *ODD_TEXTS,
    *CONTROL_WORDS,
    *GRAPHEMES,
    *HIDDEN,
    " " * 140,
    "，" * 9,
    "AbC don't 3.14159",
)
CALL_IDS: Final = ("c1", "c2", "c3", "call_8fJ2kQ", "调用-1")
ARGUMENTS: Final = (
    *("", "{}", '{"q": "KX-48210-77"}', '{"地址": "杭州市文三路 12 号"}', '{ "q" :\t"退款" }'),
    '{"body": "' + "x y " * 200 + '"}',
)
STATUSES: Final = (0, 400, 401, 408, 429, 500, 503)
ID_CHARACTERS: Final = st.characters(exclude_categories=("Cc", "Cs"))


def texts(*, long: bool = True) -> st.SearchStrategy[str]:
    """Texts as they come: Chinese, English, both at once, hidden characters, control words, halves of pairs.

    Args:
        long: Whether some have thousands of characters.
    """
    short = st.one_of(
        st.sampled_from(SAID),
        st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
        st.text(st.characters(exclude_categories=()), max_size=40),
        st.tuples(st.sampled_from(SAID), st.sampled_from(HIDDEN)).map(strewn),
    )
    return short | st.just(GIANT) if long else short


def strewn(pair: tuple[str, str]) -> str:
    """A text with a hidden character after each one that is seen."""
    text, hidden = pair
    return hidden.join(text[:200])


def contents(*, long: bool = True) -> st.SearchStrategy[str | list[Wire]]:
    """Contents of a message: a text, text parts, a picture between them, or no part at all."""
    parts = texts(long=False).map(text_part) | st.just(IMAGE)
    return texts(long=long) | st.lists(parts, max_size=3)


def text_part(text: str) -> Wire:
    return {"type": "text", "text": text}


def tool_calls(*, max_size: int = 3) -> st.SearchStrategy[list[Wire]]:
    """Calls of one assistant message, each with an id of its own; arguments need not be JSON."""
    call = st.tuples(
        st.sampled_from(CALL_IDS), st.sampled_from(("find", "track_parcel")), st.sampled_from(ARGUMENTS)
    )
    return st.lists(call.map(wire_call), min_size=1, max_size=max_size, unique_by=id_of)


def wire_call(call: tuple[str, str, str]) -> Wire:
    id, name, arguments = call
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def id_of(call: Mapping[str, Any]) -> str:
    return str(call["id"])


def messages(*, long: bool = True) -> st.SearchStrategy[Wire]:
    """Wire messages, each valid in itself: of a user, a system, an assistant with calls or without, or a tool."""
    said = contents(long=long)
    names: dict[Any, st.SearchStrategy[Any]] = {"name": st.sampled_from(("ada", "support"))}
    user = st.fixed_dictionaries({"role": st.just("user"), "content": said}, optional=names)
    system = st.fixed_dictionaries(
        {"role": st.sampled_from(("system", "developer")), "content": texts(long=long)}
    )
    answer = st.fixed_dictionaries({"role": st.just("assistant"), "content": texts(long=long)})
    result = st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": st.sampled_from(CALL_IDS), "content": texts(long=long)}
    )
    return st.one_of(user, answer, calling(), result, system)


def calling() -> st.SearchStrategy[Wire]:
    """An assistant's message that calls tools, with words or without."""
    return st.fixed_dictionaries(
        {
            "role": st.just("assistant"),
            "content": st.none() | texts(long=False),
            "tool_calls": tool_calls(),
        }
    )


@st.composite
def conversations(draw: st.DrawFn, *, turns_max: int = 6, long: bool = True) -> list[Wire]:
    """Whole conversations: each user message is answered, each tool call has its result right behind it.

    Results come in any order, and later calls use the ids of earlier ones again, as some models do.
    """
    said: list[Wire] = []
    if draw(st.booleans()):
        said.append({"role": "system", "content": draw(texts(long=False))})
    for _ in range(draw(st.integers(1, turns_max))):
        said.append({"role": "user", "content": draw(contents(long=long))})
        for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
            call = draw(calling())
            said.append(call)
            for id in draw(st.permutations([id_of(one) for one in call["tool_calls"]])):
                said.append({"role": "tool", "tool_call_id": id, "content": draw(texts(long=long))})
        said.append({"role": "assistant", "content": draw(texts(long=long))})
    return said


def budgets(*, context_max: int = 4_000) -> st.SearchStrategy[Budget]:
    """Budgets from the smallest there is; small ones often, since that is where sections fight for room."""
    small = [one for one in (130, 700) if one < context_max]
    contexts = st.one_of([st.integers(BUDGET_TOKENS_MIN, most) for most in (*small, context_max)])
    return st.builds(Budget, context=contexts, keep_recent=st.integers(0, 8))


def ids() -> st.SearchStrategy[str]:
    """Ids that are taken: like paths, patterns, commands or each other, hidden characters, 256 of one."""
    return st.sampled_from(IDS) | st.text(ID_CHARACTERS, min_size=1, max_size=256)


def wrong_ids() -> st.SearchStrategy[str]:
    """Ids that are refused with a UsageError: empty, too long, with control characters or halves of pairs."""
    inside = st.tuples(st.text(ID_CHARACTERS, max_size=9), st.characters(categories=("Cc", "Cs")))
    return st.sampled_from(WRONG_IDS) | inside.map("".join)


def owners() -> st.SearchStrategy[Owner]:
    """Owners; many of them look like another."""
    return st.sampled_from(OWNERS) | st.builds(Owner, tenant=st.just("") | ids(), user=ids())


def json_values(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """JSON values, NaN and infinities included, whose texts are these."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(leaves, inner, max_size=3),
        max_leaves=6,
    )


@st.composite
def fact_rows(draw: st.DrawFn, pieces: st.SearchStrategy[str]) -> Wire:
    """A fact as a careless model writes it: most fields right, one of them anything. Its words are `pieces`."""
    row: Wire = {
        "message": draw(st.sampled_from([1, 1, 1, 2, 0])), "quote": draw(pieces), "value": draw(pieces),
        "attribute": draw(st.sampled_from(["place", "address", "likes"])), "text": draw(pieces),
        "subject": draw(st.sampled_from(["user", "friend 小雨", "wife", "Olaf"])),
        "valid_until": draw(st.sampled_from([None, "2031", "2031-06-30", "never"])),
    }  # fmt: skip
    for name in draw(st.lists(st.sampled_from(sorted(row)), max_size=1)):
        row[name] = draw(json_values(pieces))
    return row


def fact_replies(said: Sequence[str] = SAID) -> st.SearchStrategy[str]:
    """Replies to a call for facts that are JSON of about the right shape.

    Args:
        said: What the facts quote; messages of your own make some of them right.
    """
    pieces = st.sampled_from([one for one in said if one]) | texts(long=False)
    rows = st.lists(fact_rows(pieces) | json_values(pieces), max_size=3)
    return rows.map(lambda facts: json.dumps({"facts": facts}))


def faulty_replies() -> st.SearchStrategy[str | Exception]:
    """What a bad model answers, for `ScriptedLLM`: nothing, HTML, half of a JSON, NaN, a refusal, orders, an error."""
    errors = st.sampled_from(STATUSES).map(provider_error)
    return st.sampled_from(FAULTY_REPLIES) | fact_replies() | texts() | errors


def provider_error(status: int) -> Exception:
    return ProviderError("fails as it was told to", provider="scripted", status=status)
