"""What a model's reply holds beside what was asked for: thoughts in front, words around the JSON."""

import re
from typing import Final

__all__ = ["json_of", "without_thoughts"]

THOUGHTS: Final = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)


def without_thoughts(reply: str) -> str:
    """The reply without the thoughts that a reasoning model puts in front of it."""
    return THOUGHTS.sub("", reply)


def json_of(reply: str) -> str:
    """From the first bracket of an object or array to the last of its kind; empty where there is none.

    It need not be JSON.
    """
    words = without_thoughts(reply)
    starts = [place for place in (words.find("{"), words.find("[")) if place >= 0]
    if not starts:
        return ""
    start = min(starts)
    return words[start : words.rfind("]" if words[start] == "[" else "}") + 1]
