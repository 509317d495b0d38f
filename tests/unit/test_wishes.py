"""How the speaker wants to be served is one value at a time; a request of the moment is no preference."""

import pytest

from actormem.core.facts.attributes import cardinality, kind
from actormem.core.facts.extraction import extract
from actormem.core.values import Fact

WISHES = ("contact_preference", "delivery")

# sentence; the value, with a leading "-" where the way is only taken back
CONTACT: list[tuple[str, str]] = [
    ("Always call me by phone when something breaks.", "call me by phone"),
    ("Please text me.", "text me"),
    ("Email is best.", "Email"),
    ("Don't call me any more, write an e-mail.", "write an e-mail"),
    ("Don't call, text.", "text"),
    ("Contact me by WeChat.", "Contact me by WeChat"),
    ("You can reach me on WhatsApp.", "reach me on WhatsApp"),
    ("From now on, e-mail me.", "e-mail me"),
    ("If anything comes up, call me.", "call me"),
    ("If something goes wrong please just call me", "call me"),
    ("I'd rather you texted me.", "texted me"),
    ("I'd prefer to be contacted by phone.", "be contacted by phone"),
    ("I prefer e-mail over phone calls.", "e-mail"),
    ("Text me instead of calling.", "Text me"),
    ("The best way to reach me is e-mail.", "e-mail"),
    ("My preferred contact method is WhatsApp.", "WhatsApp"),
    ("No more phone calls, please. Texts only.", "Texts"),
    ("Stop calling me. E-mail me instead.", "E-mail me"),
    ("Remember to always text me, I never pick up.", "text me"),
    ("Stop calling me!", "-calling me"),
    ("Never call me again.", "-call me"),
    ("Don't call me any more, phone.", "-call me"),
    ("I don't want to be called any more.", "-called"),
    ("Stop calling me. Phone: 020 5550 1177", "-calling me"),
    ("不要再打电话给我了，以后都发邮件", "发邮件"),
    ("会开到一半又被打断，不要再打电话给我了，以后都发邮件，邮箱你们有", "发邮件"),
    ("以后有事发短信给我", "发短信给我"),
    ("给我打电话就行", "给我打电话"),
    ("别发邮件了，直接微信联系", "微信联系"),
    ("有问题请电话联系我", "电话联系我"),
    ("有什么问题请电话联系我", "电话联系我"),
    ("如果有问题的话，请发微信给我就好", "发微信给我"),
    ("联系我请发邮件", "发邮件"),
    ("以后都 email 我就行", "email 我"),
    ("我更喜欢邮件联系", "邮件联系"),
    ("请勿来电，邮件联系", "邮件联系"),
    ("出了问题打我电话", "打我电话"),
    ("记住以后发邮件联系我", "发邮件联系我"),
    ("我的联系方式改成微信", "微信"),
    ("不要再打电话给我了", "-打电话给我"),
    ("别再给我发短信了", "-给我发短信"),
    ("以后别打电话了", "-打电话"),
]
DELIVERY: list[tuple[str, str]] = [
    ("Leave it at the door.", "Leave it at the door"),
    ("Please leave my parcels at the front desk.", "leave my parcels at the front desk"),
    ("Don't leave parcels at the door, use the locker.", "use the locker"),
    ("放快递柜就行", "放快递柜"),
    ("白天没人在家，麻烦快递放到南门的驿站，别放门口。", "放到南门的驿站"),
    ("一楼有快递柜，放柜子里就行。", "放柜子里"),
    ("放在门口就可以了", "放在门口"),
    ("以后别放驿站了，送上门", "送上门"),
    ("快递别放驿站了", "-放驿站"),
]
OTHERS: list[tuple[str, list[tuple[str, str]]]] = [
    ("Reply in English.", [("language", "Reply in English")]),
    ("以后用中文回复我", [("language", "用中文回复我")]),
    ("请用英文回答", [("language", "用英文回答")]),
    ("叫我小王", [("nickname", "小王")]),
    ("大家也叫我 Teddy，随你", [("nickname", "Teddy")]),
    ("别叫我林女士了，叫我小满就好", [("-nickname", "林女士"), ("nickname", "小满")]),
    ("Call me Sam.", [("nickname", "Sam")]),
    ("Always call me Sam.", [("nickname", "Sam")]),
    ("Don't call me Sam, call me Samantha.", [("-nickname", "Sam"), ("nickname", "Samantha")]),
    ("Everyone calls me Teddy.", [("nickname", "Teddy")]),
    ("以后都用微信支付", [("payment", "都用微信支付")]),
    ("From now on use PayPal.", [("payment", "use PayPal")]),
    ("以后都送货上门", [("delivery", "都送货上门")]),
    ("From now on never store my credit card", [("instruction", "never store my credit card")]),
]
MOMENTARY = [
    "Call me back in ten minutes.",
    "E-mail me the invoice.",
    "Text me the code.",
    "Please call me.",
    "Call me at five.",
    "Call me a taxi.",
    "Text me when the parcel arrives.",
    "When the parcel arrives, text me.",
    "Once it is mended, e-mail me.",
    "Don't call me, I'm in a meeting.",
    "Can you text me?",
    "How will you contact me?",
    "Contact my wife by phone.",
    "I wrote an e-mail to the shop.",
    "I always lose things: keys, phone, wallet.",
    "The text is better than the picture.",
    "He said, call me by phone.",
    "If I don't pick up, text me.",
    "Please leave it at the door today.",
    "Leave my key with the neighbour.",
    "Put the cake in the locker.",
    "等会儿打给我",
    "把发票发到我邮箱",
    "请把收据用邮件发给我",
    "明天给我打电话就行",
    "货到了，给我打电话就行",
    "订单发货后短信通知我",
    "请给我打电话",
    "发邮件就行",
    "别给我打电话，我在开会",
    "先别打电话",
    "晚上别打电话",
    "能微信联系吗？",
    "发邮件可以吗",
    "你们客服昨天给我打电话了",
    "给我妈打电话就行",
    "不要给我妈打电话",
    "他说微信联系我",
    "我会微信联系你",
    "用微信付就行",
    "蛋糕放冰箱就行",
    "鞋子放柜子里就行",
    "蛋糕放快递柜没问题",
    "以后都寄到新地址",
    "Please send everything there from now on.",
    "Reply in English to this customer.",
    "Call me please.",
]


def wish(text: str, attribute: str) -> Fact:
    """The only fact of a text, which is a wish."""
    (fact,) = extract(text)
    assert fact.attribute == attribute
    return fact


@pytest.mark.parametrize(("text", "value"), CONTACT, ids=[text for text, _ in CONTACT])
def test_how_to_be_reached_is_one_fact_with_the_channel_as_it_was_said(text: str, value: str) -> None:
    fact = wish(text, "contact_preference")
    assert ("-" if fact.negated else "") + fact.value == value
    assert (fact.cardinality, fact.kind, fact.importance) == ("one", "preference", 0.9)


@pytest.mark.parametrize(("text", "value"), DELIVERY, ids=[text for text, _ in DELIVERY])
def test_where_parcels_are_left_is_one_fact(text: str, value: str) -> None:
    fact = wish(text, "delivery")
    assert ("-" if fact.negated else "") + fact.value == value


@pytest.mark.parametrize("text", [text for text, _ in CONTACT + DELIVERY])
def test_a_wish_quotes_the_message_and_its_text_stands_by_itself(text: str) -> None:
    (fact,) = extract(text)
    assert fact.quote in text
    assert fact.value in fact.quote
    assert fact.value in fact.text
    assert fact.text.startswith(("The user", "用户"))


@pytest.mark.parametrize(("text", "expected"), OTHERS, ids=[text for text, _ in OTHERS])
def test_other_wishes_with_one_value_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    facts = extract(text)
    assert [(("-" if one.negated else "") + one.attribute, one.value) for one in facts] == expected
    assert all(one.cardinality == "one" for one in facts if one.attribute != "instruction")


@pytest.mark.parametrize("text", MOMENTARY)
def test_a_request_of_the_moment_or_a_question_is_no_wish(text: str) -> None:
    assert extract(text) == ()


def test_the_text_keeps_the_condition_and_the_channel_that_was_taken_back() -> None:
    assert wish("When something goes wrong, call me.", "contact_preference").text.endswith(
        "When something goes wrong, call me"
    )
    assert (
        "不要再打电话给我了，以后都发邮件"
        in wish("不要再打电话给我了，以后都发邮件", "contact_preference").text
    )


def test_no_instruction_is_written_beside_a_wish_and_the_rest_of_the_message_is_read() -> None:
    text = "Always call me by phone when something breaks. My number is 020 5550 1177."
    assert [one.attribute for one in extract(text)] == ["contact_preference", "phone"]
    assert [one.attribute for one in extract("以后出报告先列结论，有事发邮件")] == [
        "contact_preference",
        "instruction",
    ]


def test_a_bare_answer_to_how_to_be_reached_counts() -> None:
    for previous, text, value in (
        ("Should we call or e-mail you?", "e-mail", "e-mail"),
        ("请问怎么联系您比较方便？", "邮件吧", "邮件"),
    ):
        (fact,) = extract(text, previous=previous)
        assert (fact.attribute, fact.value) == ("contact_preference", value)
    assert extract("no", previous="Should we call or e-mail you?") == ()


def test_a_correction_of_a_wish_gives_the_new_one() -> None:
    first, second = extract("以后发短信给我。不对，应该是发邮件")
    assert (first.value, second.attribute, second.value) == ("发短信给我", "contact_preference", "邮件")


@pytest.mark.parametrize(
    "text",
    [
        "please " * 9_000 + "call me",
        "有事" * 9_000 + "发邮件",
        "还是更喜欢" * 3_000 + "邮件",
        "text me if any " * 1_000,
        "放驿站" * 5_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_huge_texts_of_wishes_are_read_without_fuss(text: str) -> None:
    assert len(extract(text)) <= 1


def test_the_attributes_of_wishes_have_one_value() -> None:
    assert {cardinality(name) for name in (*WISHES, "payment", "language", "nickname")} == {"one"}
    assert kind("contact_preference") == "preference"
