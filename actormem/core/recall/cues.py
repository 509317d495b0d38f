"""What the form of a text tells, words aside: does it ask, who speaks, does it hold what was asked for.

Evidence is usually a statement. A turn that only asks repeats the words of a query and answers nothing; an
assistant's reply repeats what the user said. An answer to "when" has a time in it, an answer to "who" a name.
"""

import re
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actormem.core.recall.words import token_count
from actormem.core.whole_words import folded, spans

__all__ = ["ANSWER_TYPES", "answer_types", "asked_types", "first_person", "named_speaker", "question_share"]

QUESTION_LONG_TOKENS: Final = 25.0  # a long turn states facts beside its question
TYPE_QUERY_TOKENS_MAX: Final = 60  # a longer query is a pasted text: its question words are content
ROLE_NAMES: Final = frozenset({"user", "assistant", "system", "tool", "developer", "memory", "human", "ai"})

AUXILIARIES: Final = ("did", "does", "do", "is", "was", "has", "have", "had", "would", "will", "can", "could")
ASKING_VERB: Final = re.compile(rf"\b({'|'.join(AUXILIARIES)}) \Z", re.IGNORECASE)
OWNING: Final = re.compile(r"['’]s(?!\w)", re.IGNORECASE)
FIRST_PERSON_VERBS: Final = {"does": "do", "is": "am", "has": "have"}
SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
ASKED: Final = (
    re.compile(
        r"\bwhen\b|\bwhat (?:time|date|day|month|year)\b|\bwhich (?:day|month|year)\b|\bhow long ago\b"
        r"|什么时候|什么时间|几点|哪天|哪一天|何时|几月|几号|哪年|日期|时间"
    ),
    re.compile(
        r"\bhow (?:many|much|old|long|often|far|tall|big)\b|\bwhat (?:number|percentage|amount)\b"
        r"|多少|几个|几次|几岁|几天|多大|多久|多长|多高|多远"
    ),
    re.compile(
        r"\bwhere\b|\b(?:what|which) (?:city|country|place|state|town)\b"
        r"|哪里|哪儿|哪个城市|地点|什么地方|地址"
    ),
    re.compile(r"\bwho(?:se|m)?\b|\bwhat (?:is|was) .{1,40} name\b|谁|哪位|叫什么|名字"),
)
# What holds a time, a number, a place, a name: in English, and in Chinese. A search tries every branch at every
# place, so each begins with what most places are not.
HELD_EN: Final = (
    r"\b(?:\d{1,2}:\d\d\b|(?:19|20)\d\d\b|(?:yesterday|today|tonight|tomorrow|ago|weekend|week|month|year"
    r"|morning|evening|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april"
    r"|june|july|august|september|october|november|december)s?\b|(?:last|next) \w+)",
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|twice|once"
    r"|couple|half)\b",
    r"\b(?:in|at|from|to|near|around) (?:the )?[A-Z]\w+",
    r"[A-Z](?<=[a-z,] [A-Z])[a-z]+",
)
HELD_ZH: Final = (
    r"昨天|今天|明天|前天|后天|上周|下周|周末|星期|上个月|下个月|去年|明年|今年|早上|上午|下午|晚上|\d月|\d[日号点]|[年月]底",
    r"[一二两三四五六七八九十百千万半][个次岁天年月周块元本只条件人位米公]",
    r"在.{1,12}[市区路省县镇村街店馆楼院园厅城站场]|[市区县]",
    r"叫|名字|先生|女士|老师|[妈爸哥姐弟妹叔姨]|同事|朋友|经理|医生",
)
HELD: Final = tuple(re.compile(f"{en}|{zh}") for en, zh in zip(HELD_EN, HELD_ZH, strict=True))
HELD_ASCII: Final = tuple(re.compile(en) for en in HELD_EN)
ANSWER_TYPES: Final = len(HELD)


def question_share(text: str) -> float:
    """How much of a text only asks: the share of its tokens in questions, less for a long text. 0 to 1."""
    total = token_count(text)
    if not total or not ("?" in text or "？" in text):
        return 0.0
    asking = sum(
        token_count(sentence) for sentence in SENTENCE.findall(text) if sentence.rstrip()[-1:] in ("?", "？")
    )
    return asking / total / (1 + total / QUESTION_LONG_TOKENS)


def answer_types(text: str) -> tuple[bool, ...]:
    """Whether a text holds a time, a number, a place, a name."""
    lower, held = text.lower(), HELD_ASCII if text.isascii() else HELD
    return (
        bool(held[0].search(lower)),
        bool(held[1].search(lower)),
        bool(held[2].search(text)),
        bool(held[3].search(text)),
    )


def asked_types(text: str) -> NDArray[np.bool_]:
    """Which of time, number, place, name a query asks for."""
    if len(text) > TYPE_QUERY_TOKENS_MAX * 10 or token_count(text) > TYPE_QUERY_TOKENS_MAX:
        return np.zeros(ANSWER_TYPES, bool)
    lower = text.lower()
    return np.array([bool(pattern.search(lower)) for pattern in ASKED])


def named_speaker(text: str, speakers: Iterable[str]) -> str:
    """The only speaker whom a query names, or an empty string: none, or more than one."""
    lower = text.lower()
    named = ""
    for speaker in speakers:
        name = speaker.strip().lower()
        if len(name) < 2 or name in ROLE_NAMES or name not in lower:
            continue
        if name.isascii() and not any(spans(name, lower)):
            continue
        if named:
            return ""
        named = speaker
    return named


def first_person(text: str, name: str) -> str:
    """A query about a speaker in the words the speaker would use: "When did Ada move?", "When did I move?".

    People say I of themselves, and embeddings of "Ada moved" and "I moved" lie far apart.
    """
    if not name.isascii():
        return text.replace(name, "我")
    own, done = "", 0
    for start, end in spans(folded(name), folded(text)):
        if start < done:
            continue
        own += text[done:start]
        owning = OWNING.match(text, end)
        verb = None if owning else ASKING_VERB.search(own)
        if verb:
            own = f"{own[: verb.start()]}{first_person_verb(verb[1])} "
        own, done = own + ("my" if owning else "I"), owning.end() if owning else end
    return own + text[done:]


def first_person_verb(verb: str) -> str:
    own = FIRST_PERSON_VERBS.get(verb.lower(), verb)
    return own.capitalize() if verb[0].isupper() else own
