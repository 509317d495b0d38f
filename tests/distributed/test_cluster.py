"""A cluster over a Ray of the test's own: owners on their shards, deaths that nobody notices, and clear errors."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

import actormem
from actormem import AskTimeoutError, OverloadedError, StoppedError, StorageError, UsageError
from actormem.actors.watching import WATCHERS_MAX
from actormem.distributed import Cluster, ClusterRuntime
from actormem.distributed.messages import ANSWERED, FAILED, Asked, Told, told
from actormem.distributed.shard import CALLS_MAX, ENDING_MAX, Shard, ShardSettings
from actormem.ports import RecordStatistics
from actormem.testing.failing_record import FailingRecord
from tests.distributed.fake_ray import FakeActor, FakeRay

pytestmark = pytest.mark.anyio


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    made = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", made)
    return made


@asynccontextmanager
async def opened(place: Path, shards: int = 2, **options: Any) -> AsyncGenerator[ClusterRuntime]:
    given = {"embedder": "hashing", "durability": "process"} | options
    async with Cluster(place, shards=shards, **given) as runtime:
        yield runtime


def actor(ray: FakeRay, runtime: ClusterRuntime, user: str) -> FakeActor:
    return ray.actors[sorted(ray.actors)[runtime.shard_of(user)]]


def users(runtime: ClusterRuntime) -> list[str]:
    """One of each shard."""
    found: dict[int, str] = {}
    number = 0
    while len(found) < 2:
        found.setdefault(runtime.shard_of(f"user {number}"), f"user {number}")
        number += 1
    return [found[0], found[1]]


async def test_each_owner_is_in_one_shard_and_what_is_asked_of_all_is_joined(
    ray: FakeRay, tmp_path: Path
) -> None:
    async with opened(tmp_path / "m") as runtime:
        for user in users(runtime):
            session = await runtime.spawn("s-1", user=user, model="gpt-4o")
            async with session.turn("Where is my order KX-48210?") as turn:
                turn.reply("On its way.")
            assert turn.trace.tokens > 0
            assert [one.text for one in await session.messages()] == [
                "Where is my order KX-48210?",
                "On its way.",
            ]
            assert (await runtime.remember("I like tea.", user=user)).text == "I like tea."
            assert len(await runtime.recall("tea", user=user)) > 0
        await runtime.settle()
        assert {row.owner.user for row in await runtime.owners()} == set(users(runtime))
        assert len(await runtime.owners(limit=1)) == 1
        assert (await runtime.statistics()).sessions.residents == 2
        assert 'actormem_turns_total{outcome="complete"} 2.0' in await runtime.metrics()
        assert "ClusterRuntime of 2 shards" in repr(runtime)
    assert not ray.actors, "they end with whoever made them"
    assert sorted(one.name for one in (tmp_path / "m").iterdir() if one.is_dir()) == [
        "shard-000",
        "shard-001",
    ]


async def test_a_knowledge_base_is_in_every_shard(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m") as runtime:
        done = await runtime.import_knowledge(
            "manual", ["# Returns\nA parcel may be returned within 30 days."]
        )
        assert done.document_count == 1
        assert [row.name for row in await runtime.knowledge()] == ["manual"]
        for user in users(runtime):
            session = await runtime.spawn("s-1", user=user, knowledge=["manual"])
            assert session.settings["knowledge"] == ["manual"]
        assert (await runtime.remove_knowledge("manual")).item_count == 2 * done.passage_count
        assert await runtime.knowledge() == ()


async def test_events_are_those_of_the_owner_s_shard_and_their_stream_is_ended(
    ray: FakeRay, tmp_path: Path
) -> None:
    async with opened(tmp_path / "m") as runtime:
        session = await runtime.spawn("s-1", user="ada")
        async with runtime.events("ada") as events:
            await session.add({"role": "user", "content": "Hello."})
            assert (await anext(aiter(events))).kind == "message"
        assert len(ray.cancelled) == 1


@pytest.mark.parametrize("end", ["reply", "tool", "context"])
async def test_a_turn_goes_on_in_its_shard_s_next_life(ray: FakeRay, tmp_path: Path, end: str) -> None:
    async with opened(tmp_path / "m") as runtime:
        session = await runtime.spawn("s-1", user="ada")
        async with session.turn("Where is it?", id="q-1") as turn:
            shard = actor(ray, runtime, "ada")
            await shard.die()
            shard.away = False
            if end == "tool":
                await turn.add({"role": "assistant", "content": "I look it up."})
            if end == "context":
                assert (await turn.context())[-1]["role"] == "user"
            turn.reply("On its way.")
        said = [one.text for one in await session.messages()]
        looked = ["I look it up."] if end == "tool" else []
        assert said == ["Where is it?", *looked, "On its way."]
        assert [one.outcome for one in await session.turns()] == ["complete"]


async def test_an_end_whose_acknowledgement_was_lost_is_not_recorded_twice(
    ray: FakeRay, tmp_path: Path
) -> None:
    async with opened(tmp_path / "m") as runtime:
        session = await runtime.spawn("s-1", user="ada")
        async with session.turn("Where is it?") as turn:
            turn.reply("On its way.")
            actor(ray, runtime, "ada").lost.append(b"reply")
        assert [one.text for one in await session.messages()] == ["Where is it?", "On its way."]


async def test_what_may_be_asked_twice_waits_until_the_shard_is_back(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m") as runtime:
        session = await runtime.spawn("s-1", user="ada")
        shard = actor(ray, runtime, "ada")
        await shard.die()
        async with anyio.create_task_group() as group:
            found: list[object] = []

            async def read() -> None:
                found.append(await session.messages())

            for _ in range(3):
                group.start_soon(read)
            await shard.knocked.wait()
            assert not found
            shard.away = False
        assert found == [(), (), ()]


async def test_what_may_not_be_asked_twice_is_told_and_the_rest_of_the_cluster_goes_on(
    ray: FakeRay, tmp_path: Path
) -> None:
    async with opened(tmp_path / "m") as runtime:
        first, second = users(runtime)
        shard = actor(ray, runtime, first)
        shard.lost.append(b"remember")
        with pytest.raises(StoppedError, match=r"the outcome is unknown.*shard 0 has died"):
            await runtime.remember("I like tea.", user=first)
        assert (await runtime.remember("I like tea.", user=second)).text == "I like tea."
        assert (await runtime.remember("I like cake.", user=first)).text == "I like cake.", "it is back"


async def test_a_shard_that_was_stopped_for_good_is_told(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m", detached=True) as runtime:
        session = await runtime.spawn("s-1", user="ada")
        async with opened(tmp_path / "m") as other:
            assert (await other.sessions("ada"))[0].session_id == "s-1", "the same shards"
        assert await session.messages() == (), "they were not the other's to end"
        cluster = Cluster(tmp_path / "m", shards=2, embedder="hashing")
        async with cluster:
            await cluster.stop()
        with pytest.raises(StoppedError, match="has been stopped"):
            await session.messages()


async def test_a_full_way_to_the_shard_refuses_and_says_that_nothing_was_sent(
    ray: FakeRay, tmp_path: Path
) -> None:
    async with opened(tmp_path / "m") as runtime:
        session = await runtime.spawn("s-1", user="ada")
        ray.full = True
        with pytest.raises(OverloadedError, match="nothing was sent"):
            await session.messages()
        with pytest.raises(OverloadedError, match="nothing was sent"):
            await runtime.metrics()
        with pytest.raises(OverloadedError, match="nothing was sent"):
            async with runtime.events("ada"):
                raise AssertionError
        ray.full = False


async def test_a_caller_who_leaves_while_the_way_is_full_leaves_as_he_was_told_to(
    ray: FakeRay, tmp_path: Path
) -> None:
    async with opened(tmp_path / "m", shards=1) as runtime:
        session = await runtime.spawn("s-1", user="ada")
        async with session.turn("First.") as turn:
            async with anyio.create_task_group() as group:

                async def second() -> None:
                    async with session.turn("Second."):
                        raise AssertionError

                group.start_soon(second)
                await anyio.wait_all_tasks_blocked()
                ray.full = True
                group.cancel_scope.cancel()
            ray.full = False
            turn.reply("Yes.")


async def test_all_who_look_on_take_no_place_of_what_ends_turns(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m", shards=1):
        assert ray.options["max_concurrency"] >= WATCHERS_MAX + CALLS_MAX + ENDING_MAX


async def test_who_lost_the_race_to_make_the_shards_does_not_end_them(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m") as runtime:
        session = await runtime.spawn("s-1", user="ada")
        ray.unseen = 1
        async with opened(tmp_path / "m"):
            assert ray.unseen == 0
        assert await session.messages() == ()


async def test_options_that_cannot_be_pickled_are_refused_without_their_words(ray: FakeRay) -> None:
    ray.pickles = False
    with pytest.raises(UsageError, match="cannot pickle an object") as refused:
        async with Cluster("postgresql://ada:hunter2@host/db", shards=1, llm="openai:unspeakable"):
            raise AssertionError
    assert "hunter2" not in str(refused.value)
    settings = ShardSettings(
        number=0, shards=1, place="postgresql://ada:hunter2@host/db", options={"key": "hunter2"}
    )
    assert "hunter2" not in repr(settings)


async def test_a_turn_that_was_left_before_its_shard_was_open_does_not_begin(tmp_path: Path) -> None:
    message = {"role": "user", "content": "First."}
    body = msgspec.json.encode({"message": message, "id": "q-1", "idle_s": 45.0, "request": "r"})
    query = {"user": "ada", "tenant": "", "session": "s-1"}
    answers: list[Told] = []
    options = {"embedder": "hashing", "durability": "process"}

    async def ask(shard: Shard, name: str, query: dict[str, Any], body: bytes | None, call: str = "") -> None:
        asked = Asked(name, query, body, 30.0, call, 1)
        answers.append(told(await shard.ask(msgspec.msgpack.encode(asked))))

    async with anyio.create_task_group() as group, actormem.open(tmp_path / "m" / "shard-000", **options):
        shard = Shard(ShardSettings(number=0, shards=1, place=str(tmp_path / "m"), options=options))
        group.start_soon(ask, shard, "open_turn", query, body, "call")
        await anyio.wait_all_tasks_blocked()
        await shard.left("call")
    await ask(shard, "health", {}, None)
    await shard.stop()
    assert [one.kind for one in answers] == [FAILED, ANSWERED]
    assert b"has gone" in answers[0].raw
    assert msgspec.json.decode(answers[1].raw)["open_turns"] == 0


async def test_a_caller_who_leaves_the_queue_does_not_get_the_turn(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m", shards=1) as runtime:
        session = await runtime.spawn("s-1", user="ada")
        async with session.turn("First.") as turn:
            with anyio.move_on_after(0.2):
                async with session.turn("Second."):
                    raise AssertionError
            turn.reply("Yes.")
        async with session.turn("Third.") as turn:
            turn.reply("Yes.")
        assert [one.text for one in await session.messages()] == ["First.", "Yes.", "Third.", "Yes."]


async def test_a_deadline_is_kept_by_the_shard_too(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m", shards=1, turn_wait_s=0.3) as runtime:
        session = await runtime.spawn("s-1", user="ada")
        async with session.turn("First.") as turn:
            with pytest.raises(OverloadedError, match=r"waited 0\.3 s"):
                async with session.turn("Second."):
                    raise AssertionError
            turn.reply("Yes.")


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shards": 0}, "shards must be a whole number from 1 to 1000, not 0"),
        ({"shards": True}, "not True"),
        ({"shards": 1_001}, "not 1001"),
        ({"shards": 2, "colour": "red"}, "colour is no option of a cluster"),
        ({"shards": 2, "clock": None}, "clock is no option of a cluster"),
        ({"shards": 2, "start_s": 0}, "start_s"),
        ({"shards": 2, "detached": 1}, "detached"),
    ],
)
async def test_a_wrong_argument_is_refused_before_anything_is_made(
    ray: FakeRay, tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        Cluster(tmp_path / "m", **given)
    assert not (tmp_path / "m").exists()


async def test_a_place_must_be_one(ray: FakeRay) -> None:
    with pytest.raises(UsageError, match="place must be the name of a folder"):
        Cluster("", shards=1)
    with pytest.raises(UsageError, match="the schema in the URL"):
        Cluster("postgresql://localhost/x?schema=a;b", shards=1)
    with pytest.raises(UsageError, match="mysql: is no kind of URL"):
        Cluster("mysql://ada:hunter2@localhost/x", shards=1)


async def test_another_number_of_shards_is_refused(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m"):
        with pytest.raises(UsageError, match="open with 2 shards, not 3"):
            async with opened(tmp_path / "m", shards=3):
                raise AssertionError
    with pytest.raises(UsageError, match="the place has 2 shards, not 1"):
        async with opened(tmp_path / "m", shards=1):
            raise AssertionError
    assert not ray.actors


async def test_options_that_open_refuses_leave_no_note(ray: FakeRay, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown embedder"):
        async with opened(tmp_path / "m", embedder="none of these"):
            raise AssertionError
    async with opened(tmp_path / "m", shards=1):
        assert not (tmp_path / "m" / "shard-001").exists()


async def test_a_shard_without_its_record_is_told_and_may_be_begun_anew(ray: FakeRay, tmp_path: Path) -> None:
    async with opened(tmp_path / "m"):
        pass
    (tmp_path / "m" / "shard-001" / "record.db").unlink()
    with pytest.raises(StorageError, match=r"shard 001 had a record and has none: .* delete shard-001\.made"):
        async with opened(tmp_path / "m"):
            raise AssertionError
    (tmp_path / "m" / "shard-001.made").unlink()
    async with opened(tmp_path / "m") as runtime:
        assert await runtime.owners() == ()


async def test_a_folder_that_another_has_open_is_refused(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actormem.distributed.shard.LOCK_WAIT_S", 0.1)
    async with actormem.open(tmp_path / "m" / "shard-001", embedder="hashing"):
        with pytest.raises(actormem.FolderInUseError):
            async with opened(tmp_path / "m"):
                raise AssertionError
    async with opened(tmp_path / "m") as runtime:
        assert await runtime.owners() == ()


async def test_shards_that_do_not_open_in_time_are_told(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actormem.distributed.shard.LOCK_WAIT_S", 30.0)
    async with actormem.open(tmp_path / "m" / "shard-000", embedder="hashing"):
        with pytest.raises(AskTimeoutError, match="not open after 1 s"):
            async with opened(tmp_path / "m", shards=1, start_s=1.0):
                raise AssertionError
        assert not ray.actors


async def test_without_ray_or_before_it_was_initialised_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'actormem\[ray\]'"):
        async with opened(tmp_path / "m"):
            raise AssertionError
    monkeypatch.setitem(sys.modules, "ray", FakeRay(initialised=False))
    with pytest.raises(UsageError, match="Ray is not initialised"):
        async with opened(tmp_path / "m"):
            raise AssertionError


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_on_trio_it_is_refused(ray: FakeRay, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="asyncio"):
        async with opened(tmp_path / "m"):
            raise AssertionError


async def test_a_shard_whose_record_has_failed_is_begun_anew(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = anyio.Event()

    def end(code: int) -> None:
        assert code == 1
        ended.set()

    monkeypatch.setattr("os._exit", end)
    async with opened(tmp_path / "m", shards=1, wrap_record=failing) as runtime:
        await runtime.spawn("s-1", user="ada")
        with pytest.raises(StoppedError, match="the outcome is unknown"):
            await remembered(runtime, COMMITS)
        with anyio.fail_after(10):
            await ended.wait()


COMMITS = 8


async def remembered(runtime: ClusterRuntime, count: int) -> None:
    for number in range(count):
        await runtime.remember(f"I like tea number {number}.", user="ada")


class Failing(FailingRecord):
    """Says of itself that it has failed, as a record does."""

    def statistics(self) -> RecordStatistics:
        return msgspec.structs.replace(super().statistics(), failed_commit_count=int(self.failed))


def failing(record: Any) -> Failing:
    return Failing(record, at=COMMITS, fault="full")
