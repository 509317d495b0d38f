"""Chinese commands that tell how the speaker wants to be reached, and where parcels are to be left.

Law of the file: a clause fits from its first word to its last, so that `把发票发到我邮箱` or `等会儿打给我`
never does.
"""

import re
from typing import Final

from actormem.core.facts.readers_zh import anything
from actormem.core.facts.rules import Wish
from actormem.core.facts.rules_zh import rule

__all__ = ["CHANNEL", "WISHES"]

CHANNEL: Final = (
    r"(?:电话|手机|座机|电子邮件|邮件|电邮|邮箱|e-?mail|短信|企业微信|微信(?:语音|消息)?|QQ|钉钉|飞书|"
    r"WhatsApp|"
    r"Telegram|WeChat|SMS|站内信|私信)"
)
MAIL: Final = r"(?:邮件|电邮|电子邮件|e-?mail|短信|微信|私信|消息|信息|语音)"
SEND: Final = r"(?:打个?(?:电话|手机)|发[个条封]?\s?" + MAIL + r"|写[封个]?(?:邮件|信))"
TOUCH: Final = r"(?:联系|沟通|通知|联络|找|告诉|告知)"
EVER: Final = (
    r"(?:以后|今后|往后|从今(?:以后|往后)?|从此(?:以后)?|从现在(?:起|开始)|从今天(?:起|开始)|平时|平常|"
    r"每次|一律|统一)"
)
CASE: Final = (
    r"(?:(?:如果|要是|万一|一旦|如|若)?(?:再)?(?:有|出|碰到|遇到)(?:了|现)?(?:什么|任何|啥|点|急|"
    r"紧急)?(?:的)?"
    r"(?:事情|事儿|事|问题|情况|状况|消息|变化|变动|进展|差错|需要|意外|更新|通知)|紧急情况|急事|"
    r"(?:如果|要是|如)?需要(?:联系|找|通知)我?|(?:要)?(?:联系|找|通知)我)(?:的话|的时候|时|了)?"
)
LEAD: Final = (
    r"(?:"
    + CASE
    + r"|"
    + EVER
    + r"|请|麻烦|拜托|你们?|您|客服|那|还是|就|都|也|要|直接|尽量|尽可能|最好|可以|"
    r"只要?|改成?|改用|换成|优先|先|所以|但是?|不过|记住|记得|好吗|我?(?:还是)?(?:比较|更)?(?:希望|喜欢|"
    r"想要?|倾向于?|"
    r"愿意|习惯)|[\s,:])*+"
)
TAIL: Final = (
    r"(?:就(?:行|好|可以|成|够)了?|即可|为好|为主|优先|最好|(?:比较|会?更)好|(?:比较|更|最)(?:方便|合适)|"
    r"吧|啊|哦|哈|"
    r"呀|谢谢|好了|行了|可以|\s){0,6}"
)
PLEASED: Final = (
    r"(?:就(?:行|好|可以|成)了?|即可|为好|为主|最好|(?:比较|会?更)好|(?:比较|更|最)(?:方便|合适)|好了)"
)
NOT: Final = r"(?:不要|别|请勿|勿|不用|不必|无需|停止|不想|不希望|甭)"
NOTHING: Final = re.compile(r"(?!)")
ONCE: Final = re.compile(
    r"^(?:等|如果|要是|当|一旦|今天|明天|今晚|明早|后天|现在|这次|这回|这单|待会|一会|稍后|马上|"
    r"我?(?:正)?在(?:开会|忙|"
    r"睡觉|上课|开车|上班)|[上下]午|晚上|早上|周[一二三四五六日末])|(?:之后|以后|后|时|的时候|时候)$|"
    r"(?:到|到货|到达|发货|发出|好|完|完成|送到|寄到|寄出|下单|退款|到账|结果)了?$"
)
FIRM: Final = re.compile(r"再|[老总]是?|一直|" + EVER + r"|(?:别|不要|停止).*了|不想|不希望")
STANDING: Final = re.compile(
    EVER + r"|" + CASE + r"|优先|最好|更好|方便|改成|改用|换成|希望|更喜欢|比较喜欢|倾向"
)

CONTACT: Final = Wish(
    keep=rule("", "contact_preference", "{who}希望这样联系：{thing}", anything),
    close=rule("", "contact_preference", "{who}不再希望这样联系：{thing}", anything, negated=True),
    gate=(
        "电话", "手机联系", "邮件", "电邮", "短信", "微信", "mail", "打给我", "钉钉", "飞书", "qq", "私信",
        "whatsapp", "wechat", "站内信", "打我",
    ),
    wanted=re.compile(
        LEAD + r"(?:用|通过|走|拿)?\s?(?P<value>(?:" + CHANNEL + r"|" + SEND + r")\s?(?:跟|和|与|给)?我?\s?"
        + TOUCH
        + r"我?)" + TAIL
        + r"|" + LEAD + r"(?P<more>" + SEND + r"给我|给我" + SEND + r"|打我(?:的)?(?:电话|手机|座机))(?=\s*"
        + PLEASED
        + r")" + TAIL
        + r"|" + LEAD + r"(?P<plain>(?:电话|邮件|电邮|e-?mail|短信)(?=(?:最|更|比较|会更)(?:好|方便|合适)))"
        + TAIL
        + r"|(?:请|麻烦|拜托)(?P<last>给我发\s?" + MAIL + r"|发\s?" + MAIL + r"给我)" + TAIL,
        re.IGNORECASE,
    ),
    likely=re.compile(
        LEAD + r"(?:用|通过|走)?\s?(?P<value>给我" + SEND + r"|" + SEND + r"(?:给我|找我|跟我说)?|打给我|"
        r"打我(?:的)?"
        r"(?:电话|手机|座机)|发我(?:的)?(?:邮箱|微信|手机)|(?:e-?mail|call|短信|微信|text)\s?(?:我|me))"
        + TAIL,
        re.IGNORECASE,
    ),
    beside=re.compile(
        LEAD + r"(?:用|通过|走)?\s?(?P<value>" + CHANNEL + r"|发信息|发消息|给我留言)" + TAIL, re.IGNORECASE
    ),
    refused=re.compile(
        LEAD + NOT + r"(?:再|老是?|总是?|一直|随便|动不动就?|在|用|通过)*\s?(?P<value>给我" + SEND + r"|"
        + SEND
        + r"(?:给我|找我|联系我|通知我|骚扰我|过来|来)?|打我(?:的)?(?:电话|手机)|打(?=给我|了)(?:给我)?|"
        + CHANNEL
        + r"\s?" + TOUCH + r"我?|给我来电话|来电|(?:接到?|收到?)" + CHANNEL + r")(?:了|啦|吧|谢谢)*",
        re.IGNORECASE,
    ),
    mine=re.compile("(?:不要|别|勿|停止|不想|不希望).*我"),
    firm=FIRM,
    standing=STANDING,
    general=re.compile(r"(?:以后|今后|那|请|你们?)*" + CASE),
    once=ONCE,
)  # fmt: skip
OWN_SPOT: Final = r"(?:快递柜|丰巢(?:柜)?|(?:菜鸟)?驿站|代收点|自提[点柜])"
SPOT: Final = (
    r"(?:"
    + OWN_SPOT
    + r"|柜子?|门口|门外|前台|物业|保安(?:室|亭)?|门卫|门房|传达室|信箱|便利店|小卖部|大厅|楼下|邻居家?|"
    r"鞋柜|车库|院子)"
)
SIDE: Final = r"(?:里面?|里头|那里|那边|那儿|处|上|旁边?)?"
PARCEL: Final = r"(?:我的)?(?:快递|包裹|快件|东西|货|送货|配送|外卖|邮包)(?:都|就)?"
PUT: Final = r"(?:放|搁|送|寄存|存|投|扔)(?:在|到|进|去)?"
COURIER: Final = EVER + r"|请|麻烦|拜托|你们?|您|快递员|快递小哥|那|还是|就|都|直接|帮我|给我|可以|把|[\s,]"
LEAVE: Final = r"(?:" + COURIER + r"|" + PARCEL + r")*+"
DELIVERY: Final = Wish(
    keep=rule("", "delivery", "{who}希望这样收货：{thing}", anything),
    close=rule("", "delivery", "{who}不再希望这样收货：{thing}", anything, negated=True),
    gate=("放", "送到", "存到", "存在", "投到", "扔"),
    wanted=re.compile(
        LEAVE + r"(?P<value>" + PUT + r"[^,]{0,12}?" + OWN_SPOT + SIDE + r")" + TAIL
        + r"|" + LEAVE + r"(?P<more>" + PUT + r"(?:门口|门外|前台|物业|门卫|保安(?:室|亭)?)" + SIDE
        + r")(?=" + PLEASED
        + r")" + TAIL
        + r"|(?:" + COURIER + r")*?" + PARCEL + r"(?P<plain>" + PUT + r"[^,]{0,12}?" + SPOT + SIDE + r")"
        + TAIL,
    ),
    likely=re.compile(LEAVE + r"(?P<value>" + PUT + r"[^,]{0,12}?" + SPOT + SIDE + r")" + TAIL),
    beside=re.compile(LEAVE + r"(?:用|走)?(?P<value>" + OWN_SPOT + r"|送货?(?:上门|到家|上楼))" + TAIL),
    refused=re.compile(
        LEAVE + NOT + r"(?:再|老是?|总是?|给我|把|" + PARCEL + r")*(?P<value>" + PUT + r"[^,]{0,12}?" + SPOT
        + SIDE
        + r")(?:了|啊|吧)*"
    ),
    mine=NOTHING,
    firm=FIRM,
    standing=re.compile(EVER + r"|快递|包裹|驿站|配送|送货|派送|收货|外卖|快件"),
    general=NOTHING,
    once=ONCE,
)  # fmt: skip
WISHES: Final = (CONTACT, DELIVERY)
