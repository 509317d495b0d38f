"""Questions about what was before or after something: "before the trip", "搬家之后".

When that something was nobody says; the memory that speaks of it most does. The law of the file: words alone decide
which memory that is, and where none speaks of it the question is as any other.
"""

import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Anchor", "anchor_of", "side_shares"]

QUERY_CHARS_MAX: Final = 400
REACH_DAYS: Final = 60.0  # on the right side, half of what counts next to it
ENGLISH: Final = re.compile(
    r"\b(?P<side>before|after|since)\s+(?:(?:i|we|you|he|she|they)\s+|(?:my|our|your|his|her|their|the|that|this)\s+)?"
    r"(?P<what>(?!that\b|this\b|then\b|now\b|it\b|when\b)[a-z][^?.,;!]{2,60})",
    re.IGNORECASE,
)
CHINESE: Final = re.compile(
    r"(?P<what>[\u4e00-\u9fff]{2,16}?)(?P<side>之前|以前|之后|以后)(?=[\u4e00-\u9fff，,？?])(?<!这之前)(?<!那之后)"
)
BEFORE: Final = ("before", "之前", "以前")


class Anchor(NamedTuple):
    """What a question is before or after of, in words."""

    what: str
    before: bool


def anchor_of(text: str) -> Anchor | None:
    """The anchor of a query, or None where it has none or is a long text."""
    if len(text) > QUERY_CHARS_MAX:
        return None
    match = ENGLISH.search(text) or CHINESE.search(text)
    if match is None:
        return None
    return Anchor(match["what"].strip(), match["side"].lower() in BEFORE)


def side_shares(days: NDArray[np.int32], day: int, *, before: bool) -> NDArray[np.float64]:
    """How well each day lies on the asked side of a day: 1 next to it, half after 60 days, 0 on the other side."""
    away = (day - days if before else days - day).astype(np.float64)
    return np.where(away > 0, np.exp2(-np.maximum(away, 0.0) / REACH_DAYS), 0.0)
