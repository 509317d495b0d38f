"""Which words of messages are out of date: by whole words, by time, bounded, and gone with what they came from."""

import msgspec

from actormem.actors.outdated import TOLD_MAX, OutdatedWords
from actormem.core.context.notes import GONE_VERSION
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner

OWNER = Owner("", "ada")


def episode(number: int, text: str) -> Item:
    return Item(
        id=f"m{number}",
        owner=OWNER,
        kind="episode",
        text=text,
        source_ids=(f"#{number}",),
        session_id="s",
        sequence=number,
    )


def fact(number: int, value: str, **more: object) -> Item:
    made = Item(
        id=f"m{100 + number}",
        owner=OWNER,
        kind="fact",
        text=f"The user: {value}",
        subject="user",
        attribute="code",
        value=value,
        source_ids=(f"#{number}",),
        session_id="s",
        state="superseded",
    )
    return msgspec.structs.replace(made, **more)


class Memory:
    """A partition with the words of it, at a time."""

    def __init__(self, *items: Item) -> None:
        self.now_ms = 0
        self.partition = Partition(4)
        sources: dict[tuple[str, str], list[str]] = {}
        self.words = OutdatedWords(
            self.partition, lambda: self.now_ms, lambda source: sources.get(source, ()), lambda _: ()
        )
        for item in items:
            self.partition.put(item)
            for source in item.sources:
                sources.setdefault(source, []).append(item.id)
            self.words.link(item)

    def shown(self, *told: str) -> list[str]:
        visible = {f"#{number}" for number in range(50)}
        return [one.words for one in self.words.shown("s", visible, (), dict.fromkeys(told, GONE_VERSION))]


def test_a_value_counts_where_it_stands_as_a_whole_word() -> None:
    memory = Memory(episode(1, "code 412, not 41"), fact(1, "41"), fact(1, "12", id="m900"))
    assert memory.shown() == ["41"]
    assert memory.shown("m101") == []


def test_chinese_values_stand_inside_a_run() -> None:
    assert Memory(episode(1, "我住在临沂那边"), fact(1, "临沂")).shown() == ["临沂"]


def test_words_are_out_of_date_from_the_moment_their_time_runs_out() -> None:
    memory = Memory(episode(1, "the code is 553311"), fact(1, "553311", state="live", expires_ms=1_000))
    memory.now_ms = 999
    assert memory.shown() == []
    memory.now_ms = 1_000
    assert memory.shown() == ["553311"]


def test_so_many_are_told_at_a_time_and_the_rest_with_the_next() -> None:
    count = TOLD_MAX + 4
    memory = Memory(
        *(episode(number, f"code A{number}") for number in range(count)),
        *(fact(number, f"A{number}") for number in range(count)),
    )
    first = memory.shown()
    assert len(first) == TOLD_MAX
    told = [f"m{100 + int(value[1:])}" for value in first]
    assert sorted([*first, *memory.shown(*told)]) == sorted(f"A{number}" for number in range(count))


def test_what_holds_instead_is_not_told_again_where_a_note_shows_it() -> None:
    newer = fact(2, "42", state="live")
    memory = Memory(episode(1, "code 41"), newer, fact(1, "41", superseded_by=newer.id))
    assert len(memory.words.shown("s", {"#1"}, (), {})) == 1
    assert not memory.words.shown("s", {"#1"}, (), {newer.id: newer.version})
    assert not memory.words.shown("s", {"#1", "#2"}, (), {}), "its own words say so"


def test_what_has_left_the_partition_is_told_no_more() -> None:
    ended = fact(1, "41")
    memory = Memory(episode(1, "code 41"), ended)
    memory.words.removed(ended)
    assert memory.shown() == []
    memory.words.link(msgspec.structs.replace(ended, state="live"))
    assert memory.shown() == []
