"""The gate: small talk asks nothing of memory, all else does, a thin question takes the one before."""

import pytest

from actormem.core.recall.gate import QUERY_CHARACTERS, gate


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello!",
        "hey there",
        "Thanks a lot!!",
        "thank you so much 🙏",
        "thx",
        "OK",
        "okay, got it",
        "Yes please.",
        "yep",
        "Good morning",
        "Ｈｅｌｌｏ",
        "that is all for now, bye",
        "你好",
        "您好！",
        "早上好呀",
        "谢谢！",
        "非常感谢",
        "多谢啦",
        "好的",
        "嗯嗯",
        "收到，谢谢",
        "明白了",
        "知道了",
        "辛苦了",
        "没问题",
        "不客气",
        "哈哈哈",
        "晚安",
        "再见",
        "OK，谢谢👌",
    ],
)
def test_greetings_thanks_and_acknowledgements_keep_it_closed(text: str) -> None:
    decided = gate(text, before=["我的订单号是 KX-48210"])
    assert (decided.open, decided.reason, decided.query) == (False, "small talk", "")


@pytest.mark.parametrize(
    "text", ["", "   \n", "👍", "🙏🙏", "❤️", "👩‍👩‍👧", "？？", "...", "。", "\u200b", "¯\\_( )_/¯ "]
)
def test_no_words_keep_it_closed(text: str) -> None:
    decided = gate(text, before=["before"])
    assert (decided.open, decided.query) == (False, "")


@pytest.mark.parametrize(
    "text",
    [
        "我的订单号是多少？",
        "那我的订单 KX-48210 退款要多久",
        "你还记得我住哪儿吗",
        "谢谢，我的地址是什么？",
        "What is my budget?",
        "thanks, and what was the order number?",
        "is it good for my allergy?",
        "where do I live",
        "1️⃣ 还是 2️⃣ ?",
        "KX-48210",
        "没收到",
        "不明白",
        "你好像没明白",
        "merci, où est ma commande ?",
    ],
)
def test_questions_open_it_with_their_own_words(text: str) -> None:
    decided = gate(text)
    assert decided.open
    assert decided.query == text.strip()


def test_a_statement_opens_it_and_says_so() -> None:
    before = ["Good evening to all of you out there"]
    assert gate("I moved to 12 Larch Road last week.", before=before).reason == "a statement"
    assert gate("我上周搬到了杭州市文三路 12 号。", before=before).reason == "a statement"
    assert gate("我上周搬到了哪里你还记得清楚？", before=before).reason == "a question"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Book the usual table for the two of us, please.", "refers to what was said"),
        ("按之前的地址寄给他们公司前台就可以了。", "refers to what was said"),
        ("Where did I leave the bicycle", "a question"),
        ("Refund order KX-48210 to the blue card", "names a value"),
        ("请把 KX-48210 退到蓝色那张银行卡", "names a value"),
    ],
)
def test_the_reason_says_what_recall_may_help_with(text: str, reason: str) -> None:
    assert gate(text, before=["Good evening to all of you out there"]).reason == reason


@pytest.mark.parametrize("text", ["Recommend a quiet restaurant nearby", "推荐一家安静的饭店吧，离家近一点"])
def test_the_first_message_of_a_session_is_asked_with(text: str) -> None:
    assert gate(text).reason == "a new session"
    assert gate(text, before=["Good evening to all of you out there"]).reason == "a statement"


def test_a_thin_message_after_a_thin_one_takes_both() -> None:
    before = ["帮我看看登山鞋有没有四十二码的", "红色的呢", "谢谢"]
    assert gate("多少钱", before=before).query == "帮我看看登山鞋有没有四十二码的\n红色的呢\n多少钱"
    assert (
        gate("how much", before=["blue, and older", "red one", "size ten"]).query
        == "red one\nsize ten\nhow much"
    )


def test_a_short_message_with_a_value_of_its_own_asks_alone() -> None:
    assert gate("KX-48210 呢？", before=["我的蓝色水壶寄出了吗？"]).query == "KX-48210 呢？"


@pytest.mark.parametrize("text", ["那个呢？", "它怎么样了？", "and that one?", "what about it?"])
def test_a_pure_reference_asks_with_the_values_of_the_last_answer_too(text: str) -> None:
    reply = "Order KX-11111 has left. The other one is KX-22222."
    asked = gate(text, before=["Which of my orders have been shipped so far?"], reply=reply)
    assert asked.query == f"Which of my orders have been shipped so far?\nKX-22222\n{text}"


def test_what_is_more_than_a_reference_does_not_take_values_of_the_answer() -> None:
    assert (
        "KX-22222"
        not in gate("红色水壶呢？", before=["查一下我最近的订单吧，谢谢"], reply="KX-22222。").query
    )


@pytest.mark.parametrize("text", ["那个呢？", "那他呢", "why?", "and mine?", "多少钱"])
def test_a_short_message_asks_with_the_one_before(text: str) -> None:
    decided = gate(text, before=["我的蓝色水壶寄出了吗？"])
    assert decided.open
    assert decided.reason == "short message, asked with those before"
    assert decided.query == f"我的蓝色水壶寄出了吗？\n{text}"


def test_a_short_message_with_none_before_asks_alone() -> None:
    assert gate("那个呢？").query == "那个呢？"


def test_a_query_is_bounded_and_keeps_the_newest_words() -> None:
    assert len(gate("问题很长" * 90_000).query) == QUERY_CHARACTERS
    decided = gate("那个呢？", before=["长" * 200_000])
    assert len(decided.query) == QUERY_CHARACTERS
    assert decided.query.endswith("\n那个呢？")
