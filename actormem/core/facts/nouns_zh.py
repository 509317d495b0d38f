"""What Chinese speakers state with a noun: `我的预算是…`, `地址改成…`, `叫我…`."""

from typing import Final

from actormem.core.facts.readers_zh import HAN, anything, called, items, name, organisation, phrase, place
from actormem.core.facts.rules import age, amount, dated, email, one_of, phone
from actormem.core.facts.rules_zh import LANGUAGES, PAYMENTS, RAW, SEATS, rule
from actormem.core.facts.wishes_zh import CHANNEL

__all__ = ["BARE", "NOUNS"]

BECOME: Final = (
    r"(?:是|为|:|变成了?|改成了?|改为|换成了?|更新为|调整[到为成]|更改为|变更为|现在是|应该是|就是|"
    r"还是)"
)
ABOUT: Final = r"(?:是|为|:|在|大概|大约|约|差不多|现在|\s)*"
NOUNS: Final = (
    rule(
        r"(?:的)?(?:首选|常用|默认)?联系方式(?:首选|最好)?(?:是|为|:|用|改成|改为)*\s?(?P<value>" + CHANNEL
        + r")"
        r"(?=$|[,。;!])",
        "contact_preference", "{who}希望用{value}联系", one_of(CHANNEL),
    ),
    rule(
        r"(?:的)?(?:名字|姓名|全名|本名|真名)(?:就)?(?:是|叫做?|为|:|改成了?|改为)" + RAW,
        "name", "{who}的名字是{value}", name,
    ),
    rule(r"(?:的)?(?:昵称|外号|小名|英文名)(?:是|叫|为|:)" + RAW, "nickname", "{who}的昵称是{value}", name),
    rule(
        r"(?:的)?(?:收货|送货|配送|快递|收件|邮寄)地址" + BECOME + "+" + RAW,
        "shipping_address", "{who}的收货地址是{value}", place,
    ),
    rule(
        r"(?:的)?(?:家庭|新|现|居住)?(?:住址|地址|家)(?:" + BECOME + r"+|在)" + RAW,
        "address", "{who}的地址是{value}", place,
    ),
    rule(
        r"(?:的)?(?:新)?(?:手机号?码?|电话号?码?|联系电话|联系方式|号码|手机)(?:已经)?" + BECOME +
        r"*(?P<value>[+\d(][^,;:!?。\x00\n]{6,30})",
        "phone", "{who}的手机号是{value}", phone,
    ),
    rule(
        r"(?:的)?(?:新)?(?:邮箱(?:地址)?|电子邮箱|邮件地址|e-?mail)" + BECOME +
        r"*\s?(?P<value>[\w.+-]{1,64}@[^\s,;!?。\x00]{3,190})",
        "email", "{who}的邮箱是{value}", email,
    ),
    rule(
        r"(?:的)?(?:阳历|农历|阴历)?生日(?:是|在|为|:)(?P<value>[^,;:!?。\x00\n]{2,20})",
        "birthday", "{who}的生日是{value}", dated,
    ),
    rule(
        r"(?:的)?(?:年龄)(?:是|为|:)(?P<value>\d{1,3}|[一二三四五六七八九十]{1,4})",
        "age", "{who}{value}岁", age,
    ),
    rule(
        r"(?:的)?(?:职业|工作|职位|岗位)(?:是|为|:)(?P<value>[^,;:!?。\x00\n]{2,20})",
        "job", "{who}的职业是{value}", phrase,
    ),
    rule(r"(?:的)?(?:公司|单位|雇主)(?:是|叫|为)" + RAW, "employer", "{who}在{value}工作", organisation),
    rule(r"(?:的)?(?:老家|家乡|籍贯)(?:是|在|为)" + RAW, "hometown", "{who}的家乡是{value}", place),
    rule(r"(?:的)?(?:过敏原|过敏源)(?:是|有|包括)" + RAW, "allergy", "{who}对{value}过敏", items),
    rule(r"(?:的)?(?:爱好|兴趣爱好|兴趣)(?:是|有|包括)" + RAW, "likes", "{who}喜欢{value}", items),
    rule(r"(?:的)?母语是(?P<value>" + LANGUAGES + r")", "language", "{who}的母语是{value}", anything),
    rule(r"(?:的)?血型是?(?P<value>(?:AB|A|B|O)型?)", "blood_type", "{who}的血型是{value}", anything),
    rule(r"(?:的)?鞋码(?:是|为|:)?(?P<value>\d{2}(?:\.5)?(?:[-~到或]\d{2}(?:\.5)?)?)", "shoe_size",
    "{who}穿{value}码的鞋", anything),
    rule(
        r"(?:的)?(?:衣服)?(?:尺码|尺寸|衣服)(?:是|为|:|穿)(?P<value>[SMLX\d]{1,4}|[大中小])(?:码|号)?",
        "size", "{who}穿{value}码", anything,
    ),
    rule(
        r"(?:的)?身高" + ABOUT + r"(?P<value>(?:\d{1,3}(?:\.\d{1,2})?|[一二])\s?(?:(?:cm|厘米|公分|米|m)"
        r"(?:\d{1,2}|[一二三四五六七八九]{1,2})?)?)",
        "height", "{who}身高{value}", anything,
    ),
    rule(
        r"(?:的)?体重"
        + ABOUT + r"(?P<value>(?:\d{2,3}(?:\.\d{1,2})?(?:\s?[-~到至]\s?\d{2,3}(?:\.\d{1,2})?)?|"
        r"[一二两三四五六七八九十百]{2,7}(?=公?斤|千克))\s?(?:kg|公斤|斤|千克)?)",
        "weight", "{who}体重{value}", anything,
    ),
    rule(r"(?:的)?(?:最终|长期|短期|今年的)?目标是" + RAW, "goal", "{who}的目标是{value}", phrase),
    rule(
        r"(?:的)?(?P<thing>护照|会员|会员卡|工号|学号|车牌|员工|客户)(?:号码?|编号)?(?:是|为|"
        r":)\s?(?P<value>[A-Za-z0-9" + HAN + r"·-]{3,24})",
        "number", "{who}的{thing}号是{value}", one_of(r"[A-Za-z0-9·-]*\d[A-Za-z0-9·-]*"),
    ),
)  # fmt: skip
CALLED: Final = (
    r"(?P<value>[^,;:!?。()\x00\n]{1,40}?)(?:就(?:行|好|可以|成)|即可|好了)?了?(?=$|"
    r"[,;:!?。()\x00\n吧啊哦呀])"
)
BARE: Final = (
    rule(
        r"(?:请|你?可以|以后|你就|就|还是)*(?:叫|称呼)我(?:做|为)?" + CALLED,
        "nickname", "{who}希望被称为{value}", called,
        gate=("叫", "称呼"),
    ),
    rule(
        r"(?:请|以后|今后|就|都)*(?:不要|别)(?:再|老|总)?(?:叫|称呼)我(?:做|为)?" + CALLED,
        "nickname", "{who}不再希望被称为{value}", called, negated=True,
        gate=("叫", "称呼"),
    ),
    rule(
        r"(?:大家|朋友们?|同事们?|别人|家里人)(?:也|都|一般|平时|经常)*(?:叫|喊|称呼)我(?:做|为)?" + CALLED,
        "nickname", "{who}也被称为{value}", called,
        gate=("叫", "称呼"),
    ),
    rule(
        r"(?:麻烦|请|你)*(?P<value>(?:都|一律|只|尽量)*(?:用|说|讲)" + LANGUAGES + r"(?:来|跟我|"
        r"和我)?(?:回答|回复|"
        r"交流|聊天|沟通|对话)我?)(?=(?:就(?:行|好|可以)|即可|吧|谢谢)*(?:$|[,。;!]))",
        "language", "{who}要求以后：{value}", anything,
        gate=("文", "语", "话"),
    ),
    rule(
        r"(?:我们?的?)?(?:总|购物|旅行|购买|这次的?|新|月|每月)?预算(?:大概|大约|差不多|现在|一共|总共|约|"
        r"已经|可以|能|最高|限制|控制|定|调整|改|提高|增加|降|减|加|提升|换|就|只|上限|大致|应该|在|是|"
        r"有|为|成|到|了|:|\s)*(?P<value>(?:不超过|最多|低于|少于|人均|每[人晚月天])?"
        r"(?:(?:US|HK)?[¥$€£]|(?:RMB|CNY|USD|EUR|GBP|HKD)\s?)?(?:\d|"
        r"[一二两三四五六七八九十百千万]+[元块万千百美欧到至])[^,;:!?。\x00\n]{0,20})",
        "budget", "{who}的预算是{value}", amount,
        gate=("预算",),
    ),
    rule(
        r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:收货|送货|配送|快递|收件|邮寄)地址" + BECOME + "+" + RAW,
        "shipping_address", "{who}的收货地址是{value}", place,
        gate=("地址",),
    ),
    rule(
        r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:新|家庭)?(?:地址|住址)(?:改成了?|改为|换成了?|变成了?|"
        r"更新为|变更为)" + RAW,
        "address", "{who}的地址是{value}", place,
        gate=("址",),
    ),
    rule(
        r"(?:我的)?新(?:家|住处)?的?(?:地址|住址)(?:现在)?(?:就?是|为|:|在)" + RAW,
        "address", "{who}的地址是{value}", place,
        gate=("址",),
    ),
    rule(
        r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:新)?(?:手机号?码?|电话号?码?|号码|联系电话)(?:已经|"
        r"都)?(?:改成了?|改为|换成了?|变成了?|更新为|是|"
        r"换了,?现在是)(?P<value>[+\d(][^,;:!?。\x00\n]{6,30})",
        "phone", "{who}的手机号是{value}", phone,
        gate=("号", "电话"),
    ),
    rule(
        r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:新)?(?:邮箱)(?:地址)?(?:改成了?|改为|换成了?|变成了?|"
        r"更新为|是)\s?(?P<value>[\w.+-]{1,64}@[^\s,;!?。\x00]{3,190})",
        "email", "{who}的邮箱是{value}", email,
        gate=("邮箱",),
    ),
    rule(
        r"(?:以后|今后|还是)?(?:座位|选座)(?:都|一律|请|就|帮我)*(?:换成|改成|要|选|安排)(?P<value>" +
        SEATS + r")",
        "seat", "{who}更喜欢{value}", anything,
        gate=("座",),
    ),
    rule(
        r"(?:以后|今后|还是)?(?:都|一律|请|就|帮我)*(?:换成|改成|改为)(?P<value>(?=[^,。;!?]{2,8}[座位])" + SEATS
        + r")(?=$|[吧了,。;!])",
        "seat", "{who}更喜欢{value}", anything,
        gate=("座", "位"),
    ),
    rule(
        r"(?:以后|今后|还是)?(?:的)?(?:付款|支付)(?:方式)?(?:都|一律|请|就|帮我)*(?:换成|改成|改为|改用)(?P<value>"
        + PAYMENTS + r")",
        "payment", "{who}用{value}付款", anything,
        gate=("付",),
    ),
)  # fmt: skip
