"""The hits of a query and of its rewrites as one answer.

Scores are calibrated: they say how sure it is that an item has to do with the words it was sought by, so those of
several searches stand on one scale. The law of the file: the query's own hits keep their scores or gain; a rewrite,
whose words nobody has said, gives at most its share.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from actormem.core.recall.conflicts import newest_first
from actormem.core.recall.duplicates import distinct
from actormem.core.recall.words import Words
from actormem.core.values import Hit

__all__ = ["REWRITE", "REWRITE_HITS_MAX", "REWRITE_SHARE", "expanded"]

REWRITE: Final = "rewrite"  # its name in `hit.why`
REWRITE_SHARE: Final = 0.7  # of a rewrite's score: it may mean another thing than what was asked
REWRITE_HITS_MAX: Final = 16  # of each rewrite: those behind them say less than the query's own
WHY_SHARE_MIN: Final = 0.005


def expanded(
    own: Sequence[Hit],
    rewritten: Sequence[tuple[str, Sequence[Hit]]],
    *,
    query: str,
    words: Words,
    limit: int,
    min_score: float | None = None,
    source_max: int = 0,
) -> tuple[Hit, ...]:
    """The hits of a query with those of its rewrites.

    Args:
        own: Of the query itself, best first.
        rewritten: Each rewrite with its hits, best first.
        limit, min_score, source_max: As the query was asked with.

    Returns:
        Best first, equal scores the query's own first, at most `limit`, near-duplicates left out; of two statements
        that conflict the newer first, as in one search. Where a rewrite has raised a score, `why` holds the share of
        it under `REWRITE`.
    """
    found = {hit.item.id: hit for hit in own}
    for _, hits in rewritten:
        for hit in hits[:REWRITE_HITS_MAX]:
            found[hit.item.id] = raised(found.get(hit.item.id), hit)
    if min_score is not None:
        found = {id: hit for id, hit in found.items() if hit.score >= min_score}
    fused = distinct(sorted(found.values(), key=lambda hit: -hit.score), limit, source_max)
    if not any("date" in hit.why for hit in own):  # who asks for a day does not ask for what is so now
        for text in (query, *(text for text, _ in rewritten)):
            fused = newest_first(fused, text, dict.fromkeys(words.terms(text), 1.0), words)
    here = {hit.item.id for hit in fused}
    return tuple(
        msgspec.structs.replace(hit, before=None) if hit.before is not None and hit.before.id in here else hit
        for hit in fused
    )


def raised(own: Hit | None, other: Hit) -> Hit:
    """The hit with the better of its own score and what another search gives it."""
    score = REWRITE_SHARE * other.score
    if own is None:
        return msgspec.structs.replace(other, score=score, why={REWRITE: 1.0})
    if score <= own.score:
        return own
    return msgspec.structs.replace(own, score=score, why=why_raised(own, score))


def why_raised(own: Hit, score: float) -> Mapping[str, float]:
    """The shares of a hit's arms, made smaller by what a rewrite has added to its score."""
    kept = own.score / score
    shares = {name: round(share * kept, 3) for name, share in own.why.items()}
    rewritten = round(1.0 - kept + own.why.get(REWRITE, 0.0) * kept, 3)
    return {REWRITE: rewritten} | {
        name: share for name, share in shares.items() if name != REWRITE and abs(share) >= WHY_SHARE_MIN
    }
