"""What the speaker says in his own name: the message cut into sentences, all else blanked out.

Every step keeps the length of the text, so that a span found here is the same span of the message.
What is blanked: code, quoted lines, quotations that speak as "I", text given to be translated or edited,
and everything from the first sign of an injected instruction on. A comma or colon within a number (`3,200`,
`10:30`) becomes a sign that ends no clause.
"""

import re
from typing import Final

import msgspec

from actormem.core.hidden import unhidden

__all__ = [
    "BLANK",
    "OTHERS",
    "SCAN_CHARS_MAX",
    "THOUSANDS",
    "Sentence",
    "blank",
    "own_words",
    "sentences",
    "told",
    "widths",
]

SCAN_CHARS_MAX: Final = 16_384  # what a person says of himself stands in the first pages
BLANK: Final = "\x00"  # no rule matches it
THOUSANDS: Final = "\u066c"  # stands for the comma within a number
RATIO: Final = "\u2236"  # stands for the colon within a time
# Both begin with the sign itself, which is found fastest.
GROUPED: Final = re.compile(
    r",(?=\d{3}(?!\d)|\d\d(?:,\d\d)*,\d{3}(?!\d))(?:(?<=(?<!\d)\d,)|(?<=(?<!\d)\d\d,)|(?<=(?<!\d)\d\d\d,))"
)
TIMED: Final = re.compile(r":(?=\d\d)(?<=\d:)")

WIDTHS: Final = str.maketrans(
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | {
        ord(one): other
        for one, other in zip("\u3000\u00a0’‘“”「」『』\x00\r\t", '  \'\'"""""" \n ', strict=True)
    }
)
FENCE: Final = re.compile(r"```")
LINES: Final = re.compile(r"`[^`\n]{1,400}`|^ {0,3}[>|][^\n]*", re.MULTILINE)
QUOTED: Final = re.compile(
    r"\"[^\"\n]{1,600}\"|(?<![\w'])'(?=[^'\n]{8,})[^'\n]{1,200}'(?!\w)|《[^》\n]{1,60}》",
)
SPEAKS: Final = re.compile(r"\b(?:I|I'm|i'm|[Mm]y|[Yy]ou|[Rr]emember)\b|我|记住|以后")
GIVEN: Final = re.compile(
    r"\b(?:translate|rewrite|rephrase|proofread|paraphrase|summari[sz]e|write|draft|compose|improve|"
    r"review|continue|complete)\b"
    r"[^\n:]{0,100}:"
    r"|\b(?:essay|letter|draft|text|story|article|resume|poem|paragraph|passage|sentence|code|logs?|"
    r"transcript|bio|excerpt|dialogue|lyrics)\b"
    r"[^.\n:]{0,40}:"
    r"|(?:翻译|改写|润色|校对|扩写|续写|仿写|写一?[篇个封段首份则]|造句)[^\n:]{0,60}:"
    r"|(?:文章|作文|简历|故事|文本|原文|草稿|日志|报错|代码|聊天记录|对话|句子|台词|剧本|段落|歌词|"
    r"小说)[^\n。:]{0,20}:",
    re.IGNORECASE,
)
INJECTED: Final = re.compile(
    r"<\||\|>|</?(?:memory|system|assistant|instructions?)\b|\[/?(?:inst|system|assistant|user)\]"
    r"|^[ ]{0,8}#{0,4} ?\**(?:system|assistant|developer|human)\** ?:|[\"']role[\"'] ?:|"
    r"!\[[^\]\n]{0,200}\]\("
    r"|\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,20}\b(?:previous|prior|above|all|any|"
    r"your|earlier|system|safety)\b"
    r"[^.\n]{0,20}\b(?:instructions?|prompts?|rules|guidelines|guardrails|polic(?:y|ies))\b"
    r"|\byou are now\b|\bjailbreak|\bDAN mode\b|\bdeveloper mode\b"
    r"|^[ ]{0,8}#{0,4} ?(?:系统|助手|管理员|开发者)(?:消息|提示|指令)? ?:"
    r"|(?:忽略|无视|忘记|忘掉|绕过|覆盖)[^。\n]{0,6}(?:之前|以上|上述|上面|所有|前面|一切|先前|系统|"
    r"全部)[^。\n]{0,10}(?:指令|指示|提示词?|规则|设定|要求|限制|命令)"
    r"|你现在是一[个名]|开发者模式|越狱模式",
    re.IGNORECASE | re.MULTILINE,
)
OTHERS: Final = re.compile(
    r"\b(?:all|every|any|other|each)(?: the)?(?: other)? (?:users?|customers?|tenants?|accounts?)\b|"
    r"\b(?:another|someone else's) (?:user|account|memory)"
    r"|\beveryone's\b|\badmin\w*\b|\b(?:system|developer) (?:prompt|message|override)\b"
    r"|(?:所有|全部|每个|任何|其他|别的|另一个|全体)的?(?:用户|客户|租户|账号|账户|人)|管理员|系统提示|"
    r"系统消息",
    re.IGNORECASE,
)
STOPS: Final = re.compile(
    r"[。!?;\n]+|\.(?=\s|$)(?<![A-Z]\.)(?<!\bMr\.)(?<!\bDr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bNo\.)(?<!\bvs"
    r"\.)(?<!\bMrs\.)(?<!\bAve\.)(?<!\bApt\.)",
)
TOLD: Final = re.compile(
    r"\b(?:imagine|suppose|supposing|pretend|assum(?:e|ing)|let's say|lets say|say,|what if|role-?play|"
    r"hypothetical\w*|for example|for instance|e\.g"
    r"|in (?:a|this|the|my) (?:story|novel|game|scenario|dream))\b"
    r"|\b(?:if|unless|whether|had|were)\s+(?:\w+\s+)?(?:I|I'm|I'd|we|my)\b|\bas if\b|\bif only\b|\b(?:i|"
    r"we) wish\b"
    r"|\b(?:he|she|they|who|everyone|somebody|someone|people|friend|wife|husband|mother|father|mom|dad|"
    r"boss|colleague|character|lyrics?|quote)\s*"
    r"(?:says?|said|told|tells|wrote|writes|asked|asks|claims?|claimed|thinks?|thought|goes|"
    r"like)\b[^.]{0,20}[,:]"
    r"|(?:如果|要是|假如|假设|假使|假若|倘若|若是|若|万一|设想|想象|想像|比方说|比如|譬如|例如|假装|"
    r"扮演)(?:说|有一天|哪天|以后|一下|,)?(?:我|将来我|明天我)"
    r"|(?:他|她|他们|她们|朋友|妈妈?|爸爸?|老婆|老公|同事|老师|老板|有人|别人|谁|客户|主角|歌词|"
    r"书)[^,。]{0,6}(?:说|讲|问|写|告诉|喊|表示|觉得|以为)(?:道|过|了|我)?\s*[:,]",
    re.IGNORECASE,
)


# Without one of these nothing below matches: a cheap test before the costly one.
INJECTED_PIECES: Final = """
    <| |> </ <memory <system <assistant <instruction [inst [system [assistant [user [/ system assistant
    developer
    human role ![ ignore disregard forget override bypass jailbreak
    系统 助手 管理员 开发者 忽略 无视 忘记 忘掉 绕过 覆盖 你现在是 越狱
"""
INJECTED_WORDS: Final = ("you are now", "dan mode", *INJECTED_PIECES.split())
TOLD_PIECES: Final = """
    imagin suppos pretend assum say, role hypothetical e.g story novel game scenario dream if unless whether
    had were wish say said told tell wrote writ ask claim think thought goes like
    如果 要是 假 倘若 若 万一 设想 想象 想像 比 譬如 例如 扮演 说 讲 问 写 告诉 喊 表示 觉得 以为
"""
TOLD_WORDS: Final = ("let's say", "lets say", "for instance", "for example", *TOLD_PIECES.split())


class Sentence(msgspec.Struct, frozen=True):
    """One sentence of the speaker: its place in the message, its words in plain widths, whether it asks."""

    start: int
    text: str
    asks: bool


def widths(text: str) -> str:
    """The text with full-width letters, digits and punctuation as their plain forms; its length is kept."""
    return text.translate(WIDTHS)


def blank(text: str, start: int, end: int) -> str:
    """The text with a span that no rule matches any more; its length is kept."""
    return text[:start] + BLANK * (end - start) + text[end:]


def own_words(text: str) -> str:
    """The text with everything blanked that the speaker does not say in his own name."""
    if (plain := unhidden(text)) != text and INJECTED.search(plain):
        return ""
    low = text.lower()
    injected = INJECTED.search(text) if any(word in low for word in INJECTED_WORDS) else None
    if injected:
        line = max(text.rfind(stop, 0, injected.start()) for stop in "\n。!?.;")
        text = text[: line + 1]
    fences = [match.start() for match in FENCE.finditer(text)]
    for opening, closing in zip(fences[::2], fences[1::2] + [len(text)] * (len(fences) % 2), strict=True):
        text = blank(text, opening, min(closing + 3, len(text)))
    if ":" in text and (given := GIVEN.search(text)):
        text = text[: given.start()]
    if "`" in text or ">" in text or "|" in text:
        text = LINES.sub(lambda match: BLANK * len(match[0]), text)
    if '"' in text or "'" in text or "《" in text:
        text = QUOTED.sub(lambda match: BLANK * len(match[0]) if SPEAKS.search(match[0]) else match[0], text)
    return text


def whole_numbers(text: str) -> str:
    """The text with numbers and times that no comma or colon cuts; its length is kept."""
    return TIMED.sub(RATIO, GROUPED.sub(THOUSANDS, text))


def told(sentence: str) -> bool:
    """Whether a sentence supposes something, or reports what another says."""
    low = sentence.lower()
    return any(word in low for word in TOLD_WORDS) and TOLD.search(sentence) is not None


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences that the speaker says in his own name, in order.

    Args:
        text: One user message; only the first 16,384 characters are read.

    Returns:
        Sentences without their final stop; `start` counts characters of `text`.

    Cost:
        O(n).
    """
    words = whole_numbers(own_words(widths(text[:SCAN_CHARS_MAX])))
    found: list[Sentence] = []
    start = 0
    for stop in STOPS.finditer(words):
        add(found, words, start, stop.start(), asks="?" in stop[0])
        start = stop.end()
    add(found, words, start, len(words), asks=False)
    return tuple(found)


def add(found: list[Sentence], words: str, start: int, end: int, *, asks: bool) -> None:
    sentence = words[start:end]
    if sentence.strip(" \x00"):
        found.append(Sentence(start, sentence, asks))
