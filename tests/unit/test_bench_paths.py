"""The benchmarks of the reply path and of many sessions, at a tiny size: that they run, and that their figures are what
they say. No time of theirs is asserted."""

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

import msgspec
import openai
import pytest

import actormem
from benchmarks import concurrency, peer_process, peers, providers, reply_path, report
from benchmarks.scripted import LoopWatch, TimedLLM, WatchedLLM, watched
from benchmarks.server import Plan, serving

TRACE = actormem.Trace(
    turn_id="", tokens=5, budget_tokens=9, full_tokens=10, exact=True, tokenizer="", sections=()
)
AT_ONCE = Plan(first_token_s=0.0, read_tokens_per_s=0.0, embedding_s=0.0, reply_tokens=3)


@pytest.mark.anyio
async def test_the_reply_path_has_every_figure_for_each_embedder_and_no_order_is_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notes = list[str]()
    size = reply_path.Size(turn_count=5, repeat_count=1, pause_s=0.0, llm_s=0.001, peers=())
    found = await reply_path.measure(size, notes.append)
    assert list(found) == ["scripted", "server", "client alone", "local", "hashing"]
    assert not notes
    shown = {column.figure for column in reply_path.COLUMNS}
    for row in reply_path.REMOTE:
        assert shown <= set(found[row])
        assert found[row]["beyond_p50_ms"].median < found[row]["context_p50_ms"].median
        assert found[row]["context_calls"].median == found[row]["end_calls"].median == 0
    floor = found.pop("client alone")
    assert set(floor) == {
        f"{name}_{part}_ms" for name in ("context", "beyond") for part in ("p50", "p95", "max")
    }
    for figures in found.values():
        assert figures["orders_in_context_share"].median == figures["orders_recalled_share"].median == 1
        assert figures["sent_share"].median == 1  # five turns fit the budget: nothing is left out
        assert 0.5 < figures["prefix_share"].median < 1
    assert len(reply_path.charted(found)[0].series) == 3
    assert all(target.row in found for target in reply_path.TARGETS)
    assert {target.figure for target in reply_path.TARGETS} <= set(found["server"])


@pytest.mark.anyio
async def test_many_sessions_have_every_figure_in_each_way_and_what_is_missing_is_named() -> None:
    notes = list[str]()
    size = concurrency.Size(
        session_count=4,
        turn_count=2,
        repeat_count=1,
        reply_s=0.01,
        llm_s=0.001,
        embedders=("scripted", "server"),
        peers=(),
    )
    found = await concurrency.measure(size, notes.append)
    assert list(found) == [
        "scripted, paced",
        "scripted, paced, 2 sessions",
        "scripted, burst",
        "server, paced",
        "server, burst",
    ]
    for figures in found.values():
        assert {column.figure for column in concurrency.COLUMNS} <= set(figures)
    assert len(notes) == len(found)
    assert found["scripted, paced, 2 sessions"]["session_count"].median == 2
    (chart,) = concurrency.charted(found)
    assert chart.title.startswith("4 sessions")
    assert all(target.row in found for target in concurrency.TARGETS)


def test_what_degraded_is_named_whatever_it_is() -> None:
    turns = concurrency.Turns()
    turns.add(0.5, TRACE)
    turns.add(0.1, msgspec.structs.replace(TRACE, degraded=("vector", "loading")))
    turns.add(0.1, msgspec.structs.replace(TRACE, degraded=("something new",)))
    turns.add(0.1, TRACE)
    turns.ends_ms += [1.0, 2.0]
    assert turns.figures["degraded_share"] == 0.5
    assert turns.figures["turn_max_ms"] == 500
    found = report.single({"here": turns.figures | {"summaries_count": 3}, "a peer": {"turn_p50_ms": 1.0}})
    assert concurrency.left_out(found) == [
        "here: without vector 0.250, without loading 0.250, without other 0.250; 3 summaries"
    ]


def test_the_prefix_is_the_bytes_with_which_two_requests_begin() -> None:
    requests = reply_path.Requests()
    requests.add([{"a": 1}, {"b": 2}], TRACE)  # 14 bytes
    requests.add([{"a": 1}, {"c": 2}, {"b": 2}], TRACE)  # 7 of 21 as before: what comes after a change is new
    assert requests.prefix_share == 7 / 35
    assert (requests.sent_tokens, requests.full_tokens) == (10, 20)


def test_one_long_gap_is_not_hidden_by_many_short_ones() -> None:
    watch = LoopWatch()
    for slept_s in [0.002] * 900 + [0.102] * 2:
        watch.add(slept_s, slept_s / 2)
    assert watch.figures["gap_p99_ms"] == pytest.approx(100)  # two of 902 sleeps, a tenth of the time
    assert watch.figures["gap_max_ms"] == pytest.approx(100)
    assert watch.figures["own_max_ms"] == pytest.approx(51)
    assert watch.figures["held_share"] == pytest.approx(0.2 / 2.004)
    assert set(LoopWatch().figures.values()) == {0.0}


@pytest.mark.anyio
async def test_a_gap_at_the_very_end_is_seen() -> None:
    async with watched() as watch:
        until_s = perf_counter() + 0.03
        while perf_counter() < until_s:
            pass
    assert watch.figures["gap_max_ms"] > 20


@pytest.mark.anyio
async def test_a_call_is_waited_for_where_it_both_begins_and_ends() -> None:
    llm = WatchedLLM(TimedLLM(0.0))
    ask = partial(llm.complete, [], tokens_max=10, deadline_s=1.0)
    assert await ask(schema={}) != await ask(schema={"type": "object"}) == '{"facts": []}'
    assert llm.call_count == 2
    assert llm.within(0.0, float("inf")) == 2
    assert llm.within(float("inf"), float("inf")) == 0


def test_without_a_client_the_row_of_the_server_is_left_out_and_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report, "version", lambda name: "")
    assert providers.installed(reply_path.OURS) == ["scripted", "local", "hashing"]
    assert providers.missing(reply_path.OURS) == [
        f"{row} is not measured: openai is not installed" for row in ("server", "client alone")
    ]
    assert peers.installed(list(peers.PACKAGES)) == []
    assert [note.partition(" is not")[0] for note in peers.missing(list(peers.PACKAGES))] == list(
        peers.PACKAGES
    )


async def said_by(name: str, given: peers.Given) -> str:
    """What a peer gives the model at the second turn of a session."""
    async with peers.opened(name, given) as make:
        peer = await make(0)
        await peer.take("My boat is called Juniper.")
        await peer.reply("A fine name.")
        return str(await peer.take("What is it called?"))


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # it is what peers are written for
@pytest.mark.parametrize("name", sorted(peers.PACKAGES))
@pytest.mark.filterwarnings("default")  # what others warn of is not ours to mend
async def test_a_peer_gives_the_model_what_the_user_said_last_and_what_was_said_before(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = peers.missing([name])
    if lacking:
        pytest.skip(lacking[0])
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    async with serving(AT_ONCE) as server:
        given = peers.Given(base_url=server.base_url, folder=tmp_path, budget_tokens=500)
        sent = await said_by(name, given)
    gc.collect()  # what a peer leaves open is told of here, and not in another test
    assert "My boat is called Juniper." in sent
    assert "A fine name." in sent
    assert "What is it called?" in sent


@pytest.mark.anyio
async def test_a_peer_that_fails_is_named_with_its_last_words() -> None:
    job = peer_process.Job(peer="nobody", base_url="", budget_tokens=500, turn_count=1, seed=1)
    said = await peer_process.measured(job)
    assert said == "nobody is not measured: benchmarks.peer_process, exit code 1: KeyError: 'nobody'"


class Asker:
    """A peer that asks the LLM twice for a context, and once at the end of a turn."""

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self._client = client

    async def take(self, text: str) -> Sequence[object]:
        await self.reply(text)
        await self.reply(text)
        return [text]

    async def reply(self, text: str) -> None:
        await self._client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])


@asynccontextmanager
async def opened_asker(name: str, given: peers.Given) -> AsyncIterator[peers.Make]:
    async with openai.AsyncOpenAI(api_key="none", base_url=given.base_url, max_retries=0) as client:

        async def make(number: int) -> peers.Peer:
            return Asker(client)

        yield make


@pytest.mark.anyio
@pytest.mark.parametrize("session_count", [1, 2])
async def test_a_peer_has_the_figures_of_its_turns_and_calls(
    session_count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(AT_ONCE) as server:
        monkeypatch.setattr(peer_process, "opened", opened_asker)
        job = peer_process.Job(
            peer="asker",
            base_url=server.base_url,
            budget_tokens=500,
            session_count=session_count,
            turn_count=2,
            seed=1,
        )
        found = await peer_process.figures(job)
    shown = {column.figure for column in concurrency.COLUMNS} & set(found)
    assert {"wall_s", "turns_per_s", "end_p95_ms", "gap_max_ms", "processor_ms"} <= shown
    calls = {name: count for name, count in found.items() if name.endswith("_calls")}
    assert calls == ({"context_calls": 4, "end_calls": 2} if session_count == 1 else {})
