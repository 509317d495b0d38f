"""Calls of the LLM, for whatever they are made: tried again, rested, within a day's tokens, counted."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import anyio
import pytest

from actormem.actors.daily_tokens import DailyTokens
from actormem.actors.llm_calls import LLMCalls, LLMRequest, Replied
from actormem.core.values import JsonValue, Owner
from actormem.errors import ProviderError
from actormem.limits import LLM_REST_S, LLM_TRIES
from actormem.storage.cache import MemoryCache
from actormem.testing.clock import FakeClock
from actormem.testing.fakes import ScriptedLLM

pytestmark = pytest.mark.anyio

ADA = Owner("", "ada")
ASKED = LLMRequest(prompt=[{"role": "user", "content": "hi"}], prompt_tokens=30, reply_tokens=20)
DOWN = ProviderError("down", provider="scripted")


class Counts:
    llm_failures = llm_prompt_tokens = llm_reply_tokens = 0


def made(limit: int | None = None) -> SimpleNamespace:
    clock, counts = FakeClock(), Counts()
    tokens = DailyTokens(MemoryCache(), clock, limit)
    calls = LLMCalls(clock=clock, daily_tokens=tokens, counts=counts, draw_share=lambda: 0.5, deadline_s=10.0)
    return SimpleNamespace(calls=calls, clock=clock, counts=counts)


async def failing(things: SimpleNamespace, llm: ScriptedLLM) -> Replied:
    """The reply of a call whose tries all fail, with the pauses between them."""
    found: list[Replied] = []

    async def ask() -> None:
        found.append(await things.calls.reply(llm, ADA, ASKED))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        for _ in range(LLM_TRIES):
            await things.clock.advance(3.5)
    [replied] = found
    return replied


async def test_a_reply_is_given_and_counted() -> None:
    things = made()
    assert await things.calls.reply(ScriptedLLM(["好"]), ADA, ASKED) == Replied("好")
    await things.calls.counted(ADA, ASKED, 3)
    assert (things.counts.llm_prompt_tokens, things.counts.llm_reply_tokens) == (30, 3)


async def test_after_some_failures_in_a_row_the_llm_rests_whoever_asks_and_a_success_begins_anew() -> None:
    things, llm = made(), ScriptedLLM([*[DOWN] * LLM_TRIES, "ok", *[DOWN] * LLM_TRIES * LLM_TRIES])
    assert await failing(things, llm) == Replied(None)
    assert await things.calls.reply(llm, ADA, ASKED) == Replied("ok")
    for _ in range(LLM_TRIES):
        assert things.calls.rest_s == 0
        assert await failing(things, llm) == Replied(None)
    assert LLM_REST_S - 11 < things.calls.rest_s <= LLM_REST_S
    await things.clock.advance(LLM_REST_S)
    assert things.calls.rest_s == 0
    assert things.counts.llm_failures == llm.call_count - 1


async def test_what_the_day_does_not_allow_is_not_called_and_what_was_not_used_is_given_back() -> None:
    things, llm = made(limit=90), ScriptedLLM(lambda _: "ok")
    assert await things.calls.reply(llm, ADA, ASKED) == Replied("ok")
    await things.calls.counted(ADA, ASKED, 10)
    assert await things.calls.reply(llm, ADA, ASKED) == Replied("ok")
    assert await things.calls.reply(llm, ADA, ASKED) == Replied(None, over=True)
    assert llm.call_count == 2
    assert await things.calls.reply(llm, Owner("", "bob"), ASKED) == Replied("ok")


async def test_words_are_asked_for_as_ever_and_a_shape_only_where_one_is_wanted() -> None:
    class Older:
        """An LLM that knows of no shapes."""

        name, window_tokens = "older", 8_192

        async def complete(
            self, messages: Sequence[Mapping[str, JsonValue]], *, tokens_max: int, deadline_s: float
        ) -> str:
            return f"{len(messages)} {tokens_max}"

    things = made()
    assert await things.calls.reply(Older(), ADA, ASKED) == Replied("1 20")  # type: ignore[arg-type]
    llm = ScriptedLLM(["{}"])
    shaped = LLMRequest(prompt=ASKED.prompt, prompt_tokens=1, reply_tokens=1, schema={"type": "object"})
    assert await things.calls.reply(llm, ADA, shaped) == Replied("{}")
    assert llm.schemas == [{"type": "object"}]
