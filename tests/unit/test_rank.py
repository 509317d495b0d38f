"""The parts of the score, dates, cues and duplicates."""

import numpy as np
import pytest

from actormem.core.recall.conflicts import newest_first
from actormem.core.recall.cues import answer_types, asked_types, first_person, named_speaker, question_share
from actormem.core.recall.duplicates import distinct, says_the_same
from actormem.core.recall.named_dates import NamedDate, date_nearness, day_number, named_dates
from actormem.core.recall.rank import closeness, fuse, recency_share, relevance, session_prior, stretch
from actormem.core.recall.words import Words
from actormem.core.values import Hit, Item, Owner

ADA = Owner("", "ada")


def item(text: str, **more: object) -> Item:
    fields: dict[str, object] = {"id": text, "owner": ADA, "kind": "fact", "text": text, **more}
    return Item(**fields)  # type: ignore[arg-type]


def hit(text: str, score: float, **more: object) -> Hit:
    return Hit(item=item(text, **more), score=score)


def test_stretch_lifts_the_best_and_keeps_the_order() -> None:
    assert stretch(np.array([0.2, 0.4, 0.6])).tolist() == pytest.approx([0.0, 0.25, 1.0])
    assert stretch(np.array([0.5, 0.5])).tolist() == [0.0, 0.0]
    assert max(stretch(np.array([0.5, 0.51])).tolist()) < 0.01, "a hair's breadth is chance"
    assert stretch(np.array([])).tolist() == []


def test_a_session_is_as_good_as_its_three_best_turns() -> None:
    shares = np.array([0.9, 0.3, 0.6, 0.1, 0.9])
    prior = session_prior(shares, np.array([7, 7, 7, 7, -2]))
    assert prior.tolist() == pytest.approx([0.6, 0.6, 0.6, 0.6, 0.3])


def test_recency_halves_after_a_half_life_and_the_future_is_new() -> None:
    shares = recency_share(np.array([0.0, 30.0, 60.0, -5.0]), np.full(4, 30.0))
    assert shares.tolist() == [1.0, 0.5, 0.25, 1.0]


def test_one_good_kind_of_evidence_makes_relevant_and_two_make_it_surer() -> None:
    words = {"lexical": np.array([0, 0.6, 0, 0.6])}
    none, by_words, by_meaning, by_both = relevance(words, np.array([0.1, 0.1, 0.5, 0.5])).tolist()
    assert none == 0
    assert by_words == pytest.approx(0.6)
    assert 0.5 < by_meaning < by_both < 1


@pytest.mark.parametrize("usual", [0.0, 0.75])
def test_closeness_is_measured_from_what_is_usual_for_the_embedder(usual: float) -> None:
    sample = usual + np.linspace(0, 0.05, 100)
    far, near = closeness(np.array([usual, usual + (1 - usual) * 0.6]), sample).tolist()
    assert far < 0.05
    assert near == pytest.approx(0.6, abs=0.05)
    assert closeness(np.array([usual]), sample[:5]).tolist() == [usual], "too few to tell"


def test_fuse_adds_evidence_and_takes_penalties_off() -> None:
    good, asking = fuse({"lexical": np.array([1.0, 1.0]), "question": np.array([0.0, 0.5])}, 2).tolist()
    assert 0 < asking < good


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("What happened on 7 May 2023?", NamedDate(5, 2023, 7)),
        ("the trip of May 7th, 2023", NamedDate(5, 2023, 7)),
        ("her job in June 2022", NamedDate(6, 2022)),
        ("what did I buy in March", NamedDate(3)),
        ("the call on 2024-02-03", NamedDate(2, 2024, 3)),
        ("2023年5月7日说了什么", NamedDate(5, 2023, 7)),
        ("五月份的旅行", NamedDate(5)),
        ("5月7号的会", NamedDate(5, 0, 7)),
        ("the party in may", NamedDate(5)),
    ],
)
def test_dates_are_read_in_both_languages(text: str, date: NamedDate) -> None:
    assert named_dates(text) == (date,)


@pytest.mark.parametrize(
    "text", ["you may leave", "march on", "何时", "decide", "3个月", "x" * 500 + " 2023-05-07"]
)
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert [date for date in named_dates(text) if date.month == 5] == []


def test_the_day_and_the_day_after_are_near_a_date() -> None:
    days = np.array(
        ["2023-05-07", "2023-05-08", "2023-05-04", "2023-05-30", "2023-06-20", "2022-05-07"], "datetime64[D]"
    ).astype(np.int32)
    assert date_nearness((NamedDate(5, 2023, 7),), days).tolist() == [1.0, 1.0, 0.4, 0.1, 0.0, 0.0]
    assert date_nearness((NamedDate(5, 2023),), days).tolist() == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert date_nearness((NamedDate(5, 0, 7),), days).tolist() == [1.0, 1.0, 0.4, 0.1, 0.0, 1.0]


def test_the_day_is_that_of_the_speaker() -> None:
    late_in_utc = 1_682_895_600_000  # 2023-04-30T23:00Z
    assert day_number(late_in_utc, 480) == day_number(late_in_utc, 0) + 1


def test_a_turn_that_only_asks_is_known_in_both_languages() -> None:
    assert question_share("Where did you go?") > 0.5
    assert question_share("你去哪儿了？") > 0.5
    assert question_share("I went home. And you?") < 0.5
    assert question_share("I went home.") == 0
    assert question_share("") == 0


def test_what_a_query_asks_for_and_what_a_text_holds() -> None:
    assert asked_types("When did she leave?").tolist() == [True, False, False, False]
    assert asked_types("谁有多少钱").tolist() == [False, True, False, True]
    assert answer_types("we met Robin in Oslo at 10:30")[:3] == (True, True, True)
    assert answer_types("昨天花了三百元")[:2] == (True, True)
    assert not any(answer_types("so nice"))


def test_a_speaker_counts_only_where_one_alone_is_named() -> None:
    speakers = ["Ada", "Bo Lin", "小明", "user"]
    assert named_speaker("what did Ada's sister say", speakers) == "Ada"
    assert named_speaker("Ada and Bo Lin", speakers) == ""
    assert named_speaker("小明喜欢什么", speakers) == "小明"
    assert named_speaker("adamant user", speakers) == ""


@pytest.mark.parametrize(
    ("query", "name", "own"),
    [
        ("When did Ada move?", "Ada", "When did I move?"),
        ("What is Ada's plan", "Ada", "What is my plan"),
        ("Does ada like Adams?", "Ada", "Do I like Adams?"),
        ("小明周末去哪儿", "小明", "我周末去哪儿"),
    ],
)
def test_a_query_about_a_speaker_is_put_in_the_speakers_words(query: str, name: str, own: str) -> None:
    assert first_person(query, name) == own


def test_near_duplicates_say_the_same() -> None:
    assert says_the_same(item("The user likes green tea."), item("the user likes green tea"))
    assert says_the_same(item("用户喜欢喝绿茶。"), item("用户喜欢喝绿茶"))
    assert not says_the_same(item("The user likes green tea"), item("The user likes long walks"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user lives in room 12 of the old mill", "The user lives in room 14 of the old mill"),
        ("用户的预算是五千元左右的笔记本电脑一台", "用户的预算是六千元左右的笔记本电脑一台"),
        ("用户很喜欢在周末去公园里跑步锻炼身体", "用户不喜欢在周末去公园里跑步锻炼身体"),
        ("the user does like fish in the evening", "the user does not like fish in the evening"),
    ],
)  # fmt: skip
def test_differing_numbers_and_negations_veto(one: str, other: str) -> None:
    assert not says_the_same(item(one), item(other))


def test_the_same_words_of_two_speakers_are_two_things() -> None:
    one, other = (item("I live in Oslo", kind="episode", speaker=name, id=name) for name in ("Ada", "Bo"))
    assert not says_the_same(one, other)


def test_distinct_keeps_the_better_and_fills_up_to_the_limit() -> None:
    hits = [
        hit("likes green tea", 0.9),
        hit("Likes green tea!", 0.8),
        hit("has a cat", 0.7),
        hit("runs", 0.6),
    ]
    assert [kept.item.text for kept in distinct(hits, 2)] == ["likes green tea", "has a cat"]


def test_a_fact_takes_the_place_of_the_episode_that_says_the_same() -> None:
    hits = [
        hit("I like green tea", 0.9, kind="episode", speaker="user", id="e"),
        hit("i like green tea.", 0.5),
    ]
    (kept,) = distinct(hits, 5)
    assert kept.item.kind == "fact"
    assert kept.score == 0.9


def test_a_fact_below_its_message_is_left_out_and_above_it_the_message_stays_if_it_says_more() -> None:
    message = "I moved the piano to the cellar because the damp in the attic ruined the strings, sadly"
    episode = hit(message, 0.9, kind="episode", speaker="user", source_ids=("x",))
    fact = hit("The user keeps the piano in the cellar", 0.8, value="cellar", source_ids=("x",))
    assert [kept.item.kind for kept in distinct([episode, fact], 5)] == ["episode"]
    assert [kept.item.kind for kept in distinct([fact, episode], 5)] == ["fact", "episode"]


def test_a_message_that_says_no_more_than_its_fact_is_left_out() -> None:
    fact = hit("用户打算参加陶艺工作坊", 0.9, value="参加陶艺工作坊", source_ids=("x",))
    episode = hit("我打算参加陶艺工作坊。", 0.8, kind="episode", speaker="user", source_ids=("x",))
    other = hit("我打算参加陶艺工作坊三次。", 0.7, kind="episode", speaker="user", source_ids=("y",))
    assert [kept.item.kind for kept in distinct([fact, episode, other], 5)] == ["fact", "episode"]


def test_the_newer_of_two_conflicting_statements_stands_above_the_older() -> None:
    words = Words()
    old = hit("The deposit for the flat is 900 euros", 0.9, kind="episode", speaker="user", event_ms=1)
    other = hit("The flat has a balcony", 0.8, kind="episode", speaker="user", event_ms=2)
    new = hit("The deposit for the flat is 1200 euros now", 0.7, kind="episode", speaker="user", event_ms=3)
    telling = dict.fromkeys(words.terms("how much is the deposit for the flat"), 1.0)
    hits = newest_first([old, other, new], "how much is the deposit for the flat", telling, words)
    assert [one.item.event_ms for one in hits] == [3, 1, 2]
    assert [one.score for one in hits] == [0.9, 0.8, 0.7]
    asked = "how did the deposit for the flat change"
    assert newest_first([old, other, new], asked, telling, words) == (old, other, new)


def test_statements_of_two_speakers_or_of_two_matters_do_not_conflict() -> None:
    words = Words()
    telling = dict.fromkeys(words.terms("押金是多少"), 1.0)
    old = hit("房子的押金是3000元", 0.9, kind="episode", speaker="小林", event_ms=1)
    theirs = hit("房子的押金是5000元", 0.7, kind="episode", speaker="小周", event_ms=2)
    assert newest_first([old, theirs], "押金是多少", telling, words) == (old, theirs)
    mine = hit("房子的押金是5000元", 0.7, kind="episode", speaker="小林", event_ms=2)
    assert [one.item.event_ms for one in newest_first([old, mine], "押金是多少", telling, words)] == [2, 1]
    matter = hit("下周的机票花了5000元，从上海出发", 0.7, kind="episode", speaker="小林", event_ms=2)
    assert newest_first([old, matter], "押金是多少", telling, words) == (old, matter)
