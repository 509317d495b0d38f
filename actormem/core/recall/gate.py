"""The gate: whether recall can help at this turn, and with which words to ask."""

import re
from collections.abc import Sequence

import msgspec

from actormem.core.entities import find_entities
from actormem.core.text import normal, sentences

__all__ = ["Gate", "gate"]

SMALL_TALK = frozenset(
    {
        "hi", "hello", "hey", "there", "thanks", "thank", "thx", "ty", "u", "you", "ok", "okay", "k",
        "yes", "yep", "yeah", "yup", "no", "nope", "bye", "goodbye", "great", "cool", "nice", "good",
        "morning", "afternoon", "evening", "night", "got", "it", "sure", "fine", "perfect", "please",
        "welcome", "much", "so", "very", "a", "lot", "and", "that", "all", "is", "for", "now", "cheers",
        "wow", "haha", "lol",
    }
)  # fmt: skip
# Phrases, not characters: 收到 is an acknowledgement, 没收到 is a complaint.
SMALL_TALK_ZH = re.compile(
    "早上|上午|中午|下午|晚上|早安|晚安|大家|谢谢|多谢|感谢|謝謝|多謝|感謝|非常|十分|可以|没事|没问题|沒問題|没关系"
    "|不客气|不用谢|不用|辛苦|麻烦|明白|知道|收到|再见|再見|明天见|回头见|拜拜"
)
PARTICLES_ZH = frozenset("你您们好早的了啊呀呢吧啦哟呗嘛嗯哦噢喔哈嗨嘿哇行是对太")
# Words that mean something said before: with one of them in it a message is about the past.
REFERENCE = re.compile(
    r"\b(?:that|those|these|this|it|its|one|ones|same|again|usual|before|earlier|previous(?:ly)?|last (?:time|one)|ago|"
    r"remember|recall|mentioned|told|said|he|she|they|him|her|them|his|hers|theirs|as always|back then|my|our)\b"
    r"|那个|这个|那些|这些|那(?=[呢，,？?])|它|他|她|上次|上回|之前|以前|刚才|刚刚|先前|前面|还是|照旧|老样子|一样|记得|提到|说过|"
    r"那边|那儿|那里|同样|还有吗|其他|另外|[我您你]的",
)
# What a message may hold beside a reference and still say nothing by itself.
FILLER = re.compile(
    r"\b(?:and|but|so|or|what|which|how|why|when|where|who|about|is|was|are|were|do|does|did|the|a|an|of|with|"
    r"for|to|then|too|also|please|can|could|would|you|i|me|on|in|now|still|yet|more|tell|ok|okay|well|mine|"
    r"yours|status|there)\b"
    r"|[那这个些呢吗吧啊呀嘛么啦了的是有我你您他她它们怎么样为什哪里谁几时候多少现在还请再说一下看查帮和跟也都就]",
)
QUESTION = re.compile(
    r"[?？]|[吗呢]|什么|哪|几|多少|怎么|怎样|如何|谁|为何|是否|能不能|有没有|是不是"
    r"|^(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will)\b"
)
LATIN = re.compile("[A-Za-z0-9]+")
NAMES_VALUE = re.compile(r"(?=[a-z0-9._/-]*\d)[a-z0-9][a-z0-9._/-]{3,}|@[a-z0-9]")
THIN_CHARACTERS = 12  # a message this short says too little by itself: those before go into the query
BEFORE_MAX = 2  # user messages that may do so
REPLY_VALUES = 4  # exact values of the assistant's last sentence that a pure reference may mean
REPLY_CHARACTERS = 1_000  # of a reply's end: its last sentence
QUERY_CHARACTERS = 2_000


class Gate(msgspec.Struct, frozen=True):
    """Whether to recall, why, and the query (empty where there is none)."""

    open: bool
    reason: str
    query: str


def gate(text: str, *, before: Sequence[str] = (), reply: str = "") -> Gate:
    """Decide whether recall can help to answer a message.

    Small talk and what has no words ask nothing of memory. All else may: a new session, where nothing else is
    known; words that refer to what was said; a question; an exact value; and a statement that may touch on
    what is known. What then has little to do with the query is kept out by the floor on relevance.

    Args:
        text: The user's words.
        before: The user's messages before it, oldest first; the last two may fill up a query that is too
            thin ("那个呢？").
        reply: The assistant's last words: what "that one" means may stand in their last sentence.

    Returns:
        The decision, with its reason, and the words to ask with.
    """
    words = normal(text).strip()
    letters = [character for character in words if character.isalnum()]
    if not letters:
        return Gate(False, "no words", "")
    if _small_talk(words, letters):
        return Gate(False, "small talk", "")
    query = text.strip()
    if len(letters) < THIN_CHARACTERS and not NAMES_VALUE.search(words):
        told = [*_enough(before), *(_values(reply) if _only_refers(words) else ())]
        if told:
            reason = "short message, asked with those before"
            return Gate(True, reason, "\n".join([*told, query])[-QUERY_CHARACTERS:])
    return Gate(True, _reason(words, new=not before), query[:QUERY_CHARACTERS])


def _reason(words: str, *, new: bool) -> str:
    if QUESTION.search(words):
        return "a question"
    if REFERENCE.search(words):
        return "refers to what was said"
    if NAMES_VALUE.search(words):
        return "names a value"
    return "a new session" if new else "a statement"


def _enough(before: Sequence[str]) -> list[str]:
    """The last user message, with the one before it where it is as thin; oldest first."""
    found: list[str] = []
    for earlier in reversed(before):
        words = normal(earlier).strip()
        letters = [character for character in words if character.isalnum()]
        if not letters or _small_talk(words, letters):
            continue
        found.insert(0, earlier.strip())
        if len(letters) >= THIN_CHARACTERS or len(found) == BEFORE_MAX:
            break
    return found


def _only_refers(words: str) -> bool:
    """Whether nothing is left of a message once reference and filler words are taken out."""
    rest = FILLER.sub(" ", REFERENCE.sub(" ", words))
    return not any(character.isalnum() for character in rest)


def _values(reply: str) -> list[str]:
    """The exact values of the last sentence of a reply, on one line; none where it has none."""
    last = sentences(reply[-REPLY_CHARACTERS:])[-1:]
    found = dict.fromkeys(entity.value for sentence in last for entity in find_entities(sentence))
    return [" ".join(list(found)[:REPLY_VALUES])] if found else []


def _small_talk(words: str, letters: list[str]) -> bool:
    if any(word[0] not in SMALL_TALK for word in LATIN.finditer(words)):
        return False
    others = "".join(character for character in letters if not character.isascii())
    return PARTICLES_ZH.issuperset(SMALL_TALK_ZH.sub("", others))
