"""Reads Chinese values: where a value ends in the words after a rule, and which words are no value.

Law of the file: a reader gives exact pieces of what it was given, in order, or nothing.
"""

import re
from typing import Final

__all__ = [
    "COMPOUND",
    "HAN",
    "SURNAMES",
    "anything",
    "called",
    "cut",
    "items",
    "name",
    "organisation",
    "phrase",
    "place",
]

PHRASE_CHARS_MAX: Final = 30  # longer is a story, not a value
HAN: Final = "\u4e00-\u9fff"
SURNAMES: Final = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧肖田董潘袁蔡蒋余于杜叶程魏苏吕丁"
    "任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付傅方邹熊白孟秦邱侯江尹薛阎段雷龙史陶贺毛郝顾龚邵覃武钱戴严莫孔"
    "汤温康施牛樊葛邢安齐庞伍庄"
)
COMPOUND: Final = "欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|司徒|端木|南宫|夏侯|独孤|长孙|宇文"
TAIL: Final = re.compile(r"(?:了|的|哦|啊|呀|啦|呢|哈|噢|喔|嘛|哟|吧|而已|一下|左右吧|~|\.|\"|'|\s)+$")
CUT: Final = re.compile(
    r"(?:但是|但|不过|所以|因为|而且|然后|可是|并且|同时|以便|谢谢|帮我|麻烦你?|请你|请帮|请问|请给|"
    r"你?能不能|有没有|该怎么|怎么|你有|你觉得|你看|可以吗|\x00|\n)",
)
VAGUE: Final = re.compile(
    r"(?:你|您|他|她|它|这|那|此|什么|怎么|哪|谁|自己|我|大家|上了|上你|上他|上她|的|了|着|过|不|没|是|"
    r"就|都|也|很|把|被|给|让|跟|和|与|在|到|有人|人家|别人|一下|吧|吗|死|疯|极|看到|听到|知道|多少|几)",
)
SPLIT: Final = re.compile(
    r"、|以及|还有|(?<![温柔总饱随缓共暖祥平谦亲])和(?![谐平服风田式睦解气善]|牛(?:肉|$))|"
    r"(?<!参)与(?![否众会])|/|(?<=[a-zA-Z])\s*(?:and|&)\s*",
)
NAME: Final = re.compile(
    r"[A-Z][A-Za-z'.-]*(?:\s[A-Z][A-Za-z'.-]*){0,3}|[a-z]{2,20}$|["
    + HAN
    + r"]{2,4}(?:·["
    + HAN
    + r"]{1,6}){0,2}",
)
NOT_NAMES: Final = re.compile(
    r"[他她它你您们人车不没别外]["
    + HAN
    + r"]?|.*(?:外卖|滴滴|快递|过来|过去|帮忙|起床|吃饭|出来|出去|大家|什么|为什么|回来|一声|服务|代驾|了|"
    r"醒|家政|早餐|午餐|晚餐|夜宵|救援|师傅|律师|警察|保姆|停|救护车|保安|服务员)|[让把被给从]",
)
SURNAMED: Final = re.compile(
    rf"(?:{COMPOUND}|[{SURNAMES}])[{HAN}]{{1,2}}$|[小阿老大][{HAN}]{{1,2}}$|([{HAN}])\1$|[A-Z]",
)
NOT_PLACE: Final = re.compile(
    r"(?:这|那|哪|得|过|惯|进|下来|了|着|满|够|和|跟|与|一起|一个|楼上|楼下|隔壁|附近|外面|里面|一家|什么|同一|你|您|他|她|别|不|新家|新房|"
    r"大城市|农村$|城里$|家里|家$|酒店$|医院$|宿舍$|学校$|公司$|国外$|外地$|城市$|二楼$|一楼$)",
)
PLACE_TAIL: Final = re.compile(
    r"(?:已经|都)?(?:快|有)?(?:[一二三四五六七八九十两几多半\d]+(?:个?多?月|年多?|天|周|个星期)|很久|"
    r"好久|好几年)(?:了|多了)?$|(?:工作|上班|生活|读书|上学|定居|这边|那边|住)$",
)
PAST: Final = re.compile(r"的时候|期间|的那|的话|的(?:朋友|同学|同事|人|日子|经历)|时$|以前|之前$")


def cut(text: str) -> str:
    """The words up to where another thought begins, without particles at the end."""
    stop = CUT.search(text)
    return TAIL.sub("", text[: stop.start()] if stop else text).strip(" \"'")


def phrase(text: str) -> tuple[str, ...]:
    """One value of a few characters."""
    value = cut(text)
    return (
        (value,)
        if value and len(value) <= PHRASE_CHARS_MAX and not VAGUE.match(value) and not PAST.search(value)
        else ()
    )


def items(text: str) -> tuple[str, ...]:
    """The values of a list such as `花生、虾和牛奶`."""
    value = cut(text)
    parts = [part.strip(" \"'") for part in SPLIT.split(value)]
    if not all(parts) or any(VAGUE.match(part) for part in parts[1:]):
        return phrase(text)
    return (
        tuple(part for part in parts if len(part) <= PHRASE_CHARS_MAX)
        if not VAGUE.match(value) and not PAST.search(value)
        else ()
    )


def name(text: str) -> tuple[str, ...]:
    """A name after words that say it is one."""
    match = NAME.match(text.strip(" \"'"))
    value = TAIL.sub("", match[0]) if match else ""
    return (value,) if len(value) > 1 and not NOT_NAMES.match(value) else ()


def called(text: str) -> tuple[str, ...]:
    """A name after `我叫`, which may also call for something: it fills the clause and looks like a name."""
    words = cut(text).split(" ")[0] if text[:1] > "\u2e80" else cut(text)
    value = name(words)
    return (
        value
        if value and value[0] == words and (SURNAMED.match(words) or "·" in words or len(words) == 2)
        else ()
    )


def place(text: str) -> tuple[str, ...]:
    """A city or a street address."""
    value = PLACE_TAIL.sub("", cut(text)).strip(" \"'")
    return (value,) if 2 <= len(value) <= 60 and not NOT_PLACE.match(value) and not PAST.search(value) else ()


def organisation(text: str) -> tuple[str, ...]:
    """An employer's name."""
    value = cut(text)
    return (
        (value,)
        if 2 <= len(value) <= PHRASE_CHARS_MAX
        and not NOT_PLACE.match(value)
        and not PAST.search(value)
        and not NOT_EMPLOYER.match(value)
        else ()
    )


NOT_EMPLOYER: Final = re.compile(
    r"(?:家|公司|单位|这里|外面|办公室|网上|线上|国外|夜里|白天|晚上|周末|远程|加班|努力|(?:江苏|浙江|"
    r"广东|山东|四川|湖北|湖南|福建|安徽|河南|河北|陕西|辽宁|江西|云南|贵州|广西|山西|吉林|黑龙江|海南|"
    r"甘肃|内蒙古|新疆|台湾)省?(?:["
    + HAN
    + r"]{2,3})?|香港|北京|上海|广州|深圳|杭州|成都|南京|武汉|西安|重庆|天津|苏州|一线城市|工厂里|"
    r"[早中下]午)(?:市)?$|一[家个所]|.{0,10}(?:时间|期间|方面)$",
)


def anything(text: str) -> tuple[str, ...]:
    """Whatever was captured, up to where another thought begins."""
    return (cut(text),) if cut(text) else ()
