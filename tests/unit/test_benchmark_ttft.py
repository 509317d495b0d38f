"""What `benchmarks.ttft` sends and tells, against a server that only counts what of a prompt is new to it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from benchmarks import model_server, strategies, ttft, ttft_conversation
from benchmarks.conversation import SpokenTurn
from benchmarks.model_server import ModelServer, Wires
from tests.prefill_server import PrefillServer

SIZE = ttft.Size(turn_count=12, budget_tokens=600, embedder="hashing")


class Servers:
    """Starts a counting server for each strategy."""

    def __init__(self) -> None:
        self.started: list[PrefillServer] = []

    @asynccontextmanager
    async def __call__(self, context_tokens: int) -> AsyncGenerator[ModelServer, None]:
        with PrefillServer() as server:
            self.started.append(server)
            async with ModelServer(server.address) as client:
                yield client


@pytest.fixture(scope="module")
def measured() -> tuple[ttft.Measured, Servers]:
    servers = Servers()
    return anyio.run(ttft.measure, SIZE, servers), servers


def test_every_strategy_is_measured_and_compared(measured: tuple[ttft.Measured, Servers]) -> None:
    found, servers = measured[0].found, measured[1].started
    assert tuple(found) == ttft.STRATEGIES
    assert len(servers) == len(found), "each has a server to itself"
    told = {column.figure for column in ttft.COLUMNS}
    for name, figures in found.items():
        missing = told - set(figures)
        assert all("processor" in one or one in ("epochs", "degraded") for one in missing), (name, missing)
    assert found["full"]["read_times_limit"].median == 1
    assert found["full"]["asked_count"].median == SIZE.turn_count
    assert all(turn_ms > 0 for turns in measured[0].turns.values() for turn_ms in turns.values())


def test_full_history_reads_the_new_words_alone_and_a_window_reads_itself_again(
    measured: tuple[ttft.Measured, Servers],
) -> None:
    found = measured[0].found
    assert found["full"]["read_tokens"].greatest < 250, "a user's message, and once the system prompt"
    assert found["window"]["read_tokens"].greatest > 350
    assert found["window"]["prompt_tokens_max"].median < found["full"]["prompt_tokens_max"].median / 2
    assert found["window"]["read_tokens"].median > 350, "turns that were not sent are stood for"
    assert found["append, prewarm"]["read_tokens"].median < found["window"]["read_tokens"].median / 2


def test_prewarming_reads_ahead_what_a_compaction_has_changed(
    measured: tuple[ttft.Measured, Servers],
) -> None:
    found = measured[0].found
    plain, warmed = found["append"], found["append, prewarm"]
    assert plain["epochs"].median > 0
    assert warmed["prewarms"].median >= warmed["epochs"].median > 0
    assert plain["prewarms"].median == 0
    assert warmed["read_tokens"].greatest < plain["read_tokens"].greatest
    assert warmed["read_mean_times_limit"].median < plain["read_mean_times_limit"].median


def test_what_reads_everything_is_sent_at_every_fourth_turn_once_it_does(
    measured: tuple[ttft.Measured, Servers],
) -> None:
    turns = list(measured[0].turns["window"])
    assert turns[:2] == [1, 2]
    assert all(turn % ttft_conversation.SENT_EVERY == 0 for turn in turns[-2:])
    assert len(measured[0].turns["append"]) == SIZE.turn_count


def test_a_window_keeps_the_newest_that_fits_from_a_users_message_on() -> None:
    sent: list[Wires] = []

    async def ask(messages: Wires) -> None:
        sent.append(messages)

    async def talk(strategy: strategies.Strategy) -> Wires:
        for number in range(20):
            await strategy.take(f"question {number} {'word ' * 20}", f"answer {number}", ask)
        return sent[-1]

    window = anyio.run(talk, strategies.SlidingWindow(200))
    assert [one["role"] for one in window[:2]] == ["system", "user"]
    assert window[-1]["content"].startswith("question 19")
    assert 100 < sum(strategies.SlidingWindow(0).count(one["content"]) for one in window) <= 200
    noted = anyio.run(talk, strategies.NoteAtTheHead(300))
    assert "What was said before:\n" in noted[0]["content"]


@pytest.mark.parametrize("given", [[], ["--model", "/nowhere/a.gguf"], ["--model", __file__]])
def test_without_a_model_or_its_server_it_says_how_to_get_them_and_measures_nothing(
    given: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(model_server.MODEL_VARIABLE, raising=False)
    monkeypatch.setattr(model_server, "find_spec", lambda name: None)
    assert ttft.main(given) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert len(captured.err.splitlines()) == 1
    assert "pip install xllamacpp" in captured.err


def test_an_unknown_strategy_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ttft.main(["--only", "append; sideways"])
    assert "no strategy sideways" in capsys.readouterr().err


def test_it_ends_where_the_window_of_the_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ModelServer.first_token

    async def first_token(server: ModelServer, messages: Wires) -> model_server.Read:
        if len(messages) > 6:
            raise model_server.OutgrownError
        return await asked(server, messages)

    monkeypatch.setattr(ModelServer, "first_token", first_token)
    size = ttft.Size(turn_count=12, budget_tokens=600, embedder="hashing", strategies=(ttft.LIMIT, "append"))
    found = anyio.run(ttft.measure, size, Servers())
    assert found.outgrown == 3
    assert [list(turns) for turns in found.turns.values()] == [[1, 2, 3], [1, 2]]


class CountedServer:
    """Took 100 s to start, and takes a second of processor for each message that it reads again."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def processor_s(self) -> float:
        return 100.0 + sum(self.read)

    async def first_token(self, messages: Wires) -> model_server.Read:
        self.read.append(len(messages))
        return model_server.Read(first_token_s=0.1, processor_s=1.0, read_tokens=1, cached_tokens=0)


class Last:
    """Sends the newest message alone: no request extends the one before."""

    async def take(self, user: str, reply: str, ask: strategies.Ask) -> None:
        await ask([{"role": "user", "content": user}])

    def figures(self) -> dict[str, float]:
        return {}


@pytest.mark.parametrize(("turn_count", "sent_count"), [(8, 3), (10, 3)])
def test_the_whole_conversation_leaves_starting_out_and_counts_the_turns_that_were_not_sent(
    turn_count: int, sent_count: int
) -> None:
    async def talk(rereading: bool) -> ttft_conversation.Conversation:
        held = ttft_conversation.Conversation(Last(), CountedServer(), rereading=rereading)
        for turn in range(1, turn_count + 1):
            await held.take(turn, SpokenTurn(f"question {turn}", "An answer."))
        return held

    whole, sampled = anyio.run(talk, False), anyio.run(talk, True)
    assert [len(one.asked) for one in (whole, sampled)] == [turn_count, sent_count]
    assert (
        whole.all_processor_s() == sampled.all_processor_s() == 3 * turn_count
    )  # 1 asked with, 2 with its reply


def test_without_a_clock_of_the_server_nothing_is_told_of_its_processor(
    measured: tuple[ttft.Measured, Servers],
) -> None:
    assert all("all_processor_s" not in figures for figures in measured[0].found.values())


@pytest.mark.parametrize(
    ("given", "most"),
    [("--turns 0", "180"), ("--turns 181", "180"), ("--budget 0", "32,000"), ("--budget x", "32,000"),
     ("--threads -1", ""), ("--threads 100000", ""), ("--turns 1.5", "180")],
)  # fmt: skip
def test_a_number_that_cannot_be_measured_with_is_refused(
    given: str, most: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        ttft.main(given.split())
    assert ended.value.code == 2
    *_, line = capsys.readouterr().err.strip().splitlines()
    assert f"argument {given.split(maxsplit=1)[0]}: must be a whole number from" in line
    assert f"{most}, not '{given.split()[1]}'" in line


def test_the_longest_conversation_that_may_be_asked_for_is_there() -> None:
    _, size = ttft.asked_for(["--turns", "180", "--budget", "300"])
    assert (size.turn_count, size.budget_tokens) == (180, 300)
    assert len(ttft.conversation(2 * size.turn_count, 1)[1::2]) == 180
