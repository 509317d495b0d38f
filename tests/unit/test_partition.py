"""A partition found by words, vectors, attributes, dates and time, in Chinese and English."""

import hashlib
import itertools
import random

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from actormem.core.recall.partition import FLOOR, Partition, Query, query_texts, view_text
from actormem.core.recall.search import ALL_ROWS_MAX
from actormem.core.recall.words import token_count
from actormem.core.values import Hit, Item, Owner

ADA = Owner("", "ada")
NOW = 1_750_000_000_000
DAY = 86_400_000
MINUTE = 60_000
DIMENSIONS = 384


def vector_of(text: str) -> NDArray[np.float32]:
    """An embedding that knows nothing: texts are near only if they share long character sequences."""
    total = np.zeros(DIMENSIONS, np.float32)
    for start in range(max(1, len(text) - 3)):
        seed = int.from_bytes(
            hashlib.blake2b(text[start : start + 4].lower().encode(errors="replace"), digest_size=4).digest()
        )
        total += np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    return total / np.linalg.norm(total)


def fact(number: int, text: str, **more: object) -> Item:
    fields: dict[str, object] = {
        "id": f"m{number}", "owner": ADA, "kind": "fact", "text": text, "sequence": number,
        "event_ms": NOW - DAY * (100 - number), **more,
    }  # fmt: skip
    return Item(**fields)  # type: ignore[arg-type]


def turn(number: int, text: str, speaker: str = "user", session: str = "s", **more: object) -> Item:
    fields = {"event_ms": NOW - DAY * 100 + MINUTE * number, **more}
    return fact(number, text, kind="episode", speaker=speaker, session_id=session, **fields)


def filled(items: list[Item], vectors: bool = True) -> Partition:
    partition = Partition(DIMENSIONS)
    for item in items:
        partition.put(item)
    if vectors:
        embed(partition)
    return partition


def embed(partition: Partition) -> None:
    ids = partition.without_vectors()
    held = [partition.item(id) for id in ids]
    if ids:
        partition.set_vectors(ids, np.stack([vector_of(view_text(item)) for item in held if item]))
    partition.refresh_windows(len(ids) * 9)


def ask(partition: Partition, text: str, vectors: bool = True, **more: object) -> tuple[Hit, ...]:
    vector = np.stack([vector_of(part) for part in partition.query_texts(text)]) if vectors else None
    fields: dict[str, object] = {"text": text, "now_ms": NOW, "vector": vector, **more}
    return partition.search(Query(**fields))  # type: ignore[arg-type]


def ids(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.item.id for hit in hits]


FACTS = [
    fact(1, "我用Python写了订单系统"),
    fact(2, "周末我常去爬山"),
    fact(3, "家里养了一只猫"),
    fact(4, "The user is allergic to peanuts", attribute="allergy", value="peanuts"),
    fact(5, "Order KX-48210-77 was shipped to Lisbon"),
    fact(6, "The delivery address is 12 Elm Street", attribute="address", value="12 Elm Street"),
    fact(7, "公司在深圳南山区，每天坐地铁上班", attribute="office", value="深圳南山区"),
    fact(8, "The dentist appointment moved to Thursday"),
]


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(
    ("query", "id"),
    [
        ("订单", "m1"),
        ("Python", "m1"),
        ("爬山", "m2"),
        ("猫", "m3"),
        ("allergies to peanut", "m4"),
        ("KX-48210-77", "m5"),
        ("order 48210", "m5"),
        ("where is kx-48210", "m5"),
        ("公司在哪里", "m7"),
        ("dentist appointments", "m8"),
    ],
)
def test_each_fact_is_found_first_by_its_words(query: str, id: str, vectors: bool) -> None:
    assert ids(ask(filled(FACTS, vectors), query, vectors))[0] == id


def test_an_attribute_named_by_the_caller_finds_its_fact_without_a_shared_word() -> None:
    assert ids(ask(filled(FACTS), "寄到哪儿", attributes=("address",)))[0] == "m6"
    assert ids(ask(filled(FACTS), "anything safe for lunch", attributes=("allergy",)))[0] == "m4"


def test_an_item_without_a_vector_is_found_by_its_words_at_once() -> None:
    partition = filled(FACTS)
    partition.put(fact(9, "The gate code is 7731"))
    assert partition.without_vectors() == ("m9",)
    assert ids(ask(partition, "gate code"))[0] == "m9"


def test_scores_are_in_range_and_fall_and_say_why() -> None:
    hits = ask(filled(FACTS), "the delivery address", limit=5)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert hits[0].why["lexical"] > 0
    assert len(hits) == 5


def test_equal_scores_keep_the_older_first() -> None:
    items = [fact(number, f"note {letter}", event_ms=NOW - DAY) for number, letter in enumerate("dcba", 1)]
    hits = ask(filled(items, vectors=False), "zebra", vectors=False)
    assert ids(hits) == ["m1", "m2", "m3", "m4"]


def test_only_live_items_are_hits_and_the_successor_is_among_them() -> None:
    old = fact(1, "The office is in Porto", attribute="office", state="superseded", superseded_by="m2")
    new = fact(2, "The office is in Faro", attribute="office", supersedes="m1")
    gone = fact(3, "The office wifi is down", expires_ms=NOW - 1)
    cold = fact(4, "The office had plants", state="archived")
    assert ids(ask(filled([old, new, gone, cold]), "office")) == ["m2"]


def test_a_new_state_of_an_item_is_seen_at_once_and_keeps_its_vector() -> None:
    partition = filled(FACTS)
    partition.put(fact(6, "The delivery address is 12 Elm Street", attribute="address", state="superseded"))
    assert "m6" not in ids(ask(partition, "delivery address"))
    assert partition.without_vectors() == ()
    assert len(partition) == len(FACTS)


def test_an_edited_text_is_found_by_its_new_words_only() -> None:
    partition = filled(FACTS)
    partition.put(fact(8, "The optician is closed on Monday", version=2))
    assert partition.without_vectors() == ("m8",)
    assert ids(ask(partition, "optician"))[0] == "m8"
    assert all("lexical" not in hit.why for hit in ask(partition, "dentist", vectors=False))


def test_at_a_time_the_value_of_that_time_is_the_truth() -> None:
    old = fact(1, "The office is in Porto", event_ms=NOW - 90 * DAY, state="superseded", superseded_by="m2")
    new = fact(2, "The office is in Faro", event_ms=NOW - 10 * DAY, supersedes="m1")
    partition = filled([old, new])
    assert ids(ask(partition, "office", at_ms=NOW - 50 * DAY)) == ["m1"]
    assert ids(ask(partition, "office", at_ms=NOW - 5 * DAY)) == ["m2"]
    assert ids(ask(partition, "office", at_ms=NOW - 100 * DAY)) == []


def test_kinds_and_exclusions_are_kept() -> None:
    partition = filled([*FACTS, turn(20, "I took the order to Lisbon")])
    assert ids(ask(partition, "order to Lisbon", kinds=frozenset({"episode"}))) == ["m20"]
    assert "m5" not in ids(ask(partition, "order to Lisbon", exclude=frozenset({"m5"})))


def test_a_removed_item_is_gone_and_its_place_serves_another() -> None:
    partition = filled(FACTS)
    label = partition.label("m5")
    partition.remove("m5")
    partition.remove("m5")
    assert partition.item("m5") is None
    assert "m5" not in ids(ask(partition, "KX-48210-77"))
    partition.put(fact(30, "The piano is out of tune"))
    assert partition.label("m30") == label
    hits = ask(partition, "KX-48210-77")
    assert all("id" not in hit.why for hit in hits)


def test_near_duplicates_are_one_hit_unless_a_number_differs() -> None:
    partition = filled(
        [
            fact(1, "The parking spot of the user is number 41"),
            fact(2, "the parking spot of the user is number 41."),
            fact(3, "The parking spot of the user is number 42"),
        ]
    )
    assert sorted(ids(ask(partition, "parking spot"))) in (["m1", "m3"], ["m2", "m3"])


def test_a_reply_is_found_by_the_words_of_the_question_before_it() -> None:
    talk = [
        turn(1, "Which instrument do you practise in the evenings?", "Bo"),
        turn(2, "The cello, mostly.", "Ada"),
        turn(3, "Nice weather today.", "Bo", session="t"),
        turn(4, "I repaired the fence.", "Ada", session="t"),
    ]
    assert ids(ask(filled(talk), "instrument Ada practises"))[0] == "m2"


def test_a_date_in_the_query_prefers_what_was_said_then() -> None:
    items = [
        turn(
            number,
            f"We walked along the river, part {number}",
            session=f"s{number}",
            event_ms=NOW - DAY * (100 - number),
        )
        for number in range(1, 9)
    ]
    day = np.datetime64(items[4].event_ms, "ms").astype("datetime64[D]")
    assert ids(ask(filled(items), f"the walk along the river on {day}"))[0] == "m5"


def test_the_window_of_a_turn_changes_with_its_neighbours() -> None:
    partition = filled([turn(1, "Do you like the cello?", "Bo"), turn(2, "Very much", "Ada")])
    assert partition.stale_windows_count == 0

    def nearness() -> float:
        return float(partition._windows.cosines_at(vector_of("a walk in the garden"), np.array([1]))[0])

    before = nearness()
    partition.put(turn(3, "A walk in the garden", "Bo"))
    assert partition.stale_windows_count == 3
    embed(partition)
    assert partition.stale_windows_count == 0
    assert nearness() > before + 0.1
    partition.remove("m3")
    assert partition.stale_windows_count == 2
    partition.refresh_windows(1)
    assert partition.stale_windows_count == 1


def test_a_window_is_near_to_what_the_mean_of_its_turns_is_near_to() -> None:
    turns = [turn(1, "Do you like the cello?", "Bo"), turn(2, "Very much", "Ada"), turn(3, "A walk", "Bo")]
    partition = filled(turns)
    weights = np.sqrt([token_count(one.text) for one in turns])
    mean = weights @ np.stack([vector_of(one.text) for one in turns])
    query = vector_of("the cello in the garden")
    expected = float(query @ mean / np.linalg.norm(mean))
    assert partition._windows.cosines_at(query, np.arange(3)) == pytest.approx([expected] * 3, abs=1e-6)


def test_what_takes_the_place_of_a_removed_turn_is_part_of_no_old_window() -> None:
    partition = filled([turn(1, "Do you like the cello?", "Bo"), turn(2, "Very much", "Ada")])
    partition.remove("m1")
    query = vector_of("a walk in the garden")
    before = partition._windows.cosines_at(query, np.array([1]))
    partition.put(turn(9, "A walk in the garden", session="another"))
    partition.set_vectors(["m9"], query[None])
    assert partition.label("m9") == 0, "the row is used again"
    assert partition._windows.cosines_at(query, np.array([1])) == before


def test_facts_and_turns_that_say_enough_have_no_window() -> None:
    partition = filled(FACTS[:2])
    assert partition.stale_windows_count == 0
    long = "池塘在花园后面，仓库旁边。" * 20
    partition = filled([turn(1, long), turn(2, "好的"), turn(3, long)])
    assert [bool(partition._table.has_window[row]) for row in range(3)] == [False, True, False]


COLOURS, THINGS = ("red", "blue", "old", "new"), ("lamp", "bag", "boat", "key", "drum")
PLACES = ("attic", "office", "school", "garden", "cellar")
MEMORIES = [
    fact(number, f"The {colour} {thing} belongs to the {place}")
    for number, (colour, thing, place) in enumerate(itertools.product(COLOURS, THINGS, PLACES), start=1)
]


@pytest.mark.parametrize("query", ["hi", "hello!", "你好", "qqqqzz", "ok thanks", "嗯", "?", ""])
def test_a_greeting_over_a_hundred_memories_recalls_nothing(query: str) -> None:
    partition = filled(MEMORIES)
    assert len(partition) == 100
    assert ask(partition, query, min_score=FLOOR) == ()


def test_the_floor_lets_an_answer_pass() -> None:
    hits = ask(filled(MEMORIES), "where does the red drum belong", min_score=FLOOR)
    assert "drum" in hits[0].item.text


def test_no_query_and_no_item_raises() -> None:
    assert ask(Partition(DIMENSIONS), "anything") == ()
    partition = filled([fact(1, ""), fact(2, "\ud800"), fact(3, "🙂")])
    assert len(ask(partition, "\ud800 🙂 \x00")) == 3
    assert len(ask(partition, "x" * 8000 + " 猫" * 2000)) == 3


def test_a_search_after_any_puts_and_removes_is_that_of_a_fresh_partition() -> None:
    chance = random.Random(5)
    subjects = ["tea", "cello", "river", "爬山", "订单", "KX-48210"]
    partition, held = Partition(DIMENSIONS), dict[str, Item]()
    for step in range(300):
        number = chance.randrange(1, 40)
        if chance.random() < 0.3:
            partition.remove(f"m{number}")
            held.pop(f"m{number}", None)
            continue
        text = " ".join(chance.choices(subjects, k=4)) + f" {step % 3}"
        kind = turn if number % 2 else fact
        item = kind(number, text, **({"session": f"s{number % 3}"} if number % 2 else {}))
        partition.put(item)
        held[item.id] = item
    embed(partition)
    fresh = filled(sorted(held.values(), key=lambda item: item.sequence))
    for query in ("tea on the river", "爬山", "order KX-48210"):
        mine, theirs = ask(partition, query, limit=40), ask(fresh, query, limit=40)
        np.testing.assert_allclose([hit.score for hit in mine], [hit.score for hit in theirs], atol=1e-5)


def large() -> tuple[Partition, int]:
    chance = random.Random(11)
    vocabulary = [f"word{number}" for number in range(600)]
    count = ALL_ROWS_MAX + 500
    partition = Partition(DIMENSIONS)
    for number in range(1, count + 1):
        partition.put(
            turn(number, " ".join(chance.choices(vocabulary, k=8)), session=f"s{number // 20}", event_ms=NOW)
        )
    partition.put(fact(count + 1, "The zither is tuned to G", attribute="instrument"))
    held = partition.without_vectors()
    vectors = np.random.default_rng(1).standard_normal((len(held), DIMENSIONS)).astype(np.float32)
    partition.set_vectors(held, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return partition, count + 1


class Scripted:
    """An index that knows one row."""

    def __init__(self, row: int) -> None:
        self.row = row

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        return np.array([self.row]), np.array([0.9], np.float32)


def test_a_large_partition_finds_by_word_by_vector_by_attribute_and_by_index() -> None:
    partition, last = large()
    assert ids(ask(partition, "zither"))[0] == f"m{last}"
    assert f"m{last}" in ids(ask(partition, "word5 word6", attributes=("instrument",)))
    target = np.ones(DIMENSIONS, np.float32) / np.sqrt(DIMENSIONS, dtype=np.float32)
    partition.set_vectors(["m77"], target[None])
    by_scan = partition.search(Query(text="nothing shared", vector=target, now_ms=NOW))
    label = partition.label("m77")
    assert label is not None
    by_index = partition.search(Query(text="nothing shared", vector=target, now_ms=NOW), Scripted(label))
    assert ids(by_scan)[0] == ids(by_index)[0] == "m77"


def test_query_texts_are_the_whole_and_its_segments() -> None:
    assert query_texts("one line only") == ("one line only",)
    assert query_texts("first\n\nsecond") == ("first\n\nsecond", "first", "second")
    assert query_texts("") == ("",)
    long = "这是第一句话，讲的是昨天去爬山的事情，很累。" * 4
    assert query_texts(long)[0] == long
    assert 2 <= len(query_texts(long * 20)) <= 9


@pytest.mark.parametrize("count", [20, ALL_ROWS_MAX + 1])
def test_a_search_that_was_prepared_finds_the_same_with_the_same_scores(count: int) -> None:
    partition = filled(
        [turn(number, f"{number}: the red lamp of room {number % 7}") for number in range(1, count + 1)]
    )
    text = "Where is the red lamp of room 3?"
    plain = Query(text=text, now_ms=NOW, attributes=("address",))
    ready = partition.prepared(plain)
    assert (ready is None) == (count > ALL_ROWS_MAX)
    query = Query(text=text, now_ms=NOW, attributes=("address",), vector=vector_of(text))
    assert partition.search(query, prepared=ready) == partition.search(query)


def test_the_message_of_a_superseded_fact_stands_below_that_of_its_successor() -> None:
    old, new = "My office is in Porto near the harbour", "My office is in Faro near the harbour"
    talk = [turn(1, old, source_ids=("a",), session="s1"), turn(2, new, source_ids=("b",), session="s2")]
    first = fact(3, "The office is in Porto", attribute="office", source_ids=("a",))
    second = fact(4, "The office is in Faro", attribute="office", source_ids=("b",), supersedes="m3")
    partition = filled([*talk, first])
    before = {hit.item.id: hit.why for hit in ask(partition, "office in Porto near the harbour")}
    assert "stale" not in before["m1"]
    partition.put(msgspec.structs.replace(first, state="superseded", superseded_by="m4"))
    partition.put(second)
    episodes = frozenset({"episode"})
    assert ids(ask(partition, "where is the office", vectors=False, kinds=episodes)) == ["m2", "m1"]
    partition.remove("m3")
    after = {hit.item.id: hit.why for hit in ask(partition, "office", kinds=episodes)}
    assert "stale" not in after["m1"]


def test_the_texts_of_a_query_are_in_the_first_person_of_the_speaker_it_names() -> None:
    partition = filled([turn(1, "I moved house", "Ada"), turn(2, "Oh no", "Bo")], vectors=False)
    assert partition.speakers == ("Ada", "Bo")
    assert partition.query_texts("When did Ada move?") == ("When did I move?",)
    assert partition.query_texts("When did Ada and Bo meet?") == ("When did Ada and Bo meet?",)
    partition.remove("m1")
    assert partition.query_texts("When did Ada move?") == ("When did Ada move?",)


def test_a_reply_stands_above_a_turn_of_the_same_words_that_answers_nothing() -> None:
    talk = [
        turn(1, "Which instrument do you practise?", "Bo"),
        turn(2, "Mostly the cello.", "Ada"),
        turn(3, "My neighbour came by.", "Ada"),
    ]
    hits = ask(filled(talk, vectors=False), "instrument practise", vectors=False)
    assert ids(hits)[0] == "m2"
    assert hits[0].why["reply"] > 0


def test_in_a_talk_with_an_assistant_a_question_may_be_the_statement() -> None:
    question = "Could you book a table at the harbour grill for nine guests?"
    alone = filled([turn(1, question, "Ada"), turn(2, "Lovely", "Bo")], vectors=False)
    served = filled(
        [turn(1, question, "Ada"), turn(2, "Done", "assistant", source="assistant")], vectors=False
    )
    shares = [
        hit.why["question"]
        for partition in (alone, served)
        for hit in ask(partition, "harbour grill guests", vectors=False)
        if hit.item.id == "m1"
    ]
    assert shares[0] < shares[1] < 0


def test_what_was_said_the_day_after_the_day_before_is_another_talk() -> None:
    asked = turn(1, "Which tea would you like to drink with the cake?")
    soon = turn(2, "Jasmine, please.", speaker="ada", event_ms=asked.event_ms + 6 * 60 * MINUTE)
    late = turn(2, "Jasmine, please.", speaker="ada", event_ms=asked.event_ms + 6 * 60 * MINUTE + 1)
    assert [hit.before for hit in ask(filled([asked, soon]), "jasmine", limit=1)] == [asked]
    assert [hit.before for hit in ask(filled([asked, late]), "jasmine", limit=1)] == [None]


@pytest.mark.parametrize(
    ("query", "days_ago"),
    [
        ("what did we talk about last week?", 7),
        ("what did we do yesterday?", 1),
        ("上周我们聊了什么", 7),
        ("前天我们去了哪儿", 2),
        ("what was it two months ago", 60),
    ],
)
def test_stretches_of_days_prefer_what_was_said_then(query: str, days_ago: int) -> None:
    ages = (400, 200, 60, 20, 7, 2, 1)
    items = [
        turn(at, f"We walked along the river 我们去了河边, {at}", session=f"s{at}", event_ms=NOW - DAY * age)
        for at, age in enumerate(ages, start=1)
    ]
    assert ids(ask(filled(items), query))[0] == f"m{ages.index(days_ago) + 1}"


def test_a_statement_is_found_by_the_day_it_tells_of() -> None:
    items = [
        turn(1, "I will see the dentist in ten days.", event_ms=NOW - DAY * 40),
        turn(2, "I will see the dentist some day.", session="t", event_ms=NOW - DAY * 15),
    ]
    assert ids(ask(filled(items), "what happened 30 days ago at the dentist"))[0] == "m1"


def test_a_note_about_the_user_is_found_by_the_attribute_it_tells_of() -> None:
    notes = [
        fact(1, "User has a severe walnut allergy", attribute="note"),
        *(fact(number, f"User likes soup number {number}", attribute="note") for number in range(2, 30)),
    ]
    hits = ask(filled(notes), "can I eat this?", attributes=("diet", "allergy"))
    assert ids(hits)[0] == "m1"
    assert hits[0].why["attribute"] > 0.3
    partition = filled(notes)
    partition.remove("m1")
    assert "m1" not in ids(ask(partition, "can I eat this?", attributes=("allergy",)))


def test_an_attribute_that_all_have_decides_nothing() -> None:
    items = [
        fact(number, f"likes dish {number}", attribute="likes", value=str(number)) for number in range(1, 9)
    ]
    items.append(fact(9, "lives in Rome", attribute="address", value="Rome"))
    hits = ask(filled(items), "dish 3, likes, address", attributes=("likes", "address"))
    shares = {hit.item.id: hit.why.get("attribute", 0) for hit in hits}
    assert shares["m9"] > 3 * shares["m3"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("What did I buy before the trip to Lisbon?", "m1"),
        ("What did I buy after the trip to Lisbon?", "m3"),
        ("去里斯本旅行之前我买了什么？", "m4"),
        ("去里斯本旅行之后我买了什么？", "m6"),
    ],
)
def test_before_and_after_are_counted_from_what_speaks_of_it(query: str, first: str) -> None:
    texts = [
        ("I bought a lamp for the desk.", 40),
        ("The trip to Lisbon was wonderful.", 30),
        ("I bought a lamp for the shelf.", 20),
        ("我买了一盏台灯。", 41),
        ("去里斯本旅行真开心。", 30),
        ("我买了一盏壁灯。", 19),
    ]
    items = [
        turn(at, text, session=f"s{at}", event_ms=NOW - DAY * age) for at, (text, age) in enumerate(texts, 1)
    ]
    lamps = [id for id in ids(ask(filled(items), query)) if id not in ("m2", "m5")]
    assert lamps[0] == first


def test_a_side_of_what_no_memory_speaks_of_decides_nothing() -> None:
    items = [turn(1, "I bought a lamp for the desk."), turn(2, "I bought a lamp for the shelf.", session="t")]
    asked = "What did I buy before the eclipse?"
    assert all("side" not in hit.why for hit in ask(filled(items), asked))
