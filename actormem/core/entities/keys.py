"""What values are called: the nouns of Chinese and English that name an exact value, and their keys.

Law of the file: a noun names only values of the kinds it is listed for, so that "the order of May 3rd"
does not call a date an order.
"""

import re
from typing import Final

import msgspec

__all__ = ["ADJACENT", "NOUNS", "ONE_VALUED", "Named", "Noun", "find_nouns", "key_stem", "named_stems"]

_IDS: Final = frozenset({"id", "hash", "number"})
_AMOUNTS: Final = frozenset({"amount", "percent", "number"})
_DATES: Final = frozenset({"date", "time"})
_LENGTHS: Final = frozenset({"duration", "date"})


class Noun(msgspec.Struct, frozen=True):
    """One key, the words that name it, and the kinds of value it names."""

    key: str
    words: str
    kinds: frozenset[str]


#: Words are separated by `|`; English ones match whole words, with or without a plural s.
NOUNS: Final = (
    Noun("order", "order|订单号|订单编号|订单|单号", _IDS),
    Noun("tracking", "tracking|waybill|parcel|快递单号|运单号|物流单号|快递号|取件码|快递", _IDS),
    Noun("flight", "flight|航班号|航班|班机", _IDS),
    Noun("train", "train|车次|高铁|火车|动车", _IDS),
    Noun("reservation", "reservation|booking|预订号|预定号|预订单|预约号|预订", _IDS),
    Noun("confirmation", "confirmation|确认码|确认号", _IDS),
    Noun("ticket", "ticket|工单号|工单|票号|机票|车票", _IDS),
    Noun("user_id", "user id|userid|user|username|login|用户名|用户编号|用户", _IDS),
    Noun("customer", "customer|client|客户号|客户编号|客户", _IDS),
    Noun("member", "member|membership|会员号|会员卡号|会员", _IDS),
    Noun("account", "account|账号|帐号|账户|帐户", _IDS),
    Noun("card", "card|visa|mastercard|银行卡号|银行卡|信用卡|卡号|卡", _IDS),
    Noun("gift_card", "gift card|礼品卡", _IDS),
    Noun("certificate", "certificate|证书编号|证书", _IDS),
    Noun("passport", "passport|护照号码|护照号|护照", _IDS),
    Noun("id_card", "id card|身份证号码|身份证号|身份证", _IDS),
    Noun("invoice", "invoice|发票号码|发票号|发票", _IDS),
    Noun("meeting_id", "meeting id|会议号|会议码", _IDS),
    Noun("tax_id", "tax id|vat number|税号|纳税人识别号", _IDS),
    Noun("contract", "contract|合同编号|合同号|合同", _IDS),
    Noun("coupon", "coupon|promo code|voucher|优惠码|优惠券|兑换码|券码", _IDS),
    Noun("code", "code|passcode|otp|pin|验证码|口令|代码|提货码", _IDS),
    Noun("password", "password|密码", _IDS),
    Noun("product", "product|item|sku|asin|商品编号|商品|货号|产品", _IDS),
    Noun("model", "model|型号", _IDS),
    Noun("serial", "serial|序列号", _IDS),
    Noun("seat", "seat|座位号|座位|座号", _IDS),
    Noun("room", "room|meeting room|房间号|房间|房号|会议室", _IDS),
    Noun("gate", "gate|登机口", _IDS),
    Noun("case", "case|案号|案件|案例编号", _IDS),
    Noun("issue", "issue|bug|jira|问题单|缺陷", _IDS),
    Noun("pull_request", "pull request|pr|合并请求", _IDS),
    Noun("commit", "commit|sha|revision|提交", _IDS),
    Noun("hash", "hash|checksum|sha256|sha512|sha1|md5|哈希值|哈希|校验和", _IDS),
    Noun("transaction", "transaction|流水号|交易号|交易单号|交易", _IDS),
    Noun("payment", "payment|付款单|支付单", _IDS),
    Noun("plate", "license plate|plate|车牌号|车牌", _IDS),
    Noun("device", "device|host|server|设备编号|设备号|设备|主机|服务器", _IDS),
    Noun("student", "student|学号", _IDS),
    Noun("employee", "employee|工号|员工号", _IDS),
    Noun("id", "id|identifier|ref|reference|编号|单据号|识别码", _IDS),
    Noun("budget", "budget|预算", _AMOUNTS),
    Noun("price", "price|cost|priced|costs|价格|价钱|单价|售价|标价|报价|定价", _AMOUNTS),
    Noun("total", "total|subtotal|sum|总价|总额|总计|合计|一共|共计|总共|总金额", _AMOUNTS),
    Noun("refund", "refund|refunded|money back|退款金额|退款|退了|退给|退回|退还|退的钱", _AMOUNTS),
    Noun("deposit", "deposit|down payment|押金|定金|订金|首付", _AMOUNTS),
    Noun("fee", "fee|charge|charged|手续费|服务费|费用|收费|改签费", _AMOUNTS),
    Noun("shipping", "shipping|postage|freight|运费|邮费|快递费", _AMOUNTS),
    Noun("rent", "rent|房租|租金", _AMOUNTS),
    Noun("salary", "salary|wage|income|工资|薪资|薪水|月薪|年薪|收入", _AMOUNTS),
    Noun("balance", "balance|余额", _AMOUNTS),
    Noun("discount", "discount|off|折扣|优惠|减免|立减", _AMOUNTS),
    Noun("tax", "tax|vat|税率|税费|税", _AMOUNTS),
    Noun("paid", "paid|pay|spent|付款|支付|付了|花了", _AMOUNTS),
    Noun("insurance", "insurance|premium|保费|保险", _AMOUNTS),
    Noun("credit_limit", "limit|credit line|限额|额度|上限", _AMOUNTS),
    Noun("interest", "interest|rate|利率|利息", _AMOUNTS),
    Noun("birthday", "birthday|birth|born|dob|生日|出生日期|出生|生于", _DATES),
    Noun("deadline", "deadline|due|截止日期|截止时间|截止|最晚|期限", _DATES),
    Noun("departure", "departure|depart|departs|departing|leave|leaving|出发|起飞|动身|发车|去程", _DATES),
    Noun("arrival", "arrival|arrive|arrives|arriving|到达|抵达|落地", _DATES),
    Noun("return", "return|returning|返程|回程|返回", _DATES),
    Noun("check_in", "check-in|check in|入住", _DATES),
    Noun("check_out", "check-out|check out|退房|离店", _DATES),
    Noun("delivery", "delivery|deliver|delivered|送达|送货|配送|发货|到货", _DATES),
    Noun("appointment", "appointment|预约", _DATES),
    Noun("meeting", "meeting|interview|开会|会议|面试", _DATES),
    Noun("expiry", "expiry|expires|expire|expiration|valid until|有效期|到期|过期", _DATES),
    Noun("start", "start|starts|starting|begins|开始", _DATES),
    Noun("end", "end|ends|ending|结束", _DATES),
    Noun("warranty", "warranty|保修期|保修|质保", _LENGTHS),
    Noun("phone", "phone|mobile|cell|telephone|tel|电话号码|联系电话|电话|手机号码|手机号|手机|联系方式",
         frozenset({"phone", "number"})),
    Noun("emergency_contact", "emergency contact|紧急联系人|紧急联系电话", frozenset({"phone", "number"})),
    Noun("fax", "fax|传真", frozenset({"phone", "number"})),
    Noun("wechat", "wechat|weixin|微信号|微信", frozenset({"id", "phone", "number"})),
    Noun("qq", "qq", frozenset({"id", "number"})),
    Noun("email", "email|e-mail|mail|电子邮箱|电子邮件|邮箱|邮件", frozenset({"email"})),
    Noun("address", "address|收货地址|收件地址|地址|住址", frozenset({"address"})),
    Noun("billing_address", "billing address|账单地址", frozenset({"address"})),
    Noun("work_address", "work address|office address|公司地址|单位地址|办公地址", frozenset({"address"})),
    Noun("website", "website|site|link|网址|链接|官网|网站", frozenset({"url"})),
    Noun("file", "file|attachment|document|文件|附件|文档", frozenset({"file"})),
    Noun("version", "version|release|版本号|版本", frozenset({"version", "number"})),
    Noun("name", "name|passenger|姓名|名字|收件人|联系人|乘客", frozenset({"name"})),
)  # fmt: skip

#: Keys that hold one value at a time by nature: a new one takes the place of the old.
ONE_VALUED: Final = frozenset({
    "address", "billing_address", "work_address", "phone", "email", "budget", "birthday", "emergency_contact",
    "wechat", "salary", "rent", "password",
})  # fmt: skip

_FIRST_HAN_WORD = re.compile("[一-龥]")
_LATIN = re.compile(r"[A-Za-z]{1,32}+")


def _by_start() -> dict[str, tuple[tuple[str, Noun], ...]]:
    """The words by how they begin: a Han character, or a whole Latin word; longer ones first."""
    starts: dict[str, list[tuple[str, Noun]]] = {}
    for noun in NOUNS:
        for word in noun.words.split("|"):
            latin = _LATIN.match(word)
            starts.setdefault(latin[0] if latin else word[0], []).append((word, noun))
    return {start: tuple(sorted(words, key=lambda pair: -len(pair[0]))) for start, words in starts.items()}


_STARTS: Final = _by_start()
_START: Final = re.compile(
    f"[{''.join(start for start in _STARTS if _FIRST_HAN_WORD.match(start))}]|{_LATIN.pattern}"
)
#: What may stand between a noun and the bare number it names.
ADJACENT: Final = re.compile(
    r"(?:[\s:：#\"'“”「（(]|numbers?|no\.?|num|id|code|is|was|are|of|ending|ends|in|with|at|to|about|around|under"
    r"|now|up|down|raised|increased|reduced|changed|set|号码|编号|号|码|尾号|是|改[成为到]|[变换]成|[提调涨降加减]到|提高到|增加到"
    r"|为|大概|大约|约|在|只有|有|就|的|了|现在|目前){0,8}",
    re.IGNORECASE,
)
_SUFFIX: Final = ("_id", "_ids", "_number", "_numbers", "_no", "_code", "_num", "s")


class Named(msgspec.Struct, frozen=True):
    """A noun where it stands in a text."""

    start: int
    end: int
    noun: Noun


def find_nouns(text: str) -> list[Named]:
    """The nouns of a text that name values, in order; of two that begin at one place the longer.

    Cost:
        O(n).
    """
    found: list[Named] = []
    end = 0
    for match in _START.finditer(text):
        start = match.start()
        if start < end:
            continue
        word = match[0].lower()
        if word not in _STARTS and word.endswith("s"):
            word = word[:-1]
        for spelling, noun in _STARTS.get(word, ()):
            stop = start + len(spelling)
            if text[start:stop].lower().replace("_", " ") == spelling and not _goes_on(text, stop):
                stop += _plural(text, stop)
                found.append(Named(start, stop, noun))
                end = stop
                break
    return found


def _plural(text: str, end: int) -> int:
    """1 where a plural s follows a Latin word, otherwise 0."""
    return int(text[end - 1].isascii() and text[end : end + 1] in ("s", "S"))


def _goes_on(text: str, end: int) -> bool:
    """Whether a Latin word goes on at `end`, but for a plural s."""
    if not text[end - 1].isascii():
        return False
    rest = text[end : end + 2]
    if rest[:1] in ("s", "S"):
        rest = rest[1:]
    return rest[:1].isascii() and rest[:1].isalpha()


def key_stem(key: str) -> str:
    """A key without what only says that it is a key: `order_id`, `order_number`, `orders` are `order`."""
    if key in ("user_id", "id"):
        return key
    for suffix in _SUFFIX:
        if key.endswith(suffix) and len(key) > len(suffix) + 2 and not key.endswith("ss"):
            return key.removesuffix(suffix)
    return key


def named_stems(text: str) -> frozenset[str]:
    """The stems of all keys a text names, in either language."""
    return frozenset(key_stem(named.noun.key) for named in find_nouns(text))
