"""A session that crashes again and again is left alone for a while; nobody else notices, and nothing of it is lost."""

from collections.abc import Sequence

import pytest

import actormem
from actormem.adapters.bytes import BytesTokenizer
from actormem.kernel.supervisor import RestartWindow
from tests.runtimes import FakeClock, ScriptedEmbedder, answered

pytestmark = pytest.mark.anyio

WINDOW = RestartWindow()
POISON = "a word that no tokenizer bears"


class Brittle(BytesTokenizer):
    """A tokenizer with a bug."""

    def count(self, text: str) -> int:
        if POISON in text:
            raise RuntimeError(text)
        return super().count(text)


async def storm(session: actormem.Session) -> list[actormem.StoppedError]:
    """Have it crash until it is given up, and twice more."""
    errors: list[actormem.StoppedError] = []
    for number in range(WINDOW.count + 3):
        with pytest.raises(actormem.StoppedError) as caught:
            await session.add({"role": "user", "content": POISON, "id": f"bad-{number}"})
        errors.append(caught.value)
    return errors


async def said(session: actormem.Session) -> Sequence[object]:
    return [message.content for message in await session.messages()]


async def test_a_storm_of_crashes_degrades_its_session_alone(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    async with actormem.open(None, tokenizer=Brittle(), embedder=ScriptedEmbedder(), clock=clock) as runtime:
        bad = await runtime.spawn("bad", user="ada", budget=actormem.Budget(context=2_000))
        other = await runtime.spawn("other", user="ada", budget=actormem.Budget(context=2_000))
        await answered(bad, "My new address is 5 Hill Street.")
        await runtime.settle()

        errors = await storm(bad)
        crashed, refused = errors[: WINDOW.count + 1], errors[WINDOW.count + 1 :]
        assert {error.reason for error in errors} == {"RuntimeError"}
        assert all("outcome is unknown" in str(error) for error in crashed)
        assert all(error.retry_after_s == 0.0 for error in crashed)
        assert all("given up" in str(error) for error in refused)
        assert all(error.retry_after_s == WINDOW.cooldown_s for error in refused)
        assert POISON not in caplog.text + "".join(map(str, errors))
        with pytest.raises(actormem.StoppedError):
            async with bad.turn("Are you there?"):
                raise AssertionError("a turn of a session that was given up is not entered")

        assert await answered(other, "What is my address?"), "its user's other sessions go on"
        assert await runtime.recall("address", user="ada"), "and his memory"
        assert await answered(await runtime.spawn("s", user="bob"), "Hello."), "and everybody else"
        counts = runtime.statistics()
        assert (counts.sessions.restarts, counts.sessions.given_up) == (WINDOW.count, 1)
        assert counts.longterm.restarts == counts.summarizer.restarts == 0

        await clock.advance(WINDOW.cooldown_s)
        assert await said(bad) == ["My new address is 5 Hill Street.", "OK."], (
            "nothing is lost, nothing half there"
        )
        assert await answered(bad, "Are you there?")


async def test_one_that_crashes_at_its_trial_is_given_up_again_at_once() -> None:
    clock = FakeClock()
    async with actormem.open(None, tokenizer=Brittle(), embedder=ScriptedEmbedder(), clock=clock) as runtime:
        bad = await runtime.spawn("bad", user="ada", budget=actormem.Budget(context=2_000))
        await storm(bad)
        await clock.advance(WINDOW.cooldown_s)
        errors = await storm(bad)
        assert [error.retry_after_s for error in errors] == [0.0, *[WINDOW.cooldown_s] * (len(errors) - 1)]
