"""What Chinese speakers state of themselves: `我住在…`, `我对…过敏`, `不再…`, `换成…`.

Each rule is matched right after its subject and the adverbs; the first that gives a value wins, so that
reversals stand first.
"""

import re
from typing import Final

from actormem.core.facts.readers_zh import (
    COMPOUND,
    HAN,
    anything,
    called,
    cut,
    items,
    organisation,
    phrase,
    place,
)
from actormem.core.facts.rules import Reader, Rule, age, dated, one_of, phone

__all__ = [
    "BEHIND_EMPLOYER",
    "DELIVERIES",
    "DIETS",
    "LANGUAGES",
    "PAYMENTS",
    "PREDICATES",
    "RAW",
    "SEATS",
    "rule",
]

RAW: Final = r"(?P<value>[^,;:!?。()\x00\n]{1,80})"
DEGREE: Final = r"(?:有点儿?|有些|严重|非常|特别|很|极度|轻微|轻度|重度|会|都|也|一直|十分)*"
NOW: Final = r"(?:现在|目前|已经|刚|最近)*"
WORK: Final = (
    r"工程师|程序员|设计师|老师|教师|医生|护士|律师|会计师?|教授|学生|大学生|研究生|博士生?|产品经理|"
    r"项目经理|经理|销售员?|厨师|司机|飞行员|空姐|记者|编辑|作家|摄影师|画家|音乐人|歌手|演员|导演|"
    r"公务员|警察|消防员"
    r"|军人|农民|店主|老板娘?|创业者|自由职业者?|全职妈妈|家庭主妇|数据分析师|分析师|咨询师|顾问|翻译|"
    r"导游|药剂师|药师|牙医|兽医|心理咨询师|健身教练|教练|主播|博主|快递员|外卖员|电工|木工|建筑师|"
    r"科学家|研究员|运营|测试|架构师|化妆师|理发师|主厨"
)
DIETS: Final = (
    r"(?:纯素食者|纯素主义者|素食者|素食主义者|蛋奶素|鱼素者|穆斯林|清真饮食|清真|生酮饮食|低碳饮食|"
    r"无麸质饮食|低糖饮食|低盐饮食|纯素|素食)"
)
ILLS: Final = (
    r"(?:[12一二]型)?糖尿病|高血压|低血糖|哮喘|癫痫|乳糖不耐(?:受|症)?|心脏病|胃病|胃炎|关节炎|痛风|"
    r"抑郁症|焦虑症|失眠症?|偏头痛|高血脂|脂肪肝|甲亢|甲减|鼻炎|荨麻疹|湿疹|近视|色盲|色弱|贫血|"
    r"腰椎间盘突出|颈椎病|腰肌劳损|肾结石|蚕豆病|麸质不耐受?"
)
ANIMALS: Final = (
    r"(?:["
    + HAN
    + r"]{0,4}(?:猫|狗|犬)|橘猫|布偶|柯基|柴犬|金毛|哈士奇|泰迪|仓鼠|兔子|鹦鹉|乌龟|金鱼|龙猫|荷兰猪|蜥蜴|"
    r"蛇)"
)
LANGUAGES: Final = (
    r"(?:中文|汉语|普通话|英文|英语|日语|日文|法语|德语|西班牙语|葡萄牙语|意大利语|韩语|俄语|阿拉伯语|"
    r"粤语|广东话|上海话|泰语|越南语|繁体(?:中文|字)?|简体(?:中文|字)?)"
)
PAYMENTS: Final = (
    r"(?:支付宝|微信(?:支付)?|信用卡|花呗|银行卡|货到付款|现金|云闪付|数字人民币|Apple Pay|PayPal|"
    r"对公转账|银行转账)"
)
SEATS: Final = (
    r"(?:靠窗|靠过道|靠走道|过道|前排|后排|中间|安全出口|靠近?走廊|窗边)(?:旁?边?)?(?:的?(?:座位|位置|"
    r"位子|座|位))?"
)
DELIVERIES: Final = (
    r"(?:送货上门|放(?:在)?(?:快递柜|驿站|门口|前台|菜鸟驿站|物业)|上门自提|自提|顺丰(?:快递)?|"
    r"京东(?:快递|物流)|次日达|工作日送货|周末送货|加急)"
)


def rule(
    pattern: str,
    attribute: str,
    text: str,
    read: Reader,
    *,
    negated: bool = False,
    gate: tuple[str, ...] = (),
) -> Rule:
    """A rule; its pattern is compiled without regard to case."""
    return Rule(re.compile(pattern, re.IGNORECASE), attribute, text, read, negated, gate)


PREDICATES: Final = (
    rule(
        r"(?:已经|早就|现在)*(?:不再?对(?P<value>[^,。;!?\x00]{1,40}?)过敏|"
        r"对(?P<more>[^,。;!?\x00]{1,40}?)(?:已经|现在)?不(?:再|会)?过敏)了?",
        "allergy", "{who}不再对{value}过敏", items, negated=True,
    ),
    rule(
        r"对(?P<value>[^,。;!?\x00]{1,40}?)(?:都|也)?" + DEGREE + "过敏",
        "allergy", "{who}对{value}过敏", items,
    ),
    rule(
        r"(?:一?(?:吃|喝|碰|闻到?|接触)(?:到|了)?)(?P<value>[^,。;!?\x00]{1,20}?)(?:就|会|都)*" + DEGREE
        + r"过敏",
        "allergy", "{who}对{value}过敏", items,
    ),
    rule(
        r"(?:有|得过)(?P<value>[^,。;!?的\x00]{1,12}?)过敏(?:史|症)?",
        "allergy", "{who}对{value}过敏", items,
    ),
    rule(r"(?!.{0,5}(?:不|没|可能|好像|应该|怀疑|皮肤|鼻|脸|眼|身体|容易|又|也|都|是否|会|很|非常|严重))"
        r"(?P<value>[" + HAN + r"]{1,6})过敏(?=$|[,。;!的\s])", "allergy", "{who}对{value}过敏", items),
    rule(
        NOW + r"不再?住在?[那这](?:里|儿|边)?了?(?P<value>)(?=$|[,。;!])",
        "address", "{who}不再住在原来的地方", lambda _: ("",), negated=True,
    ),
    rule(
        NOW + r"不再?在[那这](?:里|儿|边|家公司)?(?:工作|上班|干)了?(?P<value>)(?=$|[,。;!])",
        "employer", "{who}不再在原来的公司工作", lambda _: ("",), negated=True,
    ),
    rule(
        NOW + r"(?:又|开始|重新|可以|能|现在)+(?:吃|喝)(?P<value>(?![了早晚午下上得到完饭不惯药起亏这那]|中饭|宵夜)"
        r"[^,。;!?\x00]{1,12}?)了(?=$|[,。;!])",
        "avoids", "{who}又吃{value}了", items, negated=True,
    ),
    rule(
        NOW + r"不(?:再)?(?:住在?|在)(?P<value>[^,。;!?\x00]{2,40}?)(?:住)?(?<!工作)(?<!上班)(?<!任职)(?<!干)了",
        "address", "{who}不再住在{value}", place, negated=True,
    ),
    rule(
        NOW + r"(?:从(?P<value>[^,。;!?\x00]{2,30}?)搬(?:走|出来?|出去))了?",
        "address", "{who}不再住在{value}", place, negated=True,
    ),
    rule(
        NOW + r"(?:从[^,。;!?\x00]{1,30}?)?(?:搬家?|搬家了,?搬)(?:到|去|来|回|进)了?" + RAW,
        "address", "{who}住在{value}", place,
    ),
    rule(NOW + r"搬家了(?P<value>)", "address", "{who}搬家了", lambda _: ("",), negated=True),
    rule(
        r"(?:就|都|家)?(?:住在|住|定居在|家住在?|家在|家就?在|居住在|租住在|长住)" + RAW,
        "address", "{who}住在{value}", place,
    ),
    rule(
        NOW + r"不(?:再)?在(?P<value>[^,。;!?\x00]{2,30}?)(?:工作|上班|干|任职)了",
        "employer", "{who}不再在{value}工作", organisation, negated=True,
    ),
    rule(
        NOW + r"(?:从(?P<value>[^,。;!?\x00]{2,30}?))?(?:辞职|离职|失业|被裁)了",
        "employer", "{who}离职了", lambda text: (cut(text),), negated=True,
    ),
    rule(NOW + r"换工作了(?P<value>)", "employer", "{who}换了工作", lambda _: ("",), negated=True),
    rule(
        NOW + r"换(?:了)?(?:新的?)?(?:手机号?码?|电话号?码?|号码?)了?,?(?:现在|新(?:号码?|的))(?:是|为|:)?\s?"
        r"(?P<value>[+\d(][^,;:!?。\x00\n]{6,30})",
        "phone", "{who}的手机号是{value}", phone,
    ),
    rule(
        NOW + r"换(?:了)?(?:手机号|号码|电话)了?(?P<value>)(?=$|[,。;!])",
        "phone", "{who}换了手机号", lambda _: ("",), negated=True,
    ),
    rule(
        r"(?:是)?在(?P<value>[^,。;!?\x00]{2,30}?)(?:(?:工作|上班|任职|就职|供职)(?!的)|(?=(?:当|做|担任)"
        r"(?:一?[名个位])?[" + HAN + r"]{0,8}?(?:" + WORK + r")(?:$|[,。;!])))",
        "employer", "{who}在{value}工作", organisation,
    ),
    rule(
        NOW + r"(?:入职|加入|跳槽到|就职于|任职于|供职于)了?" + RAW,
        "employer", "{who}在{value}工作", organisation,
    ),
    rule(
        NOW + r"不再?是(?P<value>" + DIETS + r")了?",
        "diet", "{who}不再是{value}", anything, negated=True,
    ),
    rule(
        NOW + r"不再?(?:坚持)?(?P<value>吃素|吃纯素|吃清真|素食|生酮)了?",
        "diet", "{who}不再{value}", one_of("吃素|吃纯素|吃清真|" + DIETS + "|生酮"), negated=True,
    ),
    rule(
        r"(?:是|成了|变成了?|改)(?:一?[个名位])?(?P<value>" + DIETS + r")",
        "diet", "{who}是{value}", anything,
    ),
    rule(
        r"(?:只|在)?(?P<value>吃素|吃纯素|吃清真|吃全素|生酮饮食|低碳饮食)(?:的|了)?",
        "diet", "{who}{value}", anything,
    ),
    rule(
        r"(?:是(?:做|干|当|搞)?|在做|在当|从事)(?:一?[名个位])?(?P<value>[" + HAN +
        r"A-Za-z ]{0,12}?(?:" + WORK + r"))(?=$|[,。;!的\s])",
        "job", "{who}是{value}", phrase,
    ),
    rule(r"是(?P<value>做[^,。;!?\x00]{1,12}?)的(?=$|[,。;!])", "job", "{who}是{value}的", phrase),
    rule(
        NOW + r"(?:不再|再也不)(?:喜欢|爱|想)(?P<value>[^,。;!?\x00]{1,30}?)了?(?=$|[,。;!])",
        "likes", "{who}不再喜欢{value}", items, negated=True,
    ),
    rule(
        NOW + r"不(?:太|怎么|是很)?(?:喜欢|爱)(?P<value>[^,。;!?\x00]{1,30}?)了(?=$|[,。;!])",
        "likes", "{who}不再喜欢{value}", items, negated=True,
    ),
    rule(
        r"(?:不(?:太|怎么|是很|大|是特别)?(?:喜欢|爱|想要)|讨厌|受不了|最?烦|反感|厌恶|恨)(?!上)" + RAW,
        "dislikes", "{who}不喜欢{value}", items,
    ),
    rule(
        NOW + r"不再?(?:用|使用)(?P<value>[^,。;!?\x00]{2,20}?)了",
        "uses", "{who}不再用{value}", items, negated=True,
    ),
    rule(
        r"(?:从来)?不(?:能|会|可以)?(?:吃|喝|碰)(?P<value>(?![了早晚午下上得到完饭不惯药起亏这那]|中饭|"
        r"宵夜)[^,。;!?\x00]{1,15})",
        "avoids", "{who}不吃{value}", items,
    ),
    rule(
        r"(?:更|最|比较)?(?:倾向于?|偏好|偏向|更喜欢|更爱|更愿意)" + RAW,
        "preference", "{who}更喜欢{value}", phrase,
    ),
    rule(
        r"最喜欢的(?P<thing>[" + HAN + r"]{1,4}?)(?:是|就是|有)" + RAW,
        "favorite", "{who}最喜欢的{thing}是{value}", phrase,
    ),
    rule(
        r"(?:喜欢|热爱|钟爱|酷爱|喜爱|爱(?=[吃喝看听玩打跑画读写唱跳爬游骑])|迷上了?|"
        r"爱上了?)(?:上了)?(?!的是)" + RAW,
        "likes", "{who}喜欢{value}", items,
    ),
    rule(
        r"(?:习惯)?(?:用|使用|刷)(?P<value>" + PAYMENTS + r")(?:付款|支付|付钱|结账|付)",
        "payment", "{who}用{value}付款", anything,
    ),
    rule(r"(?:是叫|名叫|叫做|叫)" + RAW, "name", "{who}叫{value}", called),
    rule(
        r"姓(?P<value>" + COMPOUND + r"|[" + HAN + r"])(?:,?(?:名|叫)(?P<more>[" + HAN +
        r"]{1,3}))?(?=$|[,。;!\s])",
        "name", "{who}姓{value}", anything,
    ),
    rule(
        r"(?:今年|现在|刚满|刚过|刚)?(?:已经)?(?:满)?(?P<value>\d{1,3}|"
        r"[一二三四五六七八九十百两]{1,4})(?:周?岁)(?!的?时|以前|之前|那年|开始|就)",
        "age", "{who}{value}岁", age,
    ),
    rule(
        r"(?:是)?(?:出生于|生于|出生在)(?P<value>[^,。;!?\x00]{2,20})",
        "birthday", "{who}生于{value}", dated,
    ),
    rule(r"是(?P<value>[^,。;!?\x00]{2,16}?)(?:出生|生)的", "birthday", "{who}生于{value}", dated),
    rule(
        r"(?:家里?)?(?:养了|养着|有|养)(?P<value>[一两二三四五\d](?:只|条|个|匹|头)" + ANIMALS +
        r"(?:,?(?:名字|名)?叫[" + HAN + r"A-Za-z]{1,8})?)",
        "pet", "{who}养了{value}", anything,
    ),
    rule(
        r"有(?P<value>[一两二三四五\d]?个?(?:儿子|女儿|孩子|哥哥|弟弟|姐姐|妹妹|双胞胎)(?:,?(?:名字|"
        r"名)?叫[" + HAN + r"A-Za-z]{1,6})?)(?=$|[,。;!和])",
        "family", "{who}有{value}", anything,
    ),
    rule(
        NOW + r"(?:是)?(?P<value>已婚|未婚|单身|离异|离婚|结婚)(?:了|的|状态)?(?=$|[,。;!])",
        "marital_status", "{who}{value}", anything,
    ),
    rule(
        r"(?:患有|有|得了|患了|确诊了?|被确诊为?|查出了?)(?P<value>" + ILLS + r")",
        "condition", "{who}有{value}", anything,
    ),
    rule(NOW + r"(?P<value>怀孕)(?:了|\d|[一二三四五六七八九])", "condition", "{who}{value}了", anything),
    rule(r"(?P<value>乳糖不耐受?|麸质不耐受?|色盲|色弱)", "condition", "{who}{value}", anything),
    rule(
        r"(?:会说|会讲|能说|能讲|说|讲)(?:一点|流利的?|一些)?(?P<value>" + LANGUAGES + r"(?:[、和]" +
        LANGUAGES + r"){0,5})(?=$|[,。;!])",
        "speaks", "{who}会说{value}", items,
    ),
    rule(
        r"穿(?P<value>\d{2}(?:\.5)?(?:[-~到或]\d{2}(?:\.5)?)?)码的?鞋|(?:的)?鞋码?(?:是|穿)"
        r"(?P<more>\d{2}(?:\.5)?(?:[-~到或]\d{2}(?:\.5)?)?)",
        "shoe_size", "{who}穿{value}码的鞋", anything,
    ),
    rule(
        r"(?:的?衣服)?穿(?P<value>[SMLX\d]{1,4}|[大中小]|加大)[码号]",
        "size", "{who}穿{value}码", anything,
    ),
    rule(
        r"(?:是|来自)(?P<value>[" + HAN + r"]{2,8})人(?=$|[,。;!\s])",
        "hometown", "{who}是{value}人",
        one_of(
        r"^(?!一个|这个|那个|本地|外地|好|坏|普通|年轻|老实|成年|大|女|男|中国|负责|当事|监护|联系|收件|"
        r"主持|候选|单身|有钱|什么)[" + HAN + r"]{2,8}"),
    ),
    rule(r"来自(?P<value>[" + HAN + r"]{2,10})(?=$|[,。;!\s])", "hometown", "{who}来自{value}", phrase),
    rule(
        r"(?:就读于|毕业于|在(?=[^,。;!?\x00]{2,16}(?:读书|上学|念书|读研|读博|"
        r"读大[一二三四])))(?P<value>[^,。;!?\x00]{2,20}?(?:大学|学院|中学|高中|小学|学校))",
        "school", "{who}就读于{value}", phrase,
    ),
    rule(r"(?:在用|使用的是|用的是|改用了?|换成了?|换了|一直用)" + RAW, "uses", "{who}用{value}", phrase),
    rule(
        r"(?:将要?|准备|打算|计划|即将|(?:明天|后天|下周[一二三四五六日天末]?|下个?月|下个?星期|周末|"
        r"这周[一二三四五六日天末]|[\d一二三四五六七八九十]+月[\d一二三四五六七八九十]+[日号])(?:要|会|"
        r"将|准备|打算)?)(?:在|于)?(?P<value>(?:(?:明天|后天|下周|下个?月|"
        r"周)[^,。;!?\x00]{0,6})?(?:参加(?!的)|去|到|飞|出差|考|结婚|做手术|面试|搬到|"
        r"出发)[^,。;!?\x00]{0,28})",
        "plan", "{who}打算{value}", phrase,
    ),
)  # fmt: skip
BEHIND_EMPLOYER: Final = (
    rule(
        r"(?:当|做|担任)(?:一?[名个位])?(?P<value>[" + HAN + r"A-Za-z]{0,8}?(?:" + WORK + r"))(?=$|[,。;!])",
        "job", "{who}是{value}", phrase,
    ),
)  # fmt: skip
