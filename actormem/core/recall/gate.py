"""The gate: whether recall can help at this turn, and with which words to ask."""

import re

import msgspec

from actormem.core.text import normal

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
THIN_CHARACTERS = 12  # a message this short says too little by itself: the one before goes into the query
QUERY_CHARACTERS = 2_000


class Gate(msgspec.Struct, frozen=True):
    """Whether to recall, why, and the query (empty where there is none)."""

    open: bool
    reason: str
    query: str


def gate(text: str, *, before: str = "") -> Gate:
    """Decide whether recall can help to answer a message.

    Args:
        text: The user's words.
        before: The user's message before it, which fills up a query that is too thin ("那个呢？").
    """
    words = normal(text).strip()
    letters = [character for character in words if character.isalnum()]
    if not letters:
        return Gate(False, "no words", "")
    if _small_talk(words, letters):
        return Gate(False, "small talk", "")
    query = text.strip()
    if len(letters) < THIN_CHARACTERS and before:
        return Gate(
            True, "short message, asked with the one before", f"{before}\n{query}"[-QUERY_CHARACTERS:]
        )
    question = any(mark in words for mark in ("?", "吗", "呢", "什么", "哪", "几", "多少", "怎么", "谁"))
    return Gate(True, "a question" if question else "a statement", query[:QUERY_CHARACTERS])


def _small_talk(words: str, letters: list[str]) -> bool:
    latin = [
        word for word in "".join(c if c.isascii() and c.isalnum() else " " for c in words).split() if word
    ]
    others = "".join(character for character in letters if not character.isascii())
    return SMALL_TALK.issuperset(latin) and PARTICLES_ZH.issuperset(SMALL_TALK_ZH.sub("", others))
