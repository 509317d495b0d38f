"""Chinese: where a statement may begin, who its subject is, what is a command, a correction, a question.

Adverbs that speak of the past, of a wish or of a doubt (`以前`, `想`, `可能`) are not among those a subject
may have, so that such clauses never match.
"""

import re
from typing import Final

from actormem.core.facts.nouns_zh import BARE, NOUNS
from actormem.core.facts.readers_zh import COMPOUND, HAN, SURNAMES
from actormem.core.facts.rules import Language
from actormem.core.facts.rules_zh import (
    BEHIND_EMPLOYER,
    DELIVERIES,
    DIETS,
    LANGUAGES,
    PAYMENTS,
    PREDICATES,
    SEATS,
)
from actormem.core.facts.wishes_zh import WISHES

__all__ = ["CHINESE"]

BODY_CHARS_MAX: Final = 200
RELATIONS: Final[dict[str, str]] = {
    "下属": "report", "舅妈": "aunt", "婶婶": "aunt", "嫂子": "sister-in-law", "姐夫": "brother-in-law",
    "女朋友": "girlfriend", "男朋友": "boyfriend", "好朋友": "friend", "朋友": "friend",
    "闺蜜": "friend", "同学": "classmate", "同事": "colleague", "室友": "roommate", "舍友": "roommate",
    "邻居": "neighbor", "老板": "boss", "领导": "boss", "上司": "boss", "经理": "manager",
    "老婆": "wife", "妻子": "wife", "太太": "wife", "媳妇": "wife", "老公": "husband",
    "丈夫": "husband", "先生": "husband", "爱人": "spouse", "对象": "partner", "妈妈": "mother",
    "母亲": "mother", "老妈": "mother", "妈": "mother", "爸爸": "father", "父亲": "father",
    "老爸": "father", "爸": "father", "爸妈": "parents", "父母": "parents", "儿子": "son",
    "女儿": "daughter", "闺女": "daughter", "孩子": "child", "宝宝": "baby", "小孩": "child",
    "哥哥": "older brother", "弟弟": "younger brother", "姐姐": "older sister",
    "妹妹": "younger sister", "哥": "older brother", "姐": "older sister", "弟": "younger brother",
    "妹": "younger sister", "奶奶": "grandmother", "爷爷": "grandfather", "外婆": "grandmother",
    "外公": "grandfather", "姥姥": "grandmother", "姥爷": "grandfather", "叔叔": "uncle",
    "阿姨": "aunt", "舅舅": "uncle", "姑姑": "aunt", "表哥": "cousin", "表姐": "cousin",
    "表弟": "cousin", "表妹": "cousin", "堂哥": "cousin", "堂姐": "cousin", "堂弟": "cousin",
    "堂妹": "cousin", "侄子": "nephew", "侄女": "niece", "外甥": "nephew", "婆婆": "mother-in-law",
    "公公": "father-in-law", "岳母": "mother-in-law", "岳父": "father-in-law", "客户": "client",
    "老师": "teacher", "医生": "doctor", "助理": "assistant", "狗狗": "dog", "狗": "dog", "猫咪": "cat",
    "猫": "cat",
}  # fmt: skip
RELATION: Final = "|".join(sorted(RELATIONS, key=len, reverse=True))
ADVERBS: Final = (
    r"(?:现在|目前|一直|平时|平常|通常|一般|都|也|还是|还|就|很|真的|其实|已经|刚|最近|从小|总是|经常|"
    r"特别|非常|比较|最(?!喜欢的)|超级?|挺|十分|尤其|确实|本来就|天生|主要|个人|本人|长期|常年|习惯|"
    r"今年|目前为止|仍然|依然|一向|向来|更(?!喜欢|爱|愿意)|绝对|\s)*"
)
SUBJECT: Final = re.compile(
    rf"(?:我|本人|俺)(?!们)(?:的|有个|有一个|有位)?(?P<relation>{RELATION})(?!圈)(?P<name>[A-Z][A-Za-z]"
    rf"{{0,20}}|(?:[小老阿]|{COMPOUND}|[{SURNAMES}])[{HAN}]{{1,2}}?(?=对|住|叫|的|在|是|喜欢|搬|今年|不|"
    rf"也|吃))?(?P<owns>的)?{ADVERBS}"
    rf"|(?P<self>我|本人|俺)(?!们){ADVERBS}",
)
GATE_WORDS: Final = """
    我 本人 俺 记 别忘 不要忘 备忘 以后 今后 从现在 从今 往后 从此 每次 一律 永远 始终 总是 预算
    地址 手机 电话 号码 邮箱 座位 选座 付款 支付 称呼 不对 不是 错了 口误 笔误 更正 纠正 抱歉 不好意思 对不起 哦不
    等等 其实 换成 改成 换为 改为 文回 语回 话回 文交流 语交流 文沟通 语沟通
"""
GATE: Final = tuple(GATE_WORDS.split())
LEAD: Final = (
    r"(?:(?:你好|您好|嗨|哈喽|哈啰|早上好|下午好|晚上好|早|大家好|其实|另外|还有|对了|那个|嗯{1,4}|"
    r"哦{1,4}|噢|啊|请注意|注意|顺便说一下|顺便提一句|顺便|而且|但是|但|不过|因为|由于|所以|然后|同时|"
    r"此外|当然|补充一下|提醒一下|说明一下|跟你说一?下?|告诉你|你知道"
    r"|我?改主意了|我?改变主意了|是这样的?|现在|目前|如今|最近|呃|好的?|可是|毕竟|反正|总之|首先|其次|"
    r"最后|并且|既然|考虑到|鉴于|哎呀?|唉|抱歉|不好意思|谢谢你?|自我介绍一下|介绍一下|我说过|我跟你说过|"
    r"我告诉过你|要知道|需要说明的是|事实上|说起来|话说)[\s,!:、]{0,3}){0,4}"
)
STARTS: Final = re.compile(
    rf"(?:^\s*|[,:(]\s*|(?<=[{HAN}])\s+(?=[{HAN}])|(?:因为|所以|但是|而且|不过|由于|"
    rf"并且)(?=我))(?:[-*•\d.)、\s]{{0,6}})(?P<lead>" + LEAD + ")",
)
REMEMBER: Final = re.compile(
    r"(?:请|麻烦|你|您|要|帮我|一定要?|务必|千万|能不能|能|可以|可不可以|好好|也|还)*(?:记住|记一下|"
    r"记下来?|记得|别忘了|不要忘了|牢记|备忘(?!录))(?:这点|这件事|这个|一下|了|哦|啊|"
    r"我说的)*(?:[,:\s]*)(?P<value>[^\x00]{2,250})",
)
HENCEFORTH: Final = re.compile(
    r"(?:请|你|您|那)*(?:(?:以后|今后|从现在起|从今天起|从今以后|从现在开始|从今天开始|往后|从此)(?:,|"
    r"的?(?:对话|回答|回复|聊天)(?:里|中)?|(?=[都请一用别不每给推我你回凡叫要直就只尽先])|(?=(?!再|的|"
    r"会|可能|才|有|见|怎)[^,。\x00]{1,12}(?:都|请|一律|不要|别|先)))(?P<value>[^\x00]{2,200})"
    r"|(?P<plain>(?:每次都?|一律|永远|始终|总是)(?:要|请|用|给|先|别|不要|回答|回复|帮我|"
    r"以)[^\x00]{2,150}))",
)
CORRECTION: Final = re.compile(
    r"(?:(?:不对|不是|我?(?:刚才|刚刚)?[说写打记搞弄填输]?错了|口误|笔误|更正一?下?|纠正一?下?|抱歉|不好意思|"
    r"对不起|哦不|等等|其实)[,.!:\s]*){1,3}(?:不是(?P<old>[^,]{1,30}),\s*)?(?:我的?意思是|我是说|我想说的是|应该是|应该|"
    r"而是|改成|换成|是)(?P<value>[^,;!?。\x00\n]{1,60})"
    r"|不是(?P<was>[^,]{1,30}),\s*(?:而是|应该是|是)(?P<more>[^,;!?。\x00\n]{1,60})"
    r"|(?:帮我|给我|请|麻烦|那|还是|就)*(?:换成|换为|改成|改为)(?P<last>[^,;!?。\x00\n]{1,60})",
)
ASKING: Final = re.compile(
    r"什么|怎么|哪|谁|几[个岁点号月]|多少|吗|么$|是不是|有没有|能不能|会不会|可不可以|要不要|为什么|"
    r"为何|如何|是否|还记得|可以[^,]{0,12}$|推荐[^,]{0,12}$",
)
TAG: Final = re.compile(
    r"\s*(?:对吗|对吧|对不对|是吗|是吧|是不是|没错吧|没错|right|不是吗|记得吗|你还?记得吗|知道吗)\s*$",
)
UNFIT: Final = re.compile(
    r"(?:什么|怎么|谁|哪|多少|吗|没|你(?!以后|要)|您|他|她|它|这|那(?!个)|了|过|我(?!的(?!名字$)|希望|"
    r"要你|对|住|喜|不|是|有|在)|带(?!我)|得|的|上次|当时|有一次|有次|小时候|以前|去年)",
)


LANGUAGE: Final = re.compile(
    r"^(?:都|请|一律|只|跟我|和我|你|尽量|,)*(?:用|说|讲)?"
    + LANGUAGES
    + r"(?:来|跟我|和我)?(?:回答|回复|交流|聊天|沟通|对话|写)?我?(?:的?问题)?$"
)
REPLY_LENGTH: Final = re.compile(
    r"(?:简短|简洁|精简|详细|简单明了|言简意赅|短一?点|长一?点).{0,8}(?:回答|回复|答案|说明)|(?:回答|回复).{0,6}"
    r"(?:简短|简洁|精简|详细|短一?点|长一?点|言简意赅)"
)


def body(text: str) -> str:
    """The words of a command that are worth keeping, or an empty string."""
    value = re.sub(
        r"(?:[,\s]*(?:谢谢你?|好吗|可以吗|行吗|吗|了|哦|啊|吧|ok))+$", "", text.strip(" ,.:。'\"*-")
    )
    return (
        ""
        if UNFIT.match(value) or ASKING.search(value) or len(value) < 3 or len(value) > BODY_CHARS_MAX
        else value
    )


def asks_from(sentence: str, asks: bool) -> int:
    """Where the asking part begins; past the end where nothing is asked."""
    clauses = sentence.split(",")
    if TAG.match(clauses[-1]) and (asks or "吗" in clauses[-1] or "吧" in clauses[-1]):
        return 0
    position = 0
    for index, clause in enumerate(clauses):
        if ASKING.search(clause.rstrip()) or (asks and index == len(clauses) - 1):
            return position
        position += len(clause) + 1
    return len(sentence)


def other(relation: str, name: str) -> str:
    return f"用户的{relation}{name}"


CHINESE: Final = Language(
    letters=re.compile("[\u4e00-\u9fff]"),
    gate=GATE,
    starts=STARTS,
    subject=SUBJECT,
    adverbs=re.compile(ADVERBS),
    predicates=PREDICATES,
    nouns=NOUNS,
    bare=BARE,
    behind_employer=BEHIND_EMPLOYER,
    remember=REMEMBER,
    henceforth=HENCEFORTH,
    correction=CORRECTION,
    asks_from=asks_from,
    body=body,
    own="用户",
    other=other,
    relations=RELATIONS,
    note="用户要求记住：{value}",
    instruction="用户要求以后：{value}",
    sorts=(
        ("seat", re.compile(r"^(?:坐|要|选)?" + SEATS + r"$")),
        ("payment", re.compile(r"^(?:用|使用)?" + PAYMENTS + r"(?:付款|支付|结账)?$")),
        ("delivery", re.compile(DELIVERIES)),
        ("language", LANGUAGE),
        ("diet", re.compile("^" + DIETS + "$")),
        ("reply_length", REPLY_LENGTH),
    ),
    habits=(
        ("language", LANGUAGE),
        ("reply_length", REPLY_LENGTH),
        (
            "payment",
            re.compile(
                r"^(?:都|一律|默认|就|请|还是|直接|改|[,\s])*(?:用|使用|走|刷)"
                + PAYMENTS
                + r"(?:付款|支付|结账|付钱|付|买单)?(?:就(?:行|好|可以)|即可)?$"
            ),
        ),
        (
            "delivery",
            re.compile(
                r"^(?:都|一律|默认|就|请|还是|直接|帮我|[,\s])*" + DELIVERIES + r"(?:就(?:行|好|可以)|即可)?$"
            ),
        ),
    ),
    pointing=re.compile(
        r"那里|这里|那边|这边|那儿|这儿|(?:到|去|往)(?:我的)?(?:新|这个|那个)(?:地址|家|地方)"
    ),
    clauses=re.compile(rf"[,:;、]\s*|(?<=[{HAN}])\s+(?=[{HAN}])"),
    wishes=WISHES,
    preferred="{who}更喜欢{value}",
)
