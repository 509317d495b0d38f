"""Tests of your own agents and adapters: time, models and disks that do what a test tells them.

Nothing here sleeps, asks a network or draws by chance, so a test that failed once fails again. What stands in for a
port keeps its promises, so a test that passes says something. Every program on this page is run by our own tests.

## An agent, by a script

Say this is your agent. It asks a model of yours, here behind the `LLM` port, and remembers:

```python
import actormem

async def support(runtime, model, said):
    session = await runtime.spawn("support", user="ada", budget=actormem.Budget(context=1_000))
    async with session.turn(said, id=said) as turn:
        turn.reply(await model.complete(turn.messages, tokens_max=200, deadline_s=10))
```

`ScriptedLLM` answers what you wrote, and keeps every prompt: look there for what the model was shown. `FakeClock`
stands still until you move it: a day is one line, and a deadline runs out when you say so.

```python
import datetime, pytest
from actormem.testing import FakeClock, ScriptedEmbedder, ScriptedLLM

@pytest.mark.anyio
async def test_the_model_is_shown_what_ada_said_before():
    model = ScriptedLLM(["记住了。", "到杭州。"])
    async with actormem.open(None, embedder=ScriptedEmbedder(), clock=FakeClock()) as runtime:
        await support(runtime, model, "我的新地址是杭州市文三路 12 号。")
        await support(runtime, model, "Where will you deliver?")
        assert "文三路 12 号" in str(model.prompts[1])
        await runtime.settle()                              # what works behind the reply is done
        assert "文三路" in (await runtime.value("ada", "address")).value

@pytest.mark.anyio
async def test_what_has_run_out_is_not_recalled():
    clock = FakeClock()
    async with actormem.open(None, embedder=ScriptedEmbedder(), clock=clock) as runtime:
        tomorrow = datetime.datetime.fromtimestamp(clock.now_ms() / 1000 + 86_400, datetime.UTC)
        await runtime.remember("Ada is on holiday.", user="ada", expires=tomorrow)
        assert await runtime.recall("holiday", user="ada")
        await clock.advance(2 * 86_400)
        assert not await runtime.recall("holiday", user="ada")
```

## A fault

`FailingLLM`, `FailingEmbedder` and `FailingRecord` stand before one that works, and fail at the call you choose. Fail
the first, then the second, and so on until none is left to fail, and you have seen every place where the outside can
let you down. Here the disk is full at its `at`-th commit; what was acknowledged before must be there afterwards:

```python
from contextlib import suppress
from functools import partial
from actormem.testing import FailingLLM, FailingRecord

@pytest.mark.anyio
@pytest.mark.parametrize("at", range(1, 7))
async def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path, at):
    acknowledged = []
    full = partial(FailingRecord, at=at, fault="full")
    with suppress(actormem.StorageError):                   # it says so, and takes nothing more
        async with actormem.open(tmp_path, embedder=ScriptedEmbedder(), wrap_record=full) as runtime:
            for said in ("One.", "Two.", "Three."):
                await support(runtime, ScriptedLLM(["OK."]), said)
                acknowledged += [said, "OK."]
    async with actormem.open(tmp_path, embedder=ScriptedEmbedder()) as runtime:
        session = await runtime.spawn("support", user="ada")
        found = [message.text for message in await session.messages()]
        assert found[:len(acknowledged)] == acknowledged

@pytest.mark.anyio
async def test_a_question_that_got_no_reply_is_asked_again_and_stored_once():
    clock = FakeClock()
    model = FailingLLM(ScriptedLLM(["Three days."]), at=1, fault="error", clock=clock)
    async with actormem.open(None, embedder=ScriptedEmbedder(), clock=clock) as runtime:
        with pytest.raises(actormem.ProviderError):
            await support(runtime, model, "How long?")
        await support(runtime, model, "How long?")
        session = await runtime.spawn("support", user="ada")
        assert [message.text for message in await session.messages()] == ["How long?", "Three days."]
```

## An adapter

`actormem.testing.contracts` holds the promises of each port as checks that have names:

```python
from actormem.testing import contracts

@pytest.mark.anyio
@pytest.mark.parametrize("check", contracts.EMBEDDER, ids=str)
async def test_my_embedder_keeps(check): await check(ScriptedEmbedder)   # your own in its place
```

## Whatever is said

`actormem.testing.strategies` draws messages, conversations, budgets, owners and ids as hostile as people send them, and
replies as bad as models give them. It needs Hypothesis: `pip install 'actormem[testing]'`.

```python
import anyio
from hypothesis import given, settings
from actormem.testing import strategies

@settings(max_examples=5, deadline=None)
@given(strategies.conversations(turns_max=3), strategies.budgets(), strategies.owners())
def test_whatever_is_said_fits(conversation, budget, owner):
    async def run():
        async with actormem.open(None, embedder=ScriptedEmbedder(), clock=FakeClock()) as runtime:
            session = await runtime.spawn("s", user=owner.user, tenant=owner.tenant, budget=budget)
            for message in conversation:
                await session.add(message)
            assert (await session.context()).trace.tokens <= budget.context
    anyio.run(run)
```
"""

from actormem.testing import contracts
from actormem.testing.clock import FakeClock, settle
from actormem.testing.fakes import ScriptedEmbedder, ScriptedLLM
from actormem.testing.faults import DiskFault, FailingEmbedder, FailingLLM, FailingRecord, ModelFault

__all__ = [
    "DiskFault",
    "FailingEmbedder",
    "FailingLLM",
    "FailingRecord",
    "FakeClock",
    "ModelFault",
    "ScriptedEmbedder",
    "ScriptedLLM",
    "contracts",
    "settle",
]
