"""Words, the inverted index and the counts that neighbours share."""

import random

import numpy as np
import pytest

from actormem.core.recall.lexical import LexicalIndex, bm25, query_weights
from actormem.core.recall.neighbours import SIDE, Neighbours
from actormem.core.recall.words import Words, normal_text, token_count


@pytest.fixture
def words() -> Words:
    return Words()


def test_a_chinese_word_inside_a_run_is_among_the_terms(words: Words) -> None:
    terms = words.terms("周末我常去爬山看猫")
    assert {"爬山", "猫", "周末"} <= set(terms)


def test_a_latin_word_inside_chinese_is_a_term_of_its_own(words: Words) -> None:
    terms = set(words.terms("我用Python写了订单系统"))
    assert {"python", "订单", "系统"} <= terms


def test_function_characters_and_stop_words_are_no_terms(words: Words) -> None:
    assert words.terms("的了吗") == []
    assert words.terms("What is the") == []


def test_english_words_are_found_in_any_of_their_forms(words: Words) -> None:
    assert words.terms("running") == words.terms("runs") == words.terms("RUN")
    assert words.terms("allergies") == words.terms("allergy")


def test_an_id_is_found_whole_in_parts_and_by_its_last_digits(words: Words) -> None:
    terms = set(words.terms("Order KX-48210-77 was sent"))
    assert {"kx-48210-77", "kx", "48210", "77"} <= terms
    assert "8000" in words.terms("电话13800138000")
    assert {"kx48210", "kx", "48210"} <= set(words.terms("KX48210"))


def test_an_email_is_found_whole_and_in_parts(words: Words) -> None:
    assert {"ada.w@example.com", "ada", "exampl"} <= set(words.terms("mail ada.w@example.com"))


def test_full_width_and_thousands_are_written_one_way() -> None:
    assert normal_text("ＫＸ－４８２１０") == "kx-48210"
    assert normal_text("it cost 1,250,000 yuan") == "it cost 1250000 yuan"
    assert normal_text("rooms 1,2,3") == "rooms 1,2,3"


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 lone", "🙂🙂", "'\"-:*(AND", " \n\t"])
def test_no_text_raises(words: Words, text: str) -> None:
    assert isinstance(words.terms(text), list)
    assert token_count(text) >= 0


def test_what_is_removed_leaves_no_term_behind() -> None:
    index = LexicalIndex()
    index.add(0, ["tea", "green", "tea"])
    index.add(1, ["tea", "black"])
    index.remove(0)
    assert len(index) == 1
    assert "green" not in index
    assert index.rows_of("tea").tolist() == [1]
    index.remove(1)
    assert "tea" not in index


def test_rows_stay_in_order_when_an_old_row_is_used_again() -> None:
    index = LexicalIndex()
    chance = random.Random(7)
    held: dict[int, list[str]] = {}
    for _ in range(400):
        row = chance.randrange(30)
        if row in held:
            index.remove(row)
            del held[row]
        else:
            held[row] = [chance.choice("abcdefgh") for _ in range(5)]
            index.add(row, held[row])
    for term in "abcdefgh":
        assert index.rows_of(term).tolist() == sorted(row for row, terms in held.items() if term in terms)


def test_a_rare_term_is_more_telling_than_a_common_one_and_an_unknown_one_most() -> None:
    index = LexicalIndex()
    for row in range(10):
        index.add(row, ["common", f"rare{row}"])
    common, rare, unknown = index.idf(["common", "rare3", "nowhere"]).tolist()
    assert 0 < common < rare < unknown


def test_postings_give_place_row_and_count() -> None:
    index = LexicalIndex()
    index.add(0, ["tea", "tea", "cup"])
    index.add(1, ["cup"])
    found = index.postings(["cup", "none", "tea"], None)
    assert list(zip(found.terms.tolist(), found.rows.tolist(), found.counts.tolist(), strict=True)) == [
        (0, 0, 1.0),
        (0, 1, 1.0),
        (2, 0, 2.0),
    ]
    only = index.postings(["cup", "tea"], np.array([False, True]))
    assert only.rows.tolist() == [1]


def test_best_rows_are_eligible_ones_with_the_heaviest_terms() -> None:
    index = LexicalIndex()
    index.add(0, ["tea", "cup"])
    index.add(1, ["tea"])
    index.add(2, ["tea", "cup"])
    eligible = np.array([True, True, False])
    assert index.best_rows({"tea": 1.0, "cup": 2.0}, 1, 3, eligible).tolist() == [0]
    assert sorted(index.best_rows({"tea": 1.0}, 9, 3, eligible).tolist()) == [0, 1]


def test_bm25_grows_with_counts_and_falls_with_length() -> None:
    counts = np.array([[1, 2, 1]], np.float32)
    lengths = np.array([10, 10, 40], np.float32)
    one, two, long = bm25(counts, lengths, 20.0, np.array([1.0])).tolist()
    assert two > one > long > 0


def test_a_repeated_query_term_counts_a_little_more() -> None:
    weights = query_weights(["tea", "tea", "cup"])
    assert 1 == weights["cup"] < weights["tea"] < 2


def spread_of(neighbours: Neighbours, index: LexicalIndex, terms: list[str], rows: int) -> np.ndarray:
    place = np.arange(len(neighbours.length))
    place[rows:] = -1
    return neighbours.counts(index.postings(terms, None), len(terms), place, rows)[1]


def said_ms(order: int) -> int:
    """A minute a turn; every hundredth begins a day."""
    return order // 100 * 86_400_000 + order % 100 * 60_000


def placed(session_rows: list[tuple[int, str, int, list[str]]]) -> tuple[Neighbours, LexicalIndex]:
    neighbours, index = Neighbours(), LexicalIndex()
    neighbours.reserve(64)
    for row, session, order, terms in session_rows:
        neighbours.place(row, session, order, said_ms(order), len(terms), index.add(row, terms))
    return neighbours, index


def test_words_spread_to_neighbours_in_the_session_and_fade_with_distance() -> None:
    neighbours, index = placed([(row, "s", row, ["tea"] if row == 0 else ["cup"]) for row in range(6)])
    shares = spread_of(neighbours, index, ["tea"], 6)[0].tolist()
    assert shares[0] == 1.0
    assert 1 > shares[1] > shares[2] > shares[3] > shares[4] > 0
    assert shares[5] == 0, "only four turns on either side"


def test_words_do_not_cross_sessions_and_facts_stand_alone() -> None:
    neighbours, index = placed([(0, "s", 0, ["tea"]), (1, "t", 1, ["cup"]), (2, "", 2, ["cup"])])
    assert spread_of(neighbours, index, ["tea"], 3)[0].tolist() == [1.0, 0.0, 0.0]
    assert neighbours.spread[2] == 1.0


def test_a_long_neighbour_gives_less() -> None:
    near, far = ["tea"] + ["word"] * 5, ["tea"] + ["word"] * 80
    short = spread_of(*placed([(0, "s", 0, near), (1, "s", 1, ["cup"])]), ["tea"], 2)[0]
    long = spread_of(*placed([(0, "s", 0, far), (1, "s", 1, ["cup"])]), ["tea"], 2)[0]
    assert short[1] > 2 * long[1] > 0


def test_neighbours_are_the_same_however_the_rows_came_and_went() -> None:
    orders = [*range(12), *range(100, 106)]  # the last six on another day
    rows = [(row, "s", order, ["tea"] * (row % 3 + 1)) for row, order in enumerate(orders)]
    straight, _ = placed(rows)
    mixed = list(rows)
    random.Random(3).shuffle(mixed)
    shuffled, _ = placed(mixed)
    for neighbours in (straight, shuffled):
        assert set(neighbours.take_out(5)) == {1, 2, 3, 4, 6, 7, 8, 9}
    np.testing.assert_allclose(straight.spread, shuffled.spread, rtol=1e-5)
    np.testing.assert_array_equal(straight.previous, shuffled.previous)
    assert straight.spread_total == pytest.approx(float(straight.spread.sum()), rel=1e-5)
    assert straight.around(6, 2) == ((3, 4), (7, 8))
    assert straight.around(11, 2) == shuffled.around(11, 2) == ((9, 10), ())
    assert straight.previous[12] == -1
    assert not straight.give[11, SIDE:].any()


def test_other_forms_of_a_verb_are_found_by_its_base() -> None:
    words = Words()
    assert words.terms("She bought children's shoes") == [*words.terms("buy child"), *words.terms("shoe")]
    assert words.terms("went") == words.terms("going")
