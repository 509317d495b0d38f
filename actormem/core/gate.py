"""The gate: whether recall can help at this turn, and with which words to ask."""

import msgspec

from actormem.core.text import normal

__all__ = ["Gate", "gate"]

SMALL_TALK = frozenset(
    ["hi", "hello", "hey", "thanks", "thank", "you", "ok", "okay", "yes", "no", "bye", "goodbye", "great", "cool", "nice", "good", "morning", "evening", "night", "got", "it", "sure", "fine", "perfect", "please", "welcome", "much", "so", "very", "a", "lot", "and", "that", "all", "is", "for", "now", "cheers", "wow", "haha", "lol"]
)
SMALL_TALK_ZH = (
    "你好您好早上好晚上好下午好早安晚安谢谢多谢感谢非常十分好的好吧可以行嗯哦啊呀呢吧了哈嗨再见拜拜没事没问题"
    "不客气辛苦明白知道收到是的对不用麻烦你您太们"
)
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
    others = [character for character in letters if not character.isascii()]
    return all(word in SMALL_TALK for word in latin) and all(
        character in SMALL_TALK_ZH for character in others
    )
