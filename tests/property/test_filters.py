"""No order number, id, date or amount is ever taken for a secret, whatever stands around it; marks are stable."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from actormem.core.cards import is_card
from actormem.core.entities import find_entities
from actormem.core.filters import redacted, secrets
from actormem.core.hidden import HIDDEN, seen

LETTERS, DIGITS = "ABCDEFGHJKMNPQRSTUVWXYZ", "0123456789"


def of(alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most)


NUMBERS = st.one_of(
    st.builds("{}-{}".format, of(LETTERS, 2, 4), of(DIGITS, 4, 12)),
    st.builds("{}-{}-{}".format, of(LETTERS, 2, 3), of(DIGITS, 4, 8), of(DIGITS, 2, 4)),
    st.builds("{}{}".format, of(LETTERS, 1, 3), of(DIGITS, 8, 15)),
    st.builds("sk-{}-{}".format, of(DIGITS, 4, 10), of(DIGITS, 2, 6)),
    of(DIGITS, 10, 19),
    of(DIGITS, 15, 15).map(
        lambda body: next(f"4{body[1:]}{end}" for end in DIGITS if is_card(f"4{body[1:]}{end}"))
    ),
    st.uuids().map(str),
    of("0123456789abcdef", 40, 40),
)
CALLED = st.sampled_from(
    (
        "My order number is {}.",
        "I paid by card, the order is {}.",
        "Order {} was paid with my visa card.",
        "tracking number: {}",
        "invoice {} for the credit card reader",
        "I forgot my password, my order is {}.",
        "订单号是{}，用信用卡付的",
        "银行卡付款的订单{}什么时候到",
        "密码忘了，单号是{}",
        "运单号：{}",
    )
)


@given(CALLED, NUMBERS)
def test_a_number_that_is_called_an_orders_survives(called: str, number: str) -> None:
    text = called.format(number)
    assert redacted(text) is text


@given(NUMBERS.filter(lambda number: not number.isdigit()), of("我的在是。，", 0, 6))
def test_ids_of_letters_and_digits_survive_whatever_stands_around_them(number: str, around: str) -> None:
    text = f"card password {around} {number} {around} 信用卡"
    assert number in redacted(text)


PIECES = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            ("sk-aB3dE5fG7hJ9kL1mN2pQ", "password is heron42", "密码是heron42", "card 4012888888881881",
             "\u200b", "[redacted key]", "Bearer ", "://a:b@c", "-----BEGIN PRIVATE KEY-----", "\n")
        ),
    ),
    max_size=8,
).map("".join)  # fmt: skip


@given(PIECES)
def test_what_was_redacted_has_no_secret_left_and_spans_stay_apart(text: str) -> None:
    found = secrets(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    left = redacted(text)
    assert redacted(left) == left


@given(st.text(st.sampled_from("ab \u200b\u2060\ufe0f\u200d\u2764中")))
def test_a_span_of_what_is_seen_is_the_same_words_where_they_stand(text: str) -> None:
    view = seen(text)
    for start in range(len(view.text)):
        piece = text[slice(*view.span(start, len(view.text)))]
        assert HIDDEN.sub("", text).endswith(view.text[start:])
        assert seen(piece).text.replace("\ufe0f", "").replace("\u200d", "") == view.text[start:].replace(
            "\ufe0f", ""
        ).replace("\u200d", "")


@given(NUMBERS)
def test_what_entities_find_in_a_plain_message_survives(number: str) -> None:
    text = f"Please look up {number} for 2031-03-09, ¥1,284.50, ada@example.org"
    left = redacted(text)
    assert all(entity.value in left for entity in find_entities(text))
