"""The rules of Chinese: `我叫…`, `我住在…`, `我对…过敏`, `预算…`, `记住…`, `以后都…`, `不再…`, `换成…`.

A statement counts only where a clause begins with its subject; adverbs that speak of the past, of a wish or of a doubt
(`以前`, `想`, `可能`) are not among those a subject may have, so that such clauses never match.
"""

import re
from typing import Final

from actormem.core.rules import Language, Reader, Rule, age, amount, dated, email, one_of, phone

__all__ = ["CHINESE"]

PHRASE_CHARS_MAX: Final = 30  # longer is a story, not a value
BODY_CHARS_MAX: Final = 200

HAN: Final = "\u4e00-\u9fff"
RAW: Final = r"(?P<value>[^,;:!?。()\x00\n]{1,80})"
DEGREE: Final = r"(?:有点儿?|有些|严重|非常|特别|很|极度|轻微|轻度|重度|会|都|也|一直|十分)*"
NOW: Final = r"(?:现在|目前|已经|刚|最近)*"
RELATIONS: Final[dict[str, str]] = {
    "女朋友": "girlfriend", "男朋友": "boyfriend", "好朋友": "friend", "朋友": "friend", "闺蜜": "friend", "同学": "classmate", "同事": "colleague", "室友": "roommate", "舍友": "roommate", "邻居": "neighbor",
    "老板": "boss", "领导": "boss", "上司": "boss", "经理": "manager", "老婆": "wife", "妻子": "wife", "太太": "wife", "媳妇": "wife", "老公": "husband", "丈夫": "husband", "先生": "husband", "爱人": "spouse",
    "对象": "partner", "妈妈": "mother", "母亲": "mother", "老妈": "mother", "妈": "mother", "爸爸": "father", "父亲": "father", "老爸": "father", "爸": "father", "爸妈": "parents", "父母": "parents",
    "儿子": "son", "女儿": "daughter", "闺女": "daughter", "孩子": "child", "宝宝": "baby", "小孩": "child", "哥哥": "older brother", "弟弟": "younger brother", "姐姐": "older sister", "妹妹": "younger sister", "哥": "older brother",
    "姐": "older sister", "弟": "younger brother", "妹": "younger sister", "奶奶": "grandmother", "爷爷": "grandfather", "外婆": "grandmother", "外公": "grandfather", "姥姥": "grandmother", "姥爷": "grandfather", "叔叔": "uncle", "阿姨": "aunt", "舅舅": "uncle",
    "姑姑": "aunt", "表哥": "cousin", "表姐": "cousin", "表弟": "cousin", "表妹": "cousin", "堂哥": "cousin", "堂姐": "cousin", "堂弟": "cousin", "堂妹": "cousin", "侄子": "nephew", "侄女": "niece", "外甥": "nephew", "婆婆": "mother-in-law", "公公": "father-in-law",
    "岳母": "mother-in-law", "岳父": "father-in-law", "客户": "client", "老师": "teacher", "医生": "doctor", "助理": "assistant", "狗狗": "dog", "狗": "dog", "猫咪": "cat", "猫": "cat",
}  # fmt: skip
SURNAMES: Final = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付傅方邹熊白孟秦邱侯江尹薛阎段雷龙史陶贺毛郝顾龚邵覃武钱戴严莫孔汤温康施牛樊葛邢安齐庞伍庄"
)
COMPOUND: Final = "欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|司徒|端木|南宫|夏侯|独孤|长孙|宇文"
TAIL: Final = re.compile(r"(?:了|的|哦|啊|呀|啦|呢|哈|噢|喔|嘛|哟|吧|而已|一下|左右吧|~|\.|\"|'|\s)+$")
CUT: Final = re.compile(
    r"(?:但是|但|不过|所以|因为|而且|然后|可是|并且|同时|以便|谢谢|帮我|麻烦你?|请你|请帮|请问|请给|你?能不能|有没有|该怎么|怎么|你有|你觉得|你看|可以吗|\x00|\n)"
)
VAGUE: Final = re.compile(
    r"(?:你|您|他|她|它|这|那|此|什么|怎么|哪|谁|自己|我|大家|上了|上你|上他|上她|的|了|着|过|不|没|是|就|都|也|很|把|被|给|让|跟|和|与|在|到|有人|人家|别人|一下|吧|吗|死|疯|极|看到|听到|知道|多少|几)"
)
SPLIT: Final = re.compile(r"、|以及|还有|(?<![温柔总饱随缓共暖祥平谦亲])和(?![谐平牛服风田式睦解气善])|(?<!参)与(?![否众会])|/|(?<=[a-zA-Z])\s*(?:and|&)\s*")
NAME: Final = re.compile(r"[A-Z][A-Za-z'.-]*(?:\s[A-Z][A-Za-z'.-]*){0,3}|[a-z]{2,20}$|[" + HAN + r"]{2,4}(?:·[" + HAN + r"]{1,6}){0,2}")
NOT_NAMES: Final = re.compile(r"[他她它你您们人车不没别外][" + HAN + r"]?|.*(?:外卖|滴滴|快递|过来|过去|帮忙|起床|吃饭|出来|出去|大家|什么|为什么|回来|一声|服务|代驾|了|醒|家政|救护车|保安|服务员)|[让把被给从]")
SURNAMED: Final = re.compile(rf"(?:{COMPOUND}|[{SURNAMES}])[{HAN}]{{1,2}}$|[小阿老大][{HAN}]{{1,2}}$|([{HAN}])\1$|[A-Z]")
NOT_PLACE: Final = re.compile(r"(?:这|那|哪|一起|一个|楼上|楼下|隔壁|附近|外面|里面|一家|什么|同一|你|您|他|她|别|不|新家|新房|大城市|农村$|城里$|家里|家$|酒店$|医院$|宿舍$|学校$|公司$|国外$|外地$|城市$|二楼$|一楼$)")
PLACE_TAIL: Final = re.compile(r"(?:已经|都)?(?:快|有)?(?:[一二三四五六七八九十两几多半\d]+(?:个?多?月|年多?|天|周|个星期)|很久|好久|好几年)(?:了|多了)?$|(?:工作|上班|生活|读书|上学|定居|这边|那边|住)$")
PAST: Final = re.compile(r"的时候|期间|的那|的话|的(?:朋友|同学|同事|人|日子|经历)|时$|以前|之前$")


def cut(text: str) -> str:
    """The words up to where another thought begins, without particles at the end."""
    stop = CUT.search(text)
    return TAIL.sub("", text[: stop.start()] if stop else text).strip(" \"'")


def phrase(text: str) -> tuple[str, ...]:
    """One value of a few characters."""
    value = cut(text)
    return (value,) if value and len(value) <= PHRASE_CHARS_MAX and not VAGUE.match(value) and not PAST.search(value) else ()


def items(text: str) -> tuple[str, ...]:
    """The values of a list such as `花生、虾和牛奶`."""
    value = cut(text)
    parts = [part.strip(" \"'") for part in SPLIT.split(value)]
    if not all(parts) or any(VAGUE.match(part) for part in parts[1:]):
        return phrase(text)
    return tuple(part for part in parts if len(part) <= PHRASE_CHARS_MAX) if not VAGUE.match(value) and not PAST.search(value) else ()


def name(text: str) -> tuple[str, ...]:
    """A name after words that say it is one."""
    match = NAME.match(text.strip(" \"'"))
    value = TAIL.sub("", match[0]) if match else ""
    return (value,) if len(value) > 1 and not NOT_NAMES.match(value) else ()


def called(text: str) -> tuple[str, ...]:
    """A name after `我叫`, which may also mean to call for something: it fills the clause and looks like a name."""
    words = cut(text).split(" ")[0] if text[:1] > "\u2e80" else cut(text)
    value = name(words)
    return value if value and value[0] == words and (SURNAMED.match(words) or "·" in words or len(words) == 2) else ()


def place(text: str) -> tuple[str, ...]:
    """A city or a street address."""
    value = PLACE_TAIL.sub("", cut(text)).strip(" \"'")
    return (value,) if 2 <= len(value) <= 60 and not NOT_PLACE.match(value) and not PAST.search(value) else ()


def organisation(text: str) -> tuple[str, ...]:
    """An employer's name."""
    value = cut(text)
    return (value,) if 2 <= len(value) <= PHRASE_CHARS_MAX and not NOT_PLACE.match(value) and not PAST.search(value) and not NOT_EMPLOYER.match(value) else ()


NOT_EMPLOYER: Final = re.compile(r"(?:家|公司|单位|这里|外面|办公室|网上|线上|国外|夜里|白天|晚上|周末|远程|加班|努力|北京|上海|广州|深圳|杭州|成都|南京|武汉|西安|重庆|天津|苏州|一线城市|工厂里|[早中下]午)(?:市)?$|一[家个所]|.{0,10}(?:时间|期间|方面)$")
WORK: Final = (
    r"工程师|程序员|设计师|老师|教师|医生|护士|律师|会计师?|教授|学生|大学生|研究生|博士生?|产品经理|项目经理|经理|销售员?|厨师|司机|飞行员|空姐|记者|编辑|作家|摄影师|画家|音乐人|歌手|演员|导演|公务员|警察|消防员"
    r"|军人|农民|店主|老板娘?|创业者|自由职业者?|全职妈妈|家庭主妇|数据分析师|分析师|咨询师|顾问|翻译|导游|药剂师|药师|牙医|兽医|心理咨询师|健身教练|教练|主播|博主|快递员|外卖员|电工|木工|建筑师|科学家|研究员|运营|测试|架构师|化妆师|理发师|主厨"
)
DIETS: Final = r"(?:纯素食者|纯素主义者|素食者|素食主义者|蛋奶素|鱼素者|穆斯林|清真饮食|清真|生酮饮食|低碳饮食|无麸质饮食|低糖饮食|低盐饮食|纯素|素食)"
ILLS: Final = r"(?:[12一二]型)?糖尿病|高血压|低血糖|哮喘|癫痫|乳糖不耐(?:受|症)?|心脏病|胃病|胃炎|关节炎|痛风|抑郁症|焦虑症|失眠症?|偏头痛|高血脂|脂肪肝|甲亢|甲减|鼻炎|荨麻疹|湿疹|近视|色盲|色弱|贫血|腰椎间盘突出|颈椎病|腰肌劳损|肾结石|蚕豆病|麸质不耐受?"
ANIMALS: Final = r"(?:[" + HAN + r"]{0,4}(?:猫|狗|犬)|橘猫|布偶|柯基|柴犬|金毛|哈士奇|泰迪|仓鼠|兔子|鹦鹉|乌龟|金鱼|龙猫|荷兰猪|蜥蜴|蛇)"
LANGUAGES: Final = r"(?:中文|汉语|普通话|英文|英语|日语|日文|法语|德语|西班牙语|葡萄牙语|意大利语|韩语|俄语|阿拉伯语|粤语|广东话|上海话|泰语|越南语|繁体(?:中文|字)?|简体(?:中文|字)?)"
PAYMENTS: Final = r"(?:支付宝|微信(?:支付)?|信用卡|花呗|银行卡|货到付款|现金|云闪付|数字人民币|Apple Pay|PayPal|对公转账|银行转账)"
SEATS: Final = r"(?:靠窗|靠过道|靠走道|过道|前排|后排|中间|安全出口|靠近?走廊|窗边)(?:旁?边?)?(?:的?(?:座位|位置|位子|座|位))?"
DELIVERIES: Final = r"(?:送货上门|放(?:在)?(?:快递柜|驿站|门口|前台|菜鸟驿站|物业)|上门自提|自提|顺丰(?:快递)?|京东(?:快递|物流)|次日达|工作日送货|周末送货|加急)"
BECOME: Final = r"(?:是|为|:|变成了?|改成了?|改为|换成了?|更新为|调整[到为成]|更改为|变更为|现在是|应该是|就是|还是)"


def rule(pattern: str, attribute: str, text: str, read: Reader, *, negated: bool = False) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), attribute, text, read, negated)


def anything(text: str) -> tuple[str, ...]:
    return (cut(text),) if cut(text) else ()


PREDICATES: Final = (
    rule(r"(?:已经|早就|现在)*(?:不再?对(?P<value>[^,。;!?\x00]{1,40}?)过敏|对(?P<more>[^,。;!?\x00]{1,40}?)(?:已经|现在)?不(?:再|会)?过敏)了?", "allergy", "{who}不再对{value}过敏", items, negated=True),
    rule(r"对(?P<value>[^,。;!?\x00]{1,40}?)(?:都|也)?" + DEGREE + "过敏", "allergy", "{who}对{value}过敏", items),
    rule(r"(?:一?(?:吃|喝|碰|闻到?|接触)(?:到|了)?)(?P<value>[^,。;!?\x00]{1,20}?)(?:就|会|都)*" + DEGREE + r"过敏", "allergy", "{who}对{value}过敏", items),
    rule(r"(?:有|得过)(?P<value>[^,。;!?的\x00]{1,12}?)过敏(?:史|症)?", "allergy", "{who}对{value}过敏", items),
    rule(r"(?P<value>[" + HAN + r"]{1,6})过敏(?=$|[,。;!的\s])", "allergy", "{who}对{value}过敏", items),
    rule(NOW + r"不(?:再)?(?:住在?|在)(?P<value>[^,。;!?\x00]{2,40}?)(?:住)?了", "address", "{who}不再住在{value}", place, negated=True),
    rule(NOW + r"(?:从(?P<value>[^,。;!?\x00]{2,30}?)搬(?:走|出来?|出去))了?", "address", "{who}不再住在{value}", place, negated=True),
    rule(NOW + r"(?:从[^,。;!?\x00]{1,30}?)?(?:搬家?|搬家了,?搬)(?:到|去|来|回|进)了?" + RAW, "address", "{who}住在{value}", place),
    rule(NOW + r"搬家了(?P<value>)", "address", "{who}搬家了", lambda _: ("",), negated=True),
    rule(r"(?:就|都|家)?(?:住在|住|定居在|家住在?|家在|家就?在|居住在|租住在|长住)" + RAW, "address", "{who}住在{value}", place),
    rule(NOW + r"不(?:再)?在(?P<value>[^,。;!?\x00]{2,30}?)(?:工作|上班|干|任职)了", "employer", "{who}不再在{value}工作", organisation, negated=True),
    rule(NOW + r"(?:从(?P<value>[^,。;!?\x00]{2,30}?))?(?:辞职|离职|失业|被裁)了", "employer", "{who}离职了", lambda text: (cut(text),), negated=True),
    rule(NOW + r"换工作了(?P<value>)", "employer", "{who}换了工作", lambda _: ("",), negated=True),
    rule(NOW + r"换(?:了)?(?:手机号|号码|电话)了?(?P<value>)(?=$|[,。;!])", "phone", "{who}换了手机号", lambda _: ("",), negated=True),
    rule(r"(?:是)?在(?P<value>[^,。;!?\x00]{2,30}?)(?:工作|上班|任职|就职|供职)(?!的)", "employer", "{who}在{value}工作", organisation),
    rule(NOW + r"(?:入职|加入|跳槽到|就职于|任职于|供职于)了?" + RAW, "employer", "{who}在{value}工作", organisation),
    rule(NOW + r"不再?是(?P<value>" + DIETS + r")了?", "diet", "{who}不再是{value}", anything, negated=True),
    rule(NOW + r"不再?(?:坚持)?(?P<value>吃素|吃纯素|吃清真|素食|生酮)了?", "diet", "{who}不再{value}", one_of("吃素|吃纯素|吃清真|" + DIETS + "|生酮"), negated=True),
    rule(r"(?:是|成了|变成了?|改)(?:一?[个名位])?(?P<value>" + DIETS + r")", "diet", "{who}是{value}", anything),
    rule(r"(?:只|在)?(?P<value>吃素|吃纯素|吃清真|吃全素|生酮饮食|低碳饮食)(?:的|了)?", "diet", "{who}{value}", anything),
    rule(r"(?:是|在做|从事)(?:一?[名个位])?(?P<value>[" + HAN + r"A-Za-z ]{0,12}?(?:" + WORK + r"))(?=$|[,。;!的\s])", "job", "{who}是{value}", phrase),
    rule(r"是(?P<value>做[^,。;!?\x00]{1,12}?)的(?=$|[,。;!])", "job", "{who}是{value}的", phrase),
    rule(NOW + r"(?:不再|再也不)(?:喜欢|爱|想)(?P<value>[^,。;!?\x00]{1,30}?)了?(?=$|[,。;!])", "likes", "{who}不再喜欢{value}", items, negated=True),
    rule(NOW + r"不(?:太|怎么|是很)?(?:喜欢|爱)(?P<value>[^,。;!?\x00]{1,30}?)了(?=$|[,。;!])", "likes", "{who}不再喜欢{value}", items, negated=True),
    rule(r"(?:不(?:太|怎么|是很|大|是特别)?(?:喜欢|爱|想要)|讨厌|受不了|最?烦|反感|厌恶|恨)(?!上)" + RAW, "dislikes", "{who}不喜欢{value}", items),
    rule(NOW + r"不再?(?:用|使用)(?P<value>[^,。;!?\x00]{2,20}?)了", "uses", "{who}不再用{value}", items, negated=True),
    rule(r"(?:从来)?不(?:能|会|可以)?(?:吃|喝|碰)(?P<value>(?![了早晚午下上得到完饭不惯药起亏这那]|中饭|宵夜)[^,。;!?\x00]{1,15})", "avoids", "{who}不吃{value}", items),
    rule(r"(?:更|最|比较)?(?:倾向于?|偏好|偏向|更喜欢|更爱|更愿意)" + RAW, "preference", "{who}更喜欢{value}", phrase),
    rule(r"最喜欢的(?P<thing>[" + HAN + r"]{1,4}?)(?:是|就是|有)" + RAW, "favorite", "{who}最喜欢的{thing}是{value}", phrase),
    rule(r"(?:喜欢|热爱|钟爱|酷爱|喜爱|爱(?=[吃喝看听玩打跑画读写唱跳爬游骑])|迷上了?|爱上了?)(?:上了)?(?!的是)" + RAW, "likes", "{who}喜欢{value}", items),
    rule(r"(?:习惯)?(?:用|使用|刷)(?P<value>" + PAYMENTS + r")(?:付款|支付|付钱|结账|付)", "payment", "{who}用{value}付款", anything),
    rule(r"(?:是叫|名叫|叫做|叫)" + RAW, "name", "{who}叫{value}", called),
    rule(r"姓(?P<value>" + COMPOUND + r"|[" + HAN + r"])(?:,?(?:名|叫)(?P<more>[" + HAN + r"]{1,3}))?(?=$|[,。;!\s])", "name", "{who}姓{value}", anything),
    rule(r"(?:今年|现在|刚满|刚过|刚)?(?:已经)?(?:满)?(?P<value>\d{1,3}|[一二三四五六七八九十百两]{1,4})(?:周?岁)(?!的?时|以前|之前|那年|开始|就)", "age", "{who}{value}岁", age),
    rule(r"(?:是)?(?:出生于|生于|出生在)(?P<value>[^,。;!?\x00]{2,20})", "birthday", "{who}生于{value}", dated),
    rule(r"是(?P<value>[^,。;!?\x00]{2,16}?)(?:出生|生)的", "birthday", "{who}生于{value}", dated),
    rule(r"(?:家里?)?(?:养了|养着|有|养)(?P<value>[一两二三四五\d](?:只|条|个|匹|头)" + ANIMALS + r"(?:,?(?:名字|名)?叫[" + HAN + r"A-Za-z]{1,8})?)", "pet", "{who}养了{value}", anything),
    rule(r"有(?P<value>[一两二三四五\d]?个?(?:儿子|女儿|孩子|哥哥|弟弟|姐姐|妹妹|双胞胎)(?:,?(?:名字|名)?叫[" + HAN + r"A-Za-z]{1,6})?)(?=$|[,。;!和])", "family", "{who}有{value}", anything),
    rule(NOW + r"(?:是)?(?P<value>已婚|未婚|单身|离异|离婚|结婚)(?:了|的|状态)?(?=$|[,。;!])", "marital_status", "{who}{value}", anything),
    rule(r"(?:患有|有|得了|患了|确诊了?|被确诊为?|查出了?)(?P<value>" + ILLS + r")", "condition", "{who}有{value}", anything),
    rule(NOW + r"(?P<value>怀孕)(?:了|\d|[一二三四五六七八九])", "condition", "{who}{value}了", anything),
    rule(r"(?P<value>乳糖不耐受?|麸质不耐受?|色盲|色弱)", "condition", "{who}{value}", anything),
    rule(r"(?:会说|会讲|能说|能讲|说|讲)(?:一点|流利的?|一些)?(?P<value>" + LANGUAGES + r"(?:[、和]" + LANGUAGES + r"){0,5})(?=$|[,。;!])", "speaks", "{who}会说{value}", items),
    rule(r"穿(?P<value>\d{2}(?:\.5)?)码的?鞋|(?:的)?鞋码?(?:是|穿)(?P<more>\d{2}(?:\.5)?)", "shoe_size", "{who}穿{value}码的鞋", anything),
    rule(r"(?:的?衣服)?穿(?P<value>[SMLX\d]{1,4}|[大中小]|加大)[码号]", "size", "{who}穿{value}码", anything),
    rule(r"(?:是|来自)(?P<value>[" + HAN + r"]{2,8})人(?=$|[,。;!\s])", "hometown", "{who}是{value}人", one_of(r"^(?!一个|这个|那个|本地|外地|好|坏|普通|年轻|老实|成年|大|女|男|中国|负责|当事|监护|联系|收件|主持|候选|单身|有钱|什么)[" + HAN + r"]{2,8}")),
    rule(r"来自(?P<value>[" + HAN + r"]{2,10})(?=$|[,。;!\s])", "hometown", "{who}来自{value}", phrase),
    rule(r"(?:就读于|毕业于|在(?=[^,。;!?\x00]{2,16}(?:读书|上学|念书|读研|读博|读大[一二三四])))(?P<value>[^,。;!?\x00]{2,20}?(?:大学|学院|中学|高中|小学|学校))", "school", "{who}就读于{value}", phrase),
    rule(r"(?:在用|使用的是|用的是|改用了?|换成了?|换了|一直用)" + RAW, "uses", "{who}用{value}", phrase),
    rule(r"(?:将要?|准备|打算|计划|即将|(?:明天|后天|下周[一二三四五六日天末]?|下个?月|下个?星期|周末|这周[一二三四五六日天末]|[\d一二三四五六七八九十]+月[\d一二三四五六七八九十]+[日号])(?:要|会|将|准备|打算)?)(?:在|于)?(?P<value>(?:(?:明天|后天|下周|下个?月|周)[^,。;!?\x00]{0,6})?(?:参加|去|到|飞|出差|考|结婚|做手术|面试|搬到|出发)[^,。;!?\x00]{0,28})", "plan", "{who}打算{value}", phrase),
)  # fmt: skip
NOUNS: Final = (
    rule(r"(?:的)?(?:名字|姓名|全名|本名|真名)(?:就)?(?:是|叫做?|为|:|改成了?|改为)" + RAW, "name", "{who}的名字是{value}", name),
    rule(r"(?:的)?(?:昵称|外号|小名|英文名)(?:是|叫|为|:)" + RAW, "nickname", "{who}的昵称是{value}", name),
    rule(r"(?:的)?(?:收货|送货|配送|快递|收件|邮寄)地址" + BECOME + "+" + RAW, "shipping_address", "{who}的收货地址是{value}", place),
    rule(r"(?:的)?(?:家庭|新|现|居住)?(?:住址|地址|家)(?:" + BECOME + r"+|在)" + RAW, "address", "{who}的地址是{value}", place),
    rule(r"(?:的)?(?:新)?(?:手机号?码?|电话号?码?|联系电话|联系方式|号码|手机)(?:已经)?" + BECOME + r"*(?P<value>[+\d(][^,;:!?。\x00\n]{6,30})", "phone", "{who}的手机号是{value}", phone),
    rule(r"(?:的)?(?:新)?(?:邮箱(?:地址)?|电子邮箱|邮件地址|e-?mail)" + BECOME + r"*\s?(?P<value>[\w.+-]{1,64}@[^\s,;!?。\x00]{3,190})", "email", "{who}的邮箱是{value}", email),
    rule(r"(?:的)?(?:阳历|农历|阴历)?生日(?:是|在|为|:)(?P<value>[^,;:!?。\x00\n]{2,20})", "birthday", "{who}的生日是{value}", dated),
    rule(r"(?:的)?(?:年龄)(?:是|为|:)(?P<value>\d{1,3}|[一二三四五六七八九十]{1,4})", "age", "{who}{value}岁", age),
    rule(r"(?:的)?(?:职业|工作|职位|岗位)(?:是|为|:)(?P<value>[^,;:!?。\x00\n]{2,20})", "job", "{who}的职业是{value}", phrase),
    rule(r"(?:的)?(?:公司|单位|雇主)(?:是|叫|为)" + RAW, "employer", "{who}在{value}工作", organisation),
    rule(r"(?:的)?(?:老家|家乡|籍贯)(?:是|在|为)" + RAW, "hometown", "{who}的家乡是{value}", place),
    rule(r"(?:的)?(?:过敏原|过敏源)(?:是|有|包括)" + RAW, "allergy", "{who}对{value}过敏", items),
    rule(r"(?:的)?(?:爱好|兴趣爱好|兴趣)(?:是|有|包括)" + RAW, "likes", "{who}喜欢{value}", items),
    rule(r"(?:的)?母语是(?P<value>" + LANGUAGES + r")", "language", "{who}的母语是{value}", anything),
    rule(r"(?:的)?血型是?(?P<value>(?:AB|A|B|O)型?)", "blood_type", "{who}的血型是{value}", anything),
    rule(r"(?:的)?鞋码(?:是|为|:)?(?P<value>\d{2}(?:\.5)?)", "shoe_size", "{who}穿{value}码的鞋", anything),
    rule(r"(?:的)?(?:衣服)?(?:尺码|尺寸|衣服)(?:是|为|:|穿)(?P<value>[SMLX\d]{1,4}|[大中小])(?:码|号)?", "size", "{who}穿{value}码", anything),
    rule(r"(?:的)?身高(?:是|为|:)?(?P<value>[\d一米.]{1,6}(?:cm|厘米|公分|米|\d{0,2})?)", "height", "{who}身高{value}", anything),
    rule(r"(?:的)?体重(?:是|为|:)?(?P<value>\d{2,3}(?:\.\d)?(?:kg|公斤|斤|千克)?)", "weight", "{who}体重{value}", anything),
    rule(r"(?:的)?(?:最终|长期|短期|今年的)?目标是" + RAW, "goal", "{who}的目标是{value}", phrase),
    rule(r"(?:的)?(?P<thing>护照|会员|会员卡|工号|学号|车牌|员工|客户)(?:号码?|编号)?(?:是|为|:)\s?(?P<value>[A-Za-z0-9" + HAN + r"·-]{3,24})", "number", "{who}的{thing}号是{value}", one_of(r"[A-Za-z0-9·-]*\d[A-Za-z0-9·-]*")),
)  # fmt: skip
BARE: Final = (
    rule(r"(?:请|你?可以|以后|你就|就)*(?:叫|称呼)我(?:做|为)?" + RAW, "nickname", "{who}希望被称为{value}", called),
    rule(r"(?:我们?的?)?(?:总|购物|旅行|购买|这次的?|新|月|每月)?预算(?:大概|大约|差不多|现在|一共|总共|已经|可以|能|最高|限制|控制|定|调整|改|提高|增加|降|减|加|提升|换|就|只|上限|大致|应该|在|是|有|为|成|到|了|:|\s)*(?P<value>(?:不超过|最多|低于|少于)?[¥$€£]?(?:\d|[一二两三四五六七八九十百千万]+[元块万千百美欧])[^,;:!?。\x00\n]{0,20})", "budget", "{who}的预算是{value}", amount),
    rule(r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:收货|送货|配送|快递|收件|邮寄)地址" + BECOME + "+" + RAW, "shipping_address", "{who}的收货地址是{value}", place),
    rule(r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:新|家庭)?(?:地址|住址)(?:改成了?|改为|换成了?|变成了?|更新为|变更为)" + RAW, "address", "{who}的地址是{value}", place),
    rule(r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:新)?(?:手机号?码?|电话号?码?|号码|联系电话)(?:已经|都)?(?:改成了?|改为|换成了?|变成了?|更新为|是|换了,?现在是)(?P<value>[+\d(][^,;:!?。\x00\n]{6,30})", "phone", "{who}的手机号是{value}", phone),
    rule(r"(?:请|麻烦|帮我|你?把)*(?:我的)?(?:新)?(?:邮箱)(?:地址)?(?:改成了?|改为|换成了?|变成了?|更新为|是)\s?(?P<value>[\w.+-]{1,64}@[^\s,;!?。\x00]{3,190})", "email", "{who}的邮箱是{value}", email),
    rule(r"(?:以后|今后|还是)?(?:座位|选座)(?:都|一律|请|就|帮我)*(?:换成|改成|要|选|安排)(?P<value>" + SEATS + r")", "seat", "{who}更喜欢{value}", anything),
)  # fmt: skip
RELATION: Final = "|".join(sorted(RELATIONS, key=len, reverse=True))
ADVERBS: Final = (
    r"(?:现在|目前|一直|平时|平常|通常|一般|都|也|还是|还|就|很|真的|其实|已经|刚|最近|从小|总是|经常|特别|非常|比较|最(?!喜欢的)|超级?|挺|十分|尤其|确实|本来就|天生|主要|个人|本人|长期|常年|习惯|今年|目前为止|仍然|依然|一向|向来|更(?!喜欢|爱|愿意)|绝对|\s)*"
)
SUBJECT: Final = re.compile(
    rf"(?:我|本人|俺)(?!们)(?:的|有个|有一个|有位)?(?P<relation>{RELATION})(?!圈)(?P<name>[A-Z][A-Za-z]{{0,20}}|(?:[小老阿]|{COMPOUND}|[{SURNAMES}])[{HAN}]{{1,2}}?(?=对|住|叫|的|在|是|喜欢|搬|今年|不|也|吃))?(?P<owns>的)?{ADVERBS}"
    rf"|(?P<self>我|本人|俺)(?!们){ADVERBS}"
)
GATE: Final = tuple(
    "我 本人 俺 记 别忘 不要忘 备忘 以后 今后 从现在 从今 往后 从此 每次 一律 永远 始终 总是 预算 地址 手机 电话 号码 邮箱 座位 选座 称呼 不对 不是 错了 更正 纠正 抱歉 不好意思 对不起 哦不 等等 其实 换成 改成".split()
)
LEAD: Final = (
    r"(?:(?:你好|您好|嗨|哈喽|哈啰|早上好|下午好|晚上好|早|大家好|其实|另外|还有|对了|那个|嗯{1,4}|哦{1,4}|噢|啊|请注意|注意|顺便说一下|顺便提一句|顺便|而且|但是|但|不过|因为|由于|所以|然后|同时|此外|当然|补充一下|提醒一下|说明一下|跟你说一?下?|告诉你|你知道"
    r"|我?改主意了|我?改变主意了|是这样的?|现在|目前|如今|最近|呃|好的?|可是|毕竟|反正|总之|首先|其次|最后|并且|既然|考虑到|鉴于|哎呀?|唉|抱歉|不好意思|谢谢你?|自我介绍一下|介绍一下|我说过|我跟你说过|我告诉过你|要知道|需要说明的是|事实上|说起来|话说)[\s,!:、]{0,3}){0,4}"
)
STARTS: Final = re.compile(rf"(?:^\s*|[,:(]\s*|(?<=[{HAN}])\s+(?=[{HAN}])|(?:因为|所以|但是|而且|不过|由于|并且)(?=我))(?:[-*•\d.)、\s]{{0,6}})(?P<lead>" + LEAD + ")")
REMEMBER: Final = re.compile(
    r"(?:请|麻烦|你|您|要|帮我|一定要?|务必|千万|能不能|能|可以|可不可以|好好|也|还)*(?:记住|记一下|记下来?|记得|别忘了|不要忘了|牢记|备忘)(?:这点|这件事|这个|一下|了|哦|啊|我说的)*(?:[,:\s]*)(?P<value>[^\x00]{2,250})"
)
HENCEFORTH: Final = re.compile(
    r"(?:请|你|您|那)*(?:(?:以后|今后|从现在起|从今天起|从今以后|从现在开始|从今天开始|往后|从此)(?:,|的?(?:对话|回答|回复|聊天)(?:里|中)?|(?=[都请一用别不每给推我你回凡叫要直就只尽先]))(?P<value>[^\x00]{2,200})"
    r"|(?P<plain>(?:每次都?|一律|永远|始终|总是)(?:要|请|用|给|先|别|不要|回答|回复|帮我|以)[^\x00]{2,150}))"
)
CORRECTION: Final = re.compile(
    r"(?:(?:不对|不是|错了|说错了|我说错了|搞错了|弄错了|更正一?下?|纠正一?下?|抱歉|不好意思|对不起|哦不|等等|其实)[,.!:\s]*){1,3}(?:不是[^,]{1,30},\s*)?(?:我的?意思是|我是说|我想说的是|应该是|应该|而是|改成|换成|是)(?P<value>[^,;!?。\x00\n]{1,60})"
    r"|不是[^,]{1,30},\s*(?:而是|应该是|是)(?P<more>[^,;!?。\x00\n]{1,60})"
)
ASKING: Final = re.compile(
    r"什么|怎么|哪|谁|几[个岁点号月]|多少|吗|呢$|吧$|么$|是不是|有没有|能不能|会不会|可不可以|要不要|为什么|为何|如何|是否|还记得|可以[^,]{0,12}$|推荐[^,]{0,12}$"
)
TAG: Final = re.compile(r"\s*(?:对吗|对吧|对不对|是吗|是吧|是不是|没错吧|没错|right|不是吗|记得吗|你还?记得吗|知道吗)\s*$")
UNFIT: Final = re.compile(
    r"(?:什么|怎么|谁|哪|多少|吗|没|你(?!以后|要)|您|他|她|它|这|那(?!个)|了|过|我(?:说|刚才|之前|问|们|的名字$|的话)|带(?!我)|得|的|上次|当时|有一次|有次|小时候|以前|去年)"
)


def body(text: str) -> str:
    """The words of a command that are worth keeping, or an empty string."""
    value = re.sub(r"(?:[,\s]*(?:谢谢你?|好吗|可以吗|行吗|吗|了|哦|啊|吧|ok))+$", "", text.strip(" ,.:。'\"*-"))
    return "" if UNFIT.match(value) or ASKING.search(value) or len(value) < 3 or len(value) > BODY_CHARS_MAX else value


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
        ("language", re.compile(r"^(?:都|请|一律|只|跟我|和我|你|尽量|,)*(?:用|说|讲)?" + LANGUAGES + r"(?:来|跟我|和我)?(?:回答|回复|交流|聊天|沟通|对话|写)?我?(?:的?问题)?$")),
        ("reply_length", re.compile(r"(?:简短|简洁|精简|详细|简单明了|言简意赅|短一?点|长一?点).{0,8}(?:回答|回复|答案|说明)|(?:回答|回复).{0,6}(?:简短|简洁|精简|详细|短一?点|长一?点|言简意赅)")),
    ),
    preferred="{who}更喜欢{value}",
)  # fmt: skip
