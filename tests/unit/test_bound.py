"""The bound for models whose vocabulary is not here: cautious until measured, then never below the measure."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.adapters.bound import BoundTokenizer
from actormem.adapters.bytes import BytesTokenizer
from actormem.adapters.toktok import ToktokTokenizer

O200K = ToktokTokenizer()
OTHERS = {name: ToktokTokenizer(name) for name in ("cl100k_base", "qwen3.5")}
BOUND = BoundTokenizer(O200K, 1.5)
ANY = st.text(st.characters(exclude_categories=()), max_size=60)
TEXTS = st.lists(
    st.sampled_from(
        (
            "订单 ",
            "KX-48210",
            "20310309",
            " the parcel ",
            "👩‍👩‍👧",
            "<|endoftext|>",
            "\ud83d",
            "é",
            "\n\n",
            "{}",
            "没有收到货",
        )
    ),
    max_size=12,
).map("".join)
QUIET = settings(max_examples=150, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("的", 3),
        ("退款", 6),
        ("48210", 5),
        ("é", 2),
        ("a", 1),
        ("I would like to know when it arrives", 14),  # 8 by o200k: 12, and 2
        ("KX-48210", 8),
        ("\ud83d", 3),
    ],
)
def test_each_kind_of_text_has_its_cautious_price(text: str, tokens: int) -> None:
    assert BOUND.count(text) == tokens


@QUIET
@given(text=TEXTS | ANY)
def test_what_is_not_measured_lies_between_the_base_and_the_bytes(text: str) -> None:
    assert O200K.count(text) <= BOUND.count(text) <= BytesTokenizer().count(text)


@QUIET
@given(text=TEXTS)
@pytest.mark.parametrize("name", OTHERS)
def test_no_vocabulary_that_is_here_counts_more(name: str, text: str) -> None:
    assert OTHERS[name].count(text) <= BOUND.count(text)


@pytest.mark.parametrize("name", OTHERS)
def test_single_sentences_of_two_languages_are_within_the_bound(name: str) -> None:
    for text in (
        "您好，请问我上周三在杭州门店买的净水器什么时候能上门安装？",
        "客服说赔付金额为人民币壹万贰仟叁佰元整，我不同意。",
        "喵星人踩奶奶瓶瓶盖盖",
        "The serial number is 88210034567781200917.",
        "Zanzibar's anaesthetist misspelt sesquipedalian quinquagenarians.",
    ):
        assert OTHERS[name].count(text) <= BOUND.count(text)


@QUIET
@given(text=TEXTS | ANY, factor=st.floats(1, 8), wide=st.booleans())
def test_a_measured_count_is_never_below_the_factor_times_the_base(
    text: str, factor: float, wide: bool
) -> None:
    counted = BoundTokenizer(O200K, factor, measured=True, wide=wide).count(text)
    assert counted >= math.ceil(factor * O200K.count(text))


def test_what_prose_in_english_measures_leaves_chinese_and_digits_at_their_cautious_price() -> None:
    english = BoundTokenizer(O200K, 1.1, measured=True)
    both = BoundTokenizer(O200K, 1.1, measured=True, wide=True)
    words, chinese, digits = "when does the parcel arrive", "没有收到货", "20310309"
    assert english.count(words) == both.count(words) == math.ceil(1.1 * O200K.count(words))
    assert english.count(chinese) == 15 > both.count(chinese) == math.ceil(1.1 * O200K.count(chinese))
    assert english.count(digits) == both.count(digits) == 8


def test_the_name_says_the_factor_and_whether_it_was_measured() -> None:
    assert BOUND.name == "o200k_base*1.5"
    measured = BoundTokenizer(O200K, 1.23456, measured=True)
    assert (measured.name, measured.exact) == ("o200k_base*1.235 measured", False)


@QUIET
@given(text=TEXTS | ANY, tokens=st.integers(-1, 80), measured=st.booleans())
def test_a_cut_is_within_the_tokens_and_a_text_that_fits_stays_whole(
    text: str, tokens: int, measured: bool
) -> None:
    tokenizer = BoundTokenizer(O200K, 1.4, measured=measured)
    cut = tokenizer.truncate(text, tokens)
    assert text.startswith(cut)
    assert tokenizer.count(cut) <= max(0, tokens)
    if tokenizer.count(text) <= tokens:
        assert cut == text
