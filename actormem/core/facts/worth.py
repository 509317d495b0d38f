"""Whether a user message may say more than the rules have read in it: the write score.

Told by form alone: who is spoken of, words that last, values, how much is said, and whether it was said before.
Greetings, questions, requests of the moment, suppositions and pastes score nothing. The law of the file: the same
message scores the same, and what the rules have read already scores nothing again.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from actormem.core.facts.sentences import BLANK, Sentence, own_words, sentences, told, widths
from actormem.core.recall.words import STOP_CHARACTERS, STOP_WORDS
from actormem.core.summary.salience import asks, informative
from actormem.core.text import HAN
from actormem.core.values import Fact

__all__ = ["Worth", "content_words", "worth"]

PASTE_CHARS: Final = 2_000  # nobody types more about himself at once
OWN_PART: Final = 0.5  # of a message: where less is in the speaker's own name, it is a paste
SENTENCES_MAX: Final = 24
LEFT_WORDS_MIN: Final = 2.0  # content words of a sentence beside what the rules have read
DENSE_WORDS: Final = 6.0  # content words that make a sentence as dense as any
HAN_WORD: Final = 0.5  # a Han character is half a word
ANSWER_CHARS_MAX: Final = 120
WORDS_MAX: Final = 64
REPEATED_SHARE: Final = 0.5

OWN: Final = 0.2
LASTING: Final = 0.3
VALUES: Final = 0.1  # each, at most two
DENSITY: Final = 0.2
REPEATED: Final = 0.2
ANSWER: Final = 0.35
MOMENT: Final = -0.2

SPEAKER: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|we're|we've|our|us)\b|我|咱|俺|本人|自己", re.I
)
LASTS: Final = re.compile(
    r"\b(?:always|never|usually|often|every|since|used to|grew up|born|raised|married|divorced|pregnant|retired|"
    r"prefer|hate|love|like|enjoy|afraid|scared|allergic|can't stand|favou?rite|live|lives|work|works|study|studies|"
    r"own|owns|wife|husband|partner|kids?|son|daughter|mother|father|mom|dad|sister|brother|friend|boss|team|dog|"
    r"cat|moved|moving|starting|started|quit|joined|became|planning|plan to|going to|trip|wedding|surgery|habit|"
    r"hobby|goal|training|learning|speak|believe|degree|years?)\b"
    r"|一直|总是|从不|从来|每[天周月年次晚]|习惯|平时|通常|经常|喜欢|讨厌|爱[吃喝看听玩]|擅长|害怕|怕|过敏|住|工作|上班|"
    r"毕业|出生|结婚|离婚|怀孕|退休|养了|老婆|老公|妻子|丈夫|女儿|儿子|孩子|爸|妈|姐|哥|弟|妹|朋友|同事|老板|团队|"
    r"搬|换了|入职|辞职|加入|打算|计划|准备|下[周个]|明年|旅行|婚礼|手术|爱好|目标|学习|在学|读[的研博大]|导师|专业|同学|信仰|学位|年",
    re.IGNORECASE,
)
MOMENTARY: Final = re.compile(
    r"\b(?:please|can you|could you|would you|help me|i want to|i need to|i'd like|i would like|i am looking|"
    r"i'm looking|let's|show me|tell me|give me|check)\b"
    r"|请|帮我?|麻烦|给我|我想[要查看问订买]|我要[查看问订买]|查一?下|看一?下|告诉我",
    re.IGNORECASE,
)
WISHES: Final = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!do you )(?<!still )(?<!can't )(?<!cannot )(?<!don't )(?<!didn't )\bremember\b"
    r"|\b(?:keep in mind|bear in mind|don't forget|do not forget|take note|note that|make a note|for future|"
    r"from now on|going forward|in future|in the future|for the record)\b"
    r"|记住|记一下|记下|(?<![我他她们还])记得|请记|别忘|不要忘|备注一下|今后|从现在起|从现在开始"
    r"|(?:^|[，,；;：:、。！？!?\s])(?:以后|往后)",  # 午饭以后 is only after lunch
    re.IGNORECASE,
)
ASKED: Final = re.compile(r"[?？]\s*$")
YOU: Final = re.compile(r"\b(?:you|your)\b|你|您", re.IGNORECASE)
WORD: Final = re.compile(rf"{HAN.pattern}|(?:(?!{HAN.pattern})[^\W\d_])+|\d+")
DIGITS: Final = re.compile(r"\d+")


class Worth(msgspec.Struct, frozen=True):
    """The write score of a message, 0 to 1; `urgent`: it asks to be remembered, and the rules did not read what."""

    score: float
    urgent: bool = False


def worth(
    text: str,
    *,
    read: Sequence[Fact] = (),
    previous: str = "",
    heard: Sequence[Collection[str]] = (),
    enough: float = 1.0,
) -> Worth:
    """The write score of a user message.

    Args:
        text: The message.
        read: What the rules have read in it.
        previous: The assistant's message before it: a short answer to its question counts.
        heard: `content_words` of earlier messages that scored too little: what is said again counts for more.
        enough: A score from which nobody asks how much higher it is.

    Cost:
        O(n) for at most 2,000 characters: about 0.15 ms for a few sentences, 4 ms for the longest that score little.
    """
    if len(text) > PASTE_CHARS or BLANK in text:
        return Worth(0.0)
    own = own_words(widths(text))
    if len(own.replace(BLANK, "").strip()) < OWN_PART * len(text.strip()):
        return Worth(0.0)
    best = 0.0
    wishes = WISHES.search(text) is not None
    for sentence in sentences(text)[:SENTENCES_MAX]:
        if best >= enough and not wishes:
            break
        if sentence.asks or told(sentence.text):
            continue
        quotes = [fact for fact in read if fact.quote and widths(fact.quote) in sentence.text]
        if wishes and WISHES.search(sentence.text) and not any(fact.explicit for fact in quotes):
            return Worth(1.0, urgent=True)
        best = max(best, score_of(sentence, [fact.quote for fact in quotes]))
    if best > 0 and heard and is_repeated(content_words(text), heard):
        best += REPEATED
    if not read and is_answer(text, previous):
        best = max(best, ANSWER)
    return Worth(min(1.0, best))


def content_words(text: str) -> frozenset[str]:
    """The words of a text that mean something, for telling whether two messages speak of the same."""
    found: set[str] = set()
    for word in WORD.findall(text[:PASTE_CHARS].lower()):
        if word not in STOP_WORDS and word not in STOP_CHARACTERS:
            found.add(word)
            if len(found) == WORDS_MAX:
                break
    return frozenset(found)


def is_repeated(words: Collection[str], heard: Sequence[Collection[str]]) -> bool:
    """Whether at least half of the words were said in one earlier message."""
    return bool(words) and any(
        sum(word in earlier for word in words) >= REPEATED_SHARE * len(words) for earlier in heard
    )


def score_of(sentence: Sentence, quotes: Sequence[str]) -> float:
    """What one statement is worth, 0 where it only greets, asks, or was read whole."""
    words = sentence.text.replace(BLANK, " ").strip()
    if not informative(words) or asks(words):
        return 0.0
    rest = words
    for quote in quotes:
        rest = rest.replace(widths(quote), " ")
    count = content_count(rest)
    if count < (LEFT_WORDS_MIN if quotes else 1):
        return 0.0
    score = DENSITY * min(1.0, count / DENSE_WORDS) + VALUES * min(2, len(DIGITS.findall(rest)))
    lasting = LASTS.search(rest) is not None
    if lasting:
        score += LASTING
    if SPEAKER.search(words):
        score += OWN
    if MOMENTARY.search(words) and not lasting:
        score += MOMENT
    return max(0.0, score)


def content_count(words: str) -> float:
    """How many words mean something; a Han character is half a word."""
    count = 0.0
    for word in WORD.findall(words.lower()):
        if word not in STOP_WORDS and word not in STOP_CHARACTERS:
            count += HAN_WORD if HAN.match(word) else 1.0
    return count


def is_answer(text: str, previous: str) -> bool:
    """Whether a short message answers a question about the user, and says something."""
    if len(text) > ANSWER_CHARS_MAX or not ASKED.search(previous) or not YOU.search(previous):
        return False
    return not asks(text) and bool(informative(text)) and content_count(text) >= 1
