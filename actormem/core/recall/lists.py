"""Questions whose answer is a list: which events has she been to? Its parts were said in several talks.

The turns right beside a good one mostly speak of the same part of the answer, and a question about one thing is the
better for them. Where a list is asked for they take places from the other parts: so there a turn beside one that stands
above it gives way by a share of the best score, and no more than that. It moves nothing that has no neighbour.

Measured on chats (R@10 of the questions about several turns, and of all): over three conversations .540 and .567, .870
and .872; over two others .514 and .537, .835 and .838; a share from .05 to .12 makes no difference. A share of the
score for each turn of the same session does as well on the three and nothing for the two, as does a lower weight of
the session; for turns of like meaning (MMR) it does nothing for either.
"""

import re
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actormem.core.recall.lexical import Rows
from actormem.core.recall.neighbours import SIDE
from actormem.core.recall.words import token_count

__all__ = ["asks_for_list", "spread_apart"]

QUERY_TOKENS_MAX: Final = 60  # a longer query is a pasted text: its words are content
BESIDE_SHARE: Final = 0.08  # of the best score, for each turn right beside that stands above
SPREAD_ROWS: Final = 60  # the best ones, among which order changes: several times what is shown

SEVERAL: Final = re.compile(r"\b(?:both|list|various|different|several)\b|哪些|分别|一共|所有|几种|各")
WORD: Final = re.compile(r"[a-z0-9][\w'’+-]*")
ASKING: Final = frozenset({"what", "which"})
AUXILIARY_LIST: Final = """
    am are can could did do does had has have is may might must shall should was were will would
"""
AUXILIARIES: Final = frozenset(AUXILIARY_LIST.split())
AFTER: Final = AUXILIARIES | {"and", "of", "or", "that"}
LEAD_WORDS: Final = 2  # before the word that asks: "in what ways"
NOUN_WORDS: Final = 4  # "what new Italian dishes has"
SINGULAR_ENDS: Final = ("ss", "us", "is", "'s", "’s")
SINGULAR: Final = frozenset({"news", "series", "species", "lens", "always", "others"})


def asks_for_list(text: str) -> bool:
    """Whether the answer to a query has several parts, as far as its form tells."""
    if len(text) > QUERY_TOKENS_MAX * 10 or token_count(text) > QUERY_TOKENS_MAX:
        return False
    lower = text.lower()
    if SEVERAL.search(lower):
        return True
    words = WORD.findall(lower)
    asking = next((place for place, word in enumerate(words[:LEAD_WORDS]) if word in ASKING), None)
    return asking is not None and several_things(words[asking + 1 :])


def several_things(words: list[str]) -> bool:
    """Whether words that follow "what" begin with a noun that means several: it stands before a verb or "of"."""
    for word, after in pairwise(words[: NOUN_WORDS + 1]):
        if word in AUXILIARIES:
            return False
        if after in AFTER and word.endswith("s"):
            return not (word in SINGULAR or word.endswith(SINGULAR_ENDS))
    return False


def spread_apart(scores: NDArray[np.float64], rows: Rows, near: NDArray[np.int32]) -> NDArray[np.float64]:
    """Scores with which a turn gives way to those above it that are right beside it.

    Args:
        scores: (rows,), changed in nothing.
        near: Rows next to each row, as `Neighbours` has them.

    Cost:
        About 0.1 ms, however many rows there are.
    """
    best = np.argsort(-scores, kind="stable")[:SPREAD_ROWS]
    if not len(best) or scores[best[0]] <= 0:
        return scores
    given, share = scores.copy(), BESIDE_SHARE * float(scores[best[0]])
    place_of = {int(rows[place]): place for place in best.tolist()}
    heap = [(-float(scores[place]), order, place) for order, place in enumerate(best.tolist())]
    heapify(heap)
    waiting = set(best.tolist())
    while heap:
        score, order, place = heappop(heap)
        if place not in waiting or -score > given[place]:
            continue
        waiting.remove(place)
        for row in near[rows[place], SIDE - 1 : SIDE + 1].tolist():
            beside = place_of.get(row)
            if beside in waiting and beside is not None:
                given[beside] -= share
                heappush(heap, (-float(given[beside]), order, beside))
    return given
