"""What exact values look like, in Chinese and English: patterns for each kind.

Law of the file: every quantifier has an upper bound, and a long run is taken possessively, so the steps
of a search are at most a constant times the length of the text. Patterns propose; what a match must
pass to be believed stands in `checks`.
"""

import re
from typing import Final

import msgspec

from actormem.core.entities.dates import (
    DATE_DAY,
    DATE_DIGITS,
    DATE_HAN,
    DATE_MONTH,
    MONTH_STARTS,
    RELATIVE_ENGLISH,
    RELATIVE_HAN,
)
from actormem.core.entities.numbers import DIGITS, HAN_NUMBER, NUMBER

__all__ = ["AT_DIGITS", "AT_SIGNS", "PATTERNS", "SIGNS", "SIGN_LETTERS_MAX", "Pattern"]


class Pattern(msgspec.Struct, frozen=True):
    """How one kind of value looks.

    Attributes:
        kind: The kind of entity it proposes; `number` and `token` are decided later.
        search: The pattern; its group `value` or `other`, where it has one, is the value.
        rank: Its place in order of trust: of two matches of one length the lower wins.
        letters: Characters at least one of which is in every match; empty: no such. Saves the search.
        words: Lower-case texts at least one of which is in every match; empty: no such.
    """

    kind: str
    search: re.Pattern[str]
    rank: int
    letters: frozenset[str]
    words: tuple[str, ...]


def _of(
    kind: str, source: str, letters: str = "", *, rank: int, words: tuple[str, ...] = (), case: bool = False
) -> Pattern:
    return Pattern(
        kind,
        re.compile(source, re.ASCII if case else re.ASCII | re.IGNORECASE),
        rank,
        frozenset(letters),
        words,
    )


_ARABIC = "0123456789"
_HAN = "[一-龥]"
_NUMBER_START = r"(?<![\d.,第A-Za-z_])"

# --- money ----------------------------------------------------------------------------------------
_CURRENCY_CODE = r"(?:CNY|RMB|USD|EUR|GBP|JPY|HKD|AUD|CAD)"
_BEFORE = (
    rf"(?:(?:US|HK|NT|CA|AU|S)?\$|[¥￥€£₹₩]|(?<![A-Za-z]){_CURRENCY_CODE}(?![A-Za-z])"
    r"|人民币|港币|美元|美金|欧元|英镑|日元)"
)
_AFTER = (
    r"(?:人民币|块钱|块(?![儿去头])|元(?!素|旦|宵|年|月)|圆(?![形圈])|美元|美金|欧元|英镑|港币|港元|日元|韩元|澳元|加元"
    r"|(?:CNY|RMB|USD|EUR|GBP|JPY|HKD|AUD|CAD|US\sdollars?|dollars?|bucks|euros?|pounds?|yuan|yen|cents)(?![A-Za-z]))"
)
_AMOUNT_BEFORE = rf"{_BEFORE}\s?{NUMBER}(?:\s?{_AFTER})?"
_SCALE = r"(?:万亿|[十百千]?万|亿)"
_AMOUNT_AFTER = (
    rf"{_NUMBER_START}(?:{DIGITS}\s?[-–~～到至]\s?)?{DIGITS}(?:\s?(?:{_SCALE}|[百千]|k(?![a-z])|m(?![a-z])|million|billion|thousand))?"
    rf"(?:\d{{1,4}}[千百])?\s?{_AFTER}(?:[一二三四五六七八九](?![一-龥]))?"
    rf"|{_NUMBER_START}{DIGITS}\s?{_SCALE}(?:\d{{1,4}}[千百])?(?!\s?(?:km|kg))(?:(?!{_HAN})|(?=[左上以之的是吧吗呢了]))"
)
_HAN_AMOUNT = (
    rf"(?<![一二两三四五六七八九十百千万第]){HAN_NUMBER}(?:点[一二三四五六七八九]{{1,4}})?\s?"
    rf"(?:块钱|元(?!素|旦|宵|年|月)|美元|美金|欧元|英镑|港币|日元)"
    rf"|(?<![一二两三四五六七八九十百千万第])(?:[一二两三四五六七八九][十百千万][零一二两三四五六七八九十百千万亿]{{0,12}}+|十[一二三四五六七八九]?)块(?:[一二三四五六七八九](?!{_HAN}))?"
    rf"|(?<![一二两三四五六七八九十百千万第])[一二两三四五六七八九][十百千]{{0,3}}[万亿][零一二两三四五六七八九十百千万]{{0,12}}+(?=[左上以之的，。、,.是吧吗呢了\s]|$)"
)
_PERCENT = rf"(?<![\d.,A-Za-z_])[-+]?{DIGITS}\s?(?:[%％]|percent(?:age\spoints?)?(?![a-z])|个百分点)"
_PERCENT_HAN = (
    rf"(?<!{_HAN}十)百分之(?:{DIGITS}|[零一二两三四五六七八九十百点]{{1,8}}+)"
    rf"|(?<![\d.第]){DIGITS}\s?折|(?<![一-龥])[一二三四五六七八九]{{1,2}}折|(?<=打)[一二三四五六七八九]{{1,2}}折"
)

# --- time -----------------------------------------------------------------------------------------
_PART = r"(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|半夜|今晚|明早|明晚|[早晚])"
_HOUR = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})"
_MINUTE = r"(?:\d{1,2}|[零一二三四五六七八九十]{1,3})"
_TIME = (
    r"(?<![\d:.])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])(?:\s?[ap]\.?m\b\.?)?"
    r"|(?<![\w.:,])\d{1,2}\s?(?:[ap]m|[ap]\.m\.?)(?![A-Za-z])"
)
_TIME_HAN = (
    rf"{_PART}\s?{_HOUR}\s?(?:点钟?(?:半|整|[一三]刻|{_MINUTE}分?)?|时(?:{_MINUTE}分)?)"
    rf"|{_PART}\s?\d{{1,2}}[:：]\d{{2}}"
    rf"|(?<![\d第有这几]){_HOUR}点(?:半|整|钟|[一三]刻|{_MINUTE}分)"
    r"|(?<![\d.第])\d{1,2}\s?点(?![\d建意要原问])"
)
_SPAN_HAN = (
    r"(?:个?(?:工作日|星期|礼拜|小时|钟头|季度)|个月|周(?![一二三四五六日天])|天|年(?![级前初末底代])|分钟|毫秒|秒钟?"
    r"|晚(?![上点]))"
)
_DURATION = (
    rf"{_NUMBER_START}(?:\d{{1,4}}(?:\.\d{{1,2}})?\s?(?:-|–|to|~)\s?)?\d{{1,4}}(?:\.\d{{1,2}})?[\s-]?"
    r"(?:business\s|working\s|calendar\s)?(?:days?|hours?|hrs?|weeks?|months?|years?|minutes?|mins?|seconds?|secs?|ms|nights?)(?![A-Za-z])"
    rf"|(?<![\d.第年])(?:\d{{1,3}}(?:\.\d{{1,2}})?\s?[-~到至]\s?)?\d{{1,3}}(?:\.\d{{1,2}})?\s?{_SPAN_HAN}"
)
_DURATION_HAN = (
    r"(?<![一二两三四五六七八九十百第有每那这哪某几前后])"
    rf"(?:[二两三四五六七八九]|[一二三四五六七八九]?十[一二三四五六七八九]?|半){_SPAN_HAN}"
)
_DURATION_WORDS = (
    r"(?<![A-Za-z])(?:two|three|four|five|six|seven|eight|nine|ten)\s(?:business\s|working\s)?"
    r"(?:days|hours|weeks|months|years|minutes|nights)(?![A-Za-z])"
)

# --- contact --------------------------------------------------------------------------------------
_PHONE = (
    r"(?<![\w+-])(?:86[-\s]?)?1[3-9]\d[-\s]?\d{4}[-\s]?\d{4}(?![\w]|-\d)"
    r"|(?<![\w+(-])\d{3}[-.\s]\d{3}[-.\s]\d{4}(?![\w-])"
    r"|(?<![\w+-])0\d{2,3}[-\s]?\d{7,8}(?:[-转]\d{1,5})?(?![\w-])"
    r"|(?<![\w+-])[48]00[-\s]?\d{3}[-\s]?\d{4}(?![\w-])"
)
_PHONE_PLUS = (
    r"(?<![\w+])\+86[-\s]?1[3-9]\d[-\s]?\d{4}[-\s]?\d{4}(?![\w]|-\d)"
    r"|(?<![\w+])\+\d{1,3}[\s.-]?(?:\(\d{1,4}\)|\d{1,4})(?:[\s.-]?\d{2,4}){1,4}(?![\w])"
)
_PHONE_PAREN = r"(?<![\w])\(0?\d{2,3}\)[-\s]?\d{3,4}[-.\s]?\d{4}(?![\w-])"
_EMAIL = (
    r"(?<![A-Za-z0-9._%+@-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_URL = (
    r"(?<![A-Za-z])(?:https?|ftp|wss?)://[^\s<>\"'`，。；！？、（）【】《》“”一-龥]{1,500}+"
    r"|(?<![\w.@/-])www\.[^\s<>\"'`，。；！？、（）【】《》“”一-龥]{3,200}+"
)

# --- places ---------------------------------------------------------------------------------------
_STEP = rf"(?:(?![改换变]成|[改换搬寄送发]到|[^一-龥]){_HAN})"  # one character of a place, not of a move
_ADMIN = rf"{_STEP}{{1,7}}?(?:特别行政区|自治区|自治州|省|市|区|县|旗)(?![场民长中内])"
_PLACE = (
    rf"(?:{_STEP}|[A-Za-z0-9·]){{1,10}}?(?:大道|(?<![思走线网半公铁套上赶问迷一])路(?![上口线过])|(?<![上逛])街(?!上)|巷|弄|胡同|镇|乡"
    r"|村|屯|街道|小区|花园|公寓|新村|家园|苑|大厦|中心|广场|园区|产业园|科技园|大学|医院|写字楼|国际)"
)
_DETAIL = (
    r"第?(?:[0-9A-Za-z]{1,6}|[一二三四五六七八九十]{1,3})(?:-\d{1,5}){0,2}\s?(?:号楼|号院|号|弄|栋|幢|座|单元|楼|层|室|户|房(?!间)|期)"
    r"|(?<=[楼元栋座幢层院])\s?\d{2,5}(?!\d)"
)
_ADDRESS_ZH = rf"(?>(?:{_ADMIN}){{0,4}})(?>(?:\s?(?:{_DETAIL}|{_PLACE})){{1,8}})"
_DIRECTION = r"(?:(?:North|South|East|West|N|S|E|W|NE|NW|SE|SW)\.?\s)?"
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Way|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter"
    r"|Parkway|Pkwy|Circle|Cir|Highway|Hwy|Trail|Alley|Crescent|Close|Broadway)"
)
_UNIT = r"(?:,?\s(?:Apt|Apartment|Suite|Ste|Unit|Floor|Fl|Room|Rm|Flat)\.?\s#?[\w-]{1,8}|,?\s#\s?[\w-]{1,8})"
_CITY = r"[A-Z][A-Za-z.'’-]{1,20}(?:\s[A-Z][A-Za-z.'’-]{1,20}){0,2}"
_ADDRESS_EN = (
    rf"(?<![\w.,$-])\d{{1,6}}[A-Za-z]?\s{_DIRECTION}(?:(?:[A-Z][A-Za-z'’.-]{{0,20}}|\d{{1,3}}(?:st|nd|rd|th))\s){{1,4}}?"
    rf"{_STREET}(?![A-Za-z])\.?(?:\s(?:North|South|East|West|N|S|E|W|NE|NW|SE|SW)(?![A-Za-z]))?(?:{_UNIT})?"
    rf"(?:,?\s{_CITY},?\s(?:[A-Z]{{2}}(?:\s\d{{5}}(?:-\d{{4}})?)?|[A-Z]{{1,2}}\d[A-Z\d]?\s?\d[A-Z]{{2}}|\d{{5}})(?!\w)"
    rf"|,\s(?!Thanks|Please|And|But|My|The|Then|Also){_CITY}(?=[.,;\n]|$))?(?:,\s(?:USA|US|UK|Canada|United\sStates))?"
)

_IP = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.]\w)"
_PLATE = (
    r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z][·\s]?(?=[A-Z]{0,5}\d)[A-Z0-9]{5,6}"
    r"(?![A-Za-z0-9])"
)

# --- names, files, ids ----------------------------------------------------------------------------
_FILE = (
    r"(?<![\w./一-龥-])(?:[\w.~一-龥-]{1,60}/){0,8}+(?:[\w一-龥-]{1,60}\.){1,4}(?:pdf|docx?|xlsx?|pptx?|csv|tsv|txt|md|json|ya?ml|toml|ini|cfg|xml"
    r"|html?|css|jsx?|tsx?|py|ipynb|java|go|rs|cc?|cpp|hpp?|rb|php|sh|sql|log|zip|tar|gz|7z|rar|png|jpe?g|gif|svg|webp"
    r"|bmp|mp3|mp4|wav|mov|avi|mkv|psd|sketch|fig|key|pages|parquet|db|sqlite|bin|exe|dmg|apk|whl|jar|lock|env)(?![\w/])"
)
_VERSION = (
    r"(?<![\w.])\d{1,4}\.\d{1,6}\.\d{1,6}(?:(?:[-+.]?(?:alpha|beta|rc|dev|pre|post|a|b))[.\d]{1,8})?(?![\w])(?!\.\d)"
    r"|(?<=version\s)\d{1,4}\.\d{1,6}(?![\w.])|(?:(?<=版本)|(?<=版本\s))\d{1,4}\.\d{1,6}(?![\w.])"
)
_VERSION_V = (
    r"(?<![\w.])v\d{1,4}(?:\.\d{1,6}){0,3}(?:[-+](?:alpha|beta|rc|dev|pre|post)[.\d]{0,8})?(?![\w])(?!\.\d)"
)
_QUANTITY = (
    rf"{_NUMBER_START}{DIGITS}[\s-]?(?:inch(?:es)?|feet|ft|miles?|[kcm]m|[kmgt]i?b|[kmg]bps|kg|lbs?|oz|ml|lit(?:er|re)s?|grams?"
    r"|[kmg]hz|kwh?|mah|px|pcs|pieces?|items?|people|persons?|passengers?|adults?|children|kids|guests?|bags?|tickets?|rooms?|seats?"
    r"|copies|boxes|bottles?|units|sets|pairs?|stops?|sq\.?\sft|square\s(?:feet|meters)|stars?|points|℃|°\s?[CF])(?![A-Za-z])"
    rf"|{_NUMBER_START}{DIGITS}(?:(?-i:[gLWV])|\")(?![\w])"
    rf"|{_NUMBER_START}{DIGITS}\s?(?:万\s?)?(?:英寸|寸|平方米|平米|平|公里|千米|毫米|厘米|米|公斤|千克|毫克|克|斤|吨|毫升|升|件|个人?(?!工作日|小时|星期|礼拜|月|季度|钟头)|台"
    r"|本|张|瓶|箱|盒|袋|双|套|份|人(?!民)|位|只|条|杯|辆|间|次|名|粒|颗|片|码|度|瓦|包|斤|积分|分(?![钟之])|字|页|章|行|票)"
)
_QUANTITY_HAN = (
    r"(?<![一二两三四五六七八九十百千第])(?:[二两三四五六七八九]|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]百[零一二三四五六七八九十]{0,3})"
    r"(?:平方米|平米|公里|公斤|斤|件|台|箱|瓶|盒|套|张|位|人(?!民)|间|辆)"
)
_NAME_ZH = (
    rf"(?:我叫|(?<=[，,、])叫|我的名字是|我的名字叫|我名叫|我姓名是|姓名[:：是]|收件人[:：是]|收件人改成|联系人[:：是]|乘客[:：是])\s?"
    rf"(?P<value>{_HAN}{{2,4}}?(?:·{_HAN}{{1,8}})?)(?=[^一-龥·]|$|[在是的和与来想要今也住从，])"
    rf"|(?:我是|这是|这位是)(?P<other>(?:欧阳|司马|上官|诸葛|司徒|东方|独孤|南宫|夏侯|皇甫|尉迟|令狐"
    r"|[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石韦贾夏傅方邹熊白孟秦邱侯江尹薛雷段龙史陶贺毛郝顾龚邵万覃武钱戴严莫孔向汤])"
    rf"{_HAN}{{1,2}})(?=[^一-龥]|$)"
)
_NAME_EN = (
    r"(?<![A-Za-z])(?i:my\s(?:full\s)?name\sis|my\sname['’]s|i\sam\scalled|call\sme|passenger(?:'s\sname)?:|full\sname:|name:)\s"
    r"(?P<value>[A-ZÀ-Þ][A-Za-zÀ-ÿ'’.-]{1,20}(?:\s[A-ZÀ-Þ][A-Za-zÀ-ÿ'’.-]{0,20}){0,3})"
    r"|(?<![A-Za-z])(?i:this\sis|i['’]m|i\sam)\s(?P<other>[A-Z][a-zß-ÿ'’-]{1,20}(?:\s[A-Z]\.)?(?:\s[A-ZÀ-Þ][A-Za-zÀ-ÿ'’-]{1,20}){1,2})"
    r"(?=[.,!?;\n]|$|\s(?i:and|from|calling|here|with))"
)
#: What a blank parts, where a noun names it: flight UA 882, card 6222 0212 3456 7890.
_SPLIT_TRIP = (
    r"(?:(?<=flight\s)|(?<=train\s)|(?<=航班)|(?<=航班\s)|(?<=航班号\s)|(?<=车次\s))"
    r"(?-i:[A-Z]{2}|[A-Z]\d|\d[A-Z]|[GDCKTZ])\s\d{1,4}(?![\w])"
)
_SPLIT_DIGITS = r"(?<![\w.,/-])\d{3,4}(?:\s\d{3,4}){2,4}(?![\w.-])"
_SEAT = r"(?<![\w])\d{1,2}车\s?\d{1,3}[A-F]?号?(?![\w])"
_TOKEN = (
    r"(?<![A-Za-z0-9_@.+-])(?=[A-Za-z_-]{0,64}+[0-9])(?=[0-9_-]{0,64}+[A-Za-z])"
    r"(?:[A-Za-z0-9]{1,128}+(?:[-_]{1,2}[A-Za-z0-9]{1,64}+){0,12}+)(?![A-Za-z0-9_@])"
)
_BARE = (
    r"(?<![\w.,/$¥￥€£-])"
    rf"(?P<value>\d{{1,20}}(?:-\d{{1,12}}){{0,4}}|{DIGITS}(?:\s?k)?)(?![\w%％/°℃号月日年点时天周]|-\w|[.,]\d)"
)
_BARE_HAN = (
    rf"(?<![一二两三四五六七八九十百千万第几])(?P<value>{HAN_NUMBER})"
    r"(?=[左上以之的，。、,.是吧吗呢了;；\s]|$)"
)

_NUMERALS = "二两三四五六七八九十半"
_PLACES = "道路街巷弄同镇乡村屯区园寓苑厦心场学院楼际省市县旗州"
_COUNTED = ("two ", "three ", "four ", "five ", "six ", "seven ", "eight ", "nine ", "ten ")
_CODES = ("cny", "rmb", "usd", "eur", "gbp", "jpy", "hkd", "aud", "cad")
_NAMED = ("name", "this is", "i'm", "i’m", "i am", "call me", "called", "passenger")

#: Searched everywhere.
PATTERNS: Final = (
    _of("url", _URL, rank=0, words=("://", "www.")),
    _of("email", _EMAIL, "@", rank=1),
    _of("phone", _PHONE_PLUS, "+", rank=2),
    _of("phone", _PHONE_PAREN, "(", rank=2),
    _of("date", DATE_HAN, "月", rank=3),
    _of("date", DATE_MONTH, rank=3, words=MONTH_STARTS),
    _of("relative", RELATIVE_HAN, "天日今明昨周星礼月年", rank=4),
    _of("relative", RELATIVE_ENGLISH, rank=4, words=("day", "night", "morrow", "week", "month", "year")),
    _of("time", _TIME_HAN, "点时早晚午", rank=5),
    _of("percent", _PERCENT, rank=6, words=("%", "％", "percent", "百分点")),
    _of("percent", _PERCENT_HAN, rank=6, words=("百分之", "折")),
    _of("amount", _AMOUNT_BEFORE, rank=7, words=(*_CODES, "人民币", "币", "元", "美金", "英镑")),
    _of("amount", _HAN_AMOUNT, "元块万亿金镑币", rank=7),
    _of("address", _ADDRESS_ZH, _PLACES, rank=8),
    _of("duration", _DURATION_HAN, _NUMERALS, rank=9),
    _of("duration", _DURATION_WORDS, rank=9, words=_COUNTED),
    _of("version", _VERSION_V, rank=10, words=tuple(f"v{digit}" for digit in range(10))),
    _of("file", _FILE, ".", rank=11),
    _of("quantity", _QUANTITY_HAN, _NUMERALS, rank=12),
    _of("name", _NAME_ZH, "我是人名客", rank=13, case=True),
    _of("name", _NAME_EN, rank=13, words=_NAMED, case=True),
    _of("split", _SPLIT_TRIP, _ARABIC, rank=14, words=("flight", "train", "航班", "车次")),
    _of("seat", _SEAT, "车", rank=14),
    _of("token", _TOKEN, _ARABIC, rank=14),
    _of("plate", _PLATE, _ARABIC, rank=14, case=True),
    _of("number", _BARE_HAN, "百千万十", rank=15),
)
#: Matched only where a run of digits begins.
AT_DIGITS: Final = (
    _of("phone", _PHONE, rank=2),
    _of("date", DATE_DIGITS, "-/.", rank=3),
    _of("date", DATE_DAY, rank=3, words=MONTH_STARTS),
    _of("time", _TIME, ":aApP", rank=5),
    _of("amount", _AMOUNT_AFTER, rank=7),
    _of("address", _ADDRESS_EN, " ", rank=8, case=True),
    _of("duration", _DURATION, rank=9),
    _of("id", _IP, ".", rank=10),
    _of("version", _VERSION, ".", rank=10),
    _of("quantity", _QUANTITY, rank=12),
    _of("split", _SPLIT_DIGITS, " ", rank=14),
    _of("number", _BARE, rank=15),
)
#: Matched only where a sign of money stands, or the letters before it (US$) begin.
SIGNS: Final = "$¥￥€£₹₩"
SIGN_LETTERS_MAX: Final = 2
AT_SIGNS: Final = (_of("amount", _AMOUNT_BEFORE, rank=7),)
