"""The attributes a fact may have: how many values live at once, how much they matter, what asks for them.

An attribute that is not in the table is `many`: a value too much can be closed later, a value lost cannot.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actormem.core.needles import Cue
from actormem.core.values import Cardinality, ItemKind

__all__ = ["ATTRIBUTES", "attribute_names", "cardinality", "importance", "kind"]

VITAL: Final = 0.9  # health, contact data, commands: a mistake here costs the user something
IDENTITY: Final = 0.8
TASTE: Final = 0.6
REMARK: Final = 0.4
FAVORITE: Final = "favorite_"  # favorite_color, favorite_movie: one of each

GOODS: Final = r"\b(?:parcels?|packages?|orders?|deliver\w*|shipments?|things|stuff|mail)\b"
PARCELS: Final = (
    rf"\bwhere (?:do|does|did|should|will|would|must|can)\b.{{0,30}}(?:{GOODS}|\b(?:send|ship)\b)"
    rf"|\bwhere (?:are|is)\b.{{0,30}}{GOODS}.{{0,12}}\b(?:sent|shipped|delivered|going|go|left)\b"
)

# attribute: cardinality, kind, importance, and what asks for it in English and in Chinese
TABLE: Final[Mapping[str, tuple[Cardinality, ItemKind, float, str]]] = {
    "name": (
        "one", "fact", IDENTITY,
        r"\b(?:my|your|user'?s?|full|first|last)\s+name\b|\bwho am i\b|am i called|叫什么|名字|姓名|"
        r"我是谁|姓什么|贵姓|怎么称呼",
    ),
    "nickname": (
        "one", "fact", IDENTITY,
        r"\bnickname\b|(?:call|address) me\b|昵称|外号|怎么称呼|叫我什么",
    ),
    "address": (
        "one", "fact", VITAL,
        r"\baddress\b(?! me)|\bwhere (?:do|did|does|am|is) (?:i|you|he|she|the user) (?:now )?(?:live|"
        r"living|based|stay)"
        r"|\bwhich city\b|" + PARCELS + r"|地址|住址|住哪|住在哪|住在什么|家在哪|搬到?哪|搬去哪|"
        r"[寄送][到去往给]?哪|在哪个城市|哪座城市",
    ),
    "shipping_address": (
        "one", "fact", VITAL,
        PARCELS + r"|(?:shipping|delivery|mailing) address|\b(?:ship|deliver|send) (?:it|this|them|my order) "
        r"(?:to\b)?" r"|(?:收货|送货|配送|快递|收件|邮寄)地址|[寄送][到去往给]?哪|"
        r"(?:快递|包裹)(?:现在)?(?:都|该|要|会)?(?:放|到)?哪",
    ),
    "phone": (
        "one", "fact", VITAL,
        r"\bphone\b|\bmobile\b|\bcell\b|\btelephone\b|手机号|电话|联系方式|号码是",
    ),
    "email": (
        "one", "fact", VITAL,
        r"\be-?mail\b|邮箱|电子邮件|邮件地址",
    ),
    "contact_preference": (
        "one", "preference", VITAL,
        r"\bin touch\b|\b(?:contact|reach|notify|get hold of) (?:me|you|the user)\b|"
        r"\b(?:should|shall|may|can|could|do|to|or|rather)\b.{0,20}\b(?:call|text|phone|ring|"
        r"e-?mail) (?:me|you)\b|"
        r"\b(?:be|get|being) (?:contacted|reached|called|texted|e-?mailed|notified)\b|"
        r"\bcontact (?:method|preference|channel|details?)|\bway (?:of contact|to be contacted)|"
        r"\b(?:call|phone|text|e-?mail|message)(?:s|ing)? or (?:an? |by )?(?:call|phone|text|e-?mail|"
        r"message)|(?:怎么|怎样|如何)(?:样)?(?:才能)?(?:联系|联络|通知|找到?我)|联系方式|联系[我上您你]|"
        r"通知我|"
        r"联系偏好|给我打电话|(?:电话|短信|邮件|微信)还是(?:发|打|用)?(?:电话|短信|邮件|微信)",
    ),
    "budget": (
        "one", "fact", IDENTITY,
        r"\bbudget\b|how much (?:can|could|do|did|was|were|am|are) (?:i|you) (?:\w+ ){0,3}(?:spend|afford|"
        r"pay)"
        r"|\bthe most (?:i|you)\b.{0,30}\b(?:spend|pay)|\b(?:planned|planning|plan|willing|going|limit\w*) "
        r"(?:to )?spend|\bspending limit|\bprice limit|预算|能花多少|(?:打算|准备|计划|最多|想|愿意)\w{0,2}"
        r"花了?多少|多少钱以内|价格上限|花费上限",
    ),
    "birthday": (
        "one", "fact", IDENTITY,
        r"\bbirthday\b|\bbirth ?date\b|date of birth|\b(?:was|were) (?:i|you) born|生日|出生日期|"
        r"哪天出生|什么时候出生|几月几号出生",
    ),
    "age": (
        "one", "fact", IDENTITY,
        r"\bhow old\b|\b(?:my|your) age\b|几岁|多大年纪|年龄|多大了|多少岁",
    ),
    "job": (
        "one", "fact", IDENTITY,
        r"\b(?:job|occupation|profession)\b|for a living|职业|什么工作|做什么的|工作是什么|从事什么",
    ),
    "employer": (
        "one", "fact", IDENTITY,
        r"\bemployer\b|\b(?:my|your|which) company\b|where (?:do|does|did) (?:i|you|he|she) work|\bwho "
        r"(?:do|does) (?:i|you) work for"
        r"|在哪(?:里|儿)?(?:工作|上班)|哪家公司|什么公司|哪个公司|我的?公司|雇主|单位",
    ),
    "school": (
        "one", "fact", IDENTITY,
        r"\b(?:school|university|college)\b|where (?:do|did) (?:i|you) study|学校|大学|在哪(?:里|"
        r"儿)?(?:上学|读书|念书)",
    ),
    "hometown": (
        "one", "fact", IDENTITY,
        r"\bhometown\b|where (?:am|are) (?:i|you) from|where (?:do|did) (?:i|you) (?:come from|grow up)|"
        r"老家|家乡|哪里人|哪儿人|籍贯",
    ),
    "language": (
        "one", "preference", IDENTITY,
        r"\b(?:which|what|preferred|native|my|your) (?:first |native )?language\b|什么语言|哪种语言|"
        r"母语|用什么话",
    ),
    "speaks": (
        "many", "fact", TASTE,
        r"\blanguages\b|\bdo (?:i|you) speak\b|会(?:说|讲)(?:什么|哪)|会几种语言|什么语言",
    ),
    "diet": (
        "one", "fact", VITAL,
        r"\bdiet(?:ary)?\b|\bvegetarian\b|\bvegan\b|\b(?:can|should|do|could) i eat\b|饮食|忌口|吃素|"
        r"素食|能吃|吃什么",
    ),
    "avoids": (
        "many", "preference", VITAL,
        r"\bdiet(?:ary)?\b|\b(?:can't|cannot|don't|not|can|should|do|could) (?:i |you )?(?:eat|drink)\b|"
        r"忌口|不吃什么|不能吃|能吃|能喝|不喝什么|饮食",
    ),
    "allergy": (
        "many", "fact", VITAL,
        r"\ballerg(?:y|ies|ic|en|ens)\b|\b(?:can|should|could) i eat\b|"
        r"\b(?:must|should|do|can't|cannot|need to|have to) i (?:\w+ (?:to )?)?(?:avoid|not eat|eat)\b|"
        r"\bi (?:must|should|need to|have to|can't|cannot|mustn't|shouldn't) (?:not )?(?:avoid|eat)\b|"
        r"\bingredients?\b.{0,30}\bavoid|过敏|能吃|能不能吃|可以吃|忌口|不能碰|(?:不能|别)(?:吃|碰)(?:什么|"
        r"哪)|"
        r"(?:配料|成分|食物|食材|东西|必须|需要|应该|要|得)避开",
    ),
    "condition": (
        "many", "fact", VITAL,
        r"\b(?:health|medical|illness|disease|diagnos\w+|conditions?)\b|健康状况|什么病|病史|身体状况|"
        r"疾病|病情",
    ),
    "seat": (
        "one", "preference", TASTE,
        r"\bseats?\b|\bseating\b|\baisle\b|座位|坐哪|靠窗|靠过道|选座",
    ),
    "delivery": (
        "one", "preference", TASTE,
        r"\bdeliver(?:y|ed)?\b|\bshipping\b|\bcourier\b|配送|送货|快递|怎么送|收货方式|自提",
    ),
    "payment": (
        "one", "preference", TASTE,
        r"\bpay(?:ment|ing)?\b|\bpaid\b|付款|支付|结账|付钱",
    ),
    "size": (
        "one", "fact", TASTE,
        r"\bsizes?\b|尺码|尺寸|穿多大|几码|什么码|号码",
    ),
    "shoe_size": (
        "one", "fact", TASTE,
        r"\bshoe size\b|\bshoes?\b.*\bsize\b|鞋码|鞋.*几码|多大的鞋",
    ),
    "height": (
        "one", "fact", TASTE,
        r"\b(?:my|your) height\b|\bhow tall\b|身高|多高",
    ),
    "weight": (
        "one", "fact", TASTE,
        r"\b(?:my|your) weight\b|\bdo (?:i|you) weigh\b|体重|多重",
    ),
    "blood_type": (
        "one", "fact", VITAL,
        r"\bblood (?:type|group)\b|血型",
    ),
    "passport_number": (
        "one", "fact", IDENTITY,
        r"\bpassport\b|护照",
    ),
    "member_number": (
        "one", "fact", IDENTITY,
        r"\b(?:member(?:ship)?|loyalty|frequent flyer) (?:number|id)\b|会员(?:号|编号|卡号)",
    ),
    "license_plate": (
        "one", "fact", IDENTITY,
        r"\blicen[cs]e plate\b|车牌",
    ),
    "marital_status": (
        "one", "fact", TASTE,
        r"\b(?:married|single|divorced|engaged|marital)\b|结婚|单身|婚姻|已婚",
    ),
    "timezone": (
        "one", "fact", TASTE,
        r"\btime ?zone\b|时区",
    ),
    "reply_length": (
        "one", "preference", VITAL,
        r"\bhow (?:long|short|detailed) should\b|回答.*(?:长短|详细)",
    ),
    "likes": (
        "many", "preference", TASTE,
        r"\b(?:do|did) (?:i|you) (?:like|love|enjoy)\b|\bhobb(?:y|ies)\b|\binterests?\b|"
        r"\bfavou?rites?\b|\bpreferences?\b|\bprefer\b"
        r"|喜欢(?:什么|吃什么|喝什么|哪|的)|爱好|兴趣|爱(?:吃|喝|看|听)什么|偏好|口味|推荐",
    ),
    "dislikes": (
        "many", "preference", TASTE,
        r"\b(?:dislikes?|hate)\b|\bdon'?t (?:i|you) like\b|\b(?:i|you) (?:don'?t|do not) like\b|讨厌|"
        r"不喜欢|不爱",
    ),
    "preference": (
        "many", "preference", TASTE,
        r"\bpreferences?\b|\bprefer(?:red)?\b|偏好|习惯|更喜欢|喜欢哪",
    ),
    "uses": (
        "many", "fact", REMARK,
        r"\b(?:do|did|am|are) (?:i|you) (?:use|using)\b|在?用(?:的是)?(?:什么|哪)",
    ),
    "pet": (
        "many", "fact", TASTE,
        r"\bpets?\b|\b(?:my|your|have a) (?:dog|cat|puppy|kitten)s?\b|宠物|养了什么|(?:我|"
        r"你)(?:家)?的?(?:猫|狗)",
    ),
    "family": (
        "many", "fact", TASTE,
        r"\bfamily\b|\b(?:my|your|have) (?:kids?|children|sons?|daughters?|wife|husband|brothers?|"
        r"sisters?|siblings?)\b" r"|家人|孩子|儿子|女儿|兄弟|姐妹|几口人|老婆|老公|妻子|丈夫",
    ),
    "goal": (
        "many", "fact", TASTE,
        r"\bgoals?\b|目标",
    ),
    "plan": (
        "many", "event", REMARK,
        r"\b(?:plans?|schedule|appointments?|upcoming)\b|安排|计划|日程|行程|打算",
    ),
    "instruction": (
        "many", "preference", VITAL,
        r"\binstructions?\b|how should (?:you|i) (?:answer|reply|respond)|要求|规则",
    ),
    "note": (
        "many", "fact", VITAL,
        r"\b(?:told|asked) you to remember\b|\bnotes?\b|让你记|记住了什么|备忘",
    ),
}  # fmt: skip

ATTRIBUTES: Final[Mapping[str, Cardinality]] = MappingProxyType({name: row[0] for name, row in TABLE.items()})
CUES: Final = tuple((name, Cue(row[3])) for name, row in TABLE.items())
FAVORITE_CUE: Final = re.compile(
    r"\bfavou?rite ([a-z]{2,20})\b|最喜欢的([\u4e00-\u9fff]{1,4}?)(?:是|有|叫|$)", re.IGNORECASE
)
QUERY_CHARS_MAX: Final = 2_000  # what is asked for stands in the first lines of a query
THINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "颜色": "color",
        "电影": "movie",
        "歌": "song",
        "歌曲": "song",
        "歌手": "singer",
        "书": "book",
        "食物": "food",
        "菜": "dish",
        "水果": "fruit",
        "运动": "sport",
        "餐厅": "restaurant",
        "城市": "city",
        "动物": "animal",
        "季节": "season",
        "colour": "color",
        "film": "movie",
    }
)
NUMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "护照": "passport_number",
        "membership": "member_number",
        "loyalty": "member_number",
        "frequent flyer": "member_number",
        "会员": "member_number",
        "会员卡": "member_number",
        "license plate": "license_plate",
        "车牌": "license_plate",
        "工号": "employee_number",
        "员工": "employee_number",
        "学号": "student_number",
        "客户": "customer_number",
    }
)


def cardinality(attribute: str) -> Cardinality:
    """Whether a subject has `one` value of it at a time or `many`; `many` where it is not known."""
    if attribute.startswith(FAVORITE):
        return "one"
    return ATTRIBUTES.get(attribute, "many")


def kind(attribute: str) -> ItemKind:
    """What sort of memory a fact of this attribute is; `fact` where it is not known."""
    if attribute.startswith(FAVORITE):
        return "preference"
    return TABLE[attribute][1] if attribute in TABLE else "fact"


def importance(attribute: str) -> float:
    """How much a fact of this attribute matters, 0 to 1; that of a taste where it is not known."""
    return TABLE[attribute][2] if attribute in TABLE else TASTE


def favorite(thing: str) -> str:
    """The attribute of a favourite thing: one name for it in both languages where it is a common thing."""
    thing = thing.strip().casefold()
    return FAVORITE + THINGS.get(thing, thing.replace(" ", "_"))


def number(thing: str) -> str:
    """The attribute of a number that names the speaker somewhere: one name for it in both languages."""
    thing = thing.strip().casefold()
    return NUMBERS.get(thing, thing.replace(" ", "_") + "_number")


def attribute_names(query: str) -> tuple[str, ...]:
    """The attributes that a query asks for, in English or Chinese.

    Args:
        query: A question or a few words; only the first 2,000 characters are read.

    Returns:
        Names in the order of the table, favourites first; empty where it asks for none.
    """
    query = query[:QUERY_CHARS_MAX].replace("\u2019", "'")
    named = [favorite(match[1] or match[2]) for match in FAVORITE_CUE.finditer(query)]
    folded = query.casefold()
    named.extend(name for name, cue in CUES if cue.found_in(query, folded))
    return tuple(dict.fromkeys(named))
