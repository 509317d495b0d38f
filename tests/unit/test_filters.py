"""Secrets are found by their looks or by what they are called; nothing else is taken for one."""

import pytest

from actormem.core.cards import is_card
from actormem.core.filters import redacted, secrets, without_redacted
from actormem.core.hidden import seen, unhidden

MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"  # of no one: letters and digits in turn
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
KEYS = [
    f"sk-{MIXED}",
    f"sk-proj-{MIXED}_{MIXED}-x",
    f"sk-ant-api03-{MIXED}-{MIXED}",
    f"sk_live_{MIXED}",
    f"ghp_{MIXED}abcd",
    f"github_pat_{MIXED}",
    f"glpat-{MIXED}",
    "AKIA" + "QZ7WX2CV5BN8MK3L",
    f"LTAI{MIXED[:20]}",
    "xoxb-2048-4096-" + MIXED,
    "AIza" + (MIXED + "z-_")[:35],
    f"hf_{MIXED}",
    f"SG.{MIXED[:22]}.{MIXED}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{MIXED}\n{MIXED}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{MIXED}",
]
JWT = f"eyJ{MIXED}.eyJ{MIXED}.{MIXED}"
VISA, UNIONPAY = "4012 8888 8888 1881", "6222026666666668"
PASSWORDS = [
    ("My wifi password is heron42, write it down.", "heron42"),
    ("password: Blue-Kite!7", "Blue-Kite!7"),
    ("The password for order KX-48210 is mango99", "mango99"),
    ("I changed my password to swordfish last night", "swordfish"),
    ('{"user": "ada", "password": "hush-hush"}', "hush-hush"),
    ("passphrase = 'four sleepy green owls'", "four sleepy green owls"),
    ("登录密码是heron42，别忘了", "heron42"),
    ("WiFi密码：Blue＃Kite7。房间在三楼", "Blue＃Kite7"),
    ("密码我改成了 mango99", None),
    ("口令就是 night-owl-7", "night-owl-7"),
    (f"api key: {HEX}", HEX),
    (f"密钥是{MIXED}", MIXED),
    (f"Authorization: Bearer {MIXED}", MIXED),
    ("postgres://ada:pa55word@db.example/shop", "pa55word"),
]
HARMLESS = [
    "My order number is KX-48210-77 and the parcel is SF1234567890123.",
    "订单号 6222026666666668，运单 4012888888881881。",
    "I paid by card for order 4012888888881881.",
    "4012 8888 8888 1881 is a long number",
    "card 4012 8888 8888 1882",  # the check digit is wrong
    "card 1234 5678 9012 3452",  # no issuer's prefix
    "我的车牌在卡车上，编号4012888888881881",
    "My password is wrong, what now?",
    "I forgot my password.",
    "The password should be at least 12 characters.",
    "Enter the password to continue.",
    "密码是多少？",
    "密码错了，订单号是KX-48210",
    "密码重置后订单号是KX-48210",
    "password for my order number is KX-48210",
    "password: ********",
    "pip install sk-learn-contrib-packages-and-friends",
    "task-runner and ask-me-anything-2024-edition",
    "commit 9f3c2ab1d4e5f60718293a4b5c6d7e8f90a1b2c3",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "The bearer of good news",
    "api key: see below",
    "the token is 12",
    "日期 2031-03-09，金额 ¥1,284.50，电话 138-1234-5678",
]


@pytest.mark.parametrize("key", KEYS, ids=[key[:12] for key in KEYS])
def test_keys_are_found_by_their_prefix_and_only_they_go(key: str) -> None:
    assert redacted(f"My key: {key}") == "My key: [redacted key]"
    assert redacted(f"我的是{key}") == "我的是[redacted key]"


def test_web_tokens_go_whole() -> None:
    assert redacted(f"use {JWT}, please") == "use [redacted token], please"


@pytest.mark.parametrize(
    "text",
    [
        f"My card is {VISA}, exp 09/31.",
        f"Visa {VISA}",
        f"{VISA} (credit card)",
        f"我的信用卡号是{UNIONPAY}",
        f"银行卡：{VISA}",
        f"order KX-48210, card {VISA}",
    ],
)
def test_cards_are_found_where_a_word_for_cards_is_nearest(text: str) -> None:
    left = redacted(text)
    assert "[redacted card]" in left
    assert VISA not in left
    assert UNIONPAY not in left
    assert left.count("[") == 1


def test_the_check_digit_decides() -> None:
    assert [end for end in range(10) if is_card(f"401288888888188{end}")] == [1]


@pytest.mark.parametrize(("text", "secret"), PASSWORDS)
def test_what_is_called_a_password_goes_and_all_else_stays(text: str, secret: str | None) -> None:
    if secret is None:
        secret = "mango99"
    left = redacted(text)
    assert secret not in left
    before, after = text.split(secret)
    assert left.startswith(before)
    assert left.endswith(after)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redacted(text) is text


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u202e", "\U000e0041", "\ufe0f"])
def test_hidden_characters_hide_no_secret(hidden: str) -> None:
    key = f"sk-{MIXED}"
    split = hidden.join((key[:9], key[9:20], key[20:]))
    assert redacted(f"a {split} b") == "a [redacted key] b"


def test_full_width_digits_hide_no_card() -> None:
    wide = "".join(chr(ord(digit) + 0xFEE0) for digit in UNIONPAY)
    assert redacted(f"银行卡号{wide}，谢谢") == "银行卡号[redacted card]，谢谢"


def test_spans_are_exact_and_in_order() -> None:
    key = f"sk-{MIXED}"
    text = f"密码是heron42；{key}；card {VISA}"
    found = secrets(text)
    assert [text[one.start : one.end] for one in found] == ["heron42", key, VISA]
    assert [one.kind for one in found] == ["password", "key", "card"]


def test_words_kept_without_their_secrets_are_found_again_in_the_whole() -> None:
    said = "Listen: my password is heron42. My cat is Moss."
    assert (
        without_redacted(said, "my password is [redacted password]", "[forgotten]")
        == "Listen: [forgotten]. My cat is Moss."
    )
    assert without_redacted(said, "My cat is Moss", "[forgotten]") == said


def test_what_is_seen_knows_its_places() -> None:
    text = "pea\u200b\u200bnut \u2764\ufe0f!"
    view = seen(text)
    assert view.text == "peanut \u2764\ufe0f!", "what belongs to an emoji is seen"
    assert text[slice(*view.span(0, 6))] == "pea\u200b\u200bnut"
    assert unhidden("plain") == "plain"
