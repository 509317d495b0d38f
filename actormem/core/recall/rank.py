"""How the arms of a recall are weighed into one score.

Every arm gives each candidate a share on a scale of its own that does not depend on luck: the lexical one is
divided by what the query's words could give at most (not by the best hit, which would make junk a full
match), the dense ones are stretched over the candidates and squared. The score is their weighted sum. The law
of this file: it sees arrays only, one place per candidate, and changes none of them.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FLOOR",
    "HALF_LIFE_DAYS",
    "KIND_SHARES",
    "WEIGHTS",
    "Shares",
    "closeness",
    "fuse",
    "importance_share",
    "recency_share",
    "relevance",
    "session_prior",
    "stretch",
]

Shares = NDArray[np.float64]

FLOOR: Final = 0.2  # score below which a hit of a turn's recall is noise
WEIGHTS: Final[Mapping[str, float]] = {
    "lexical": 1.0,
    "phrase": 0.22,
    "concept": 1.3,
    "reply": 1.0,
    "vector": 0.5,
    "window": 0.45,
    "session": 0.5,
    "speaker": 0.25,
    "date": 1.4,
    "side": 0.3,
    "type": 0.25,
    "question": -1.2,
    "assistant": -0.55,
    "stale": -0.3,
    "attribute": 1.6,
    "id": 0.6,
    "recency": 0.03,
    "importance": 0.06,
    "kind": 0.05,
}
STANDING_DAYS: Final = 3650.0  # holds until something takes its place: age tells only equals apart
HALF_LIFE_DAYS: Final[Mapping[str, float]] = {
    "episode": 30.0,  # what was said in passing is seldom asked for after a season
    "event": 60.0,  # a plan is over soon after its day
    "summary": 90.0,  # stands for many episodes, and for longer
    "preference": STANDING_DAYS,
    "fact": STANDING_DAYS,
    "knowledge": STANDING_DAYS,
}
KIND_SHARES: Final[Mapping[str, float]] = {
    "episode": 0.0,
    "event": 1.0,
    "summary": 0.0,
    "preference": 1.0,
    "fact": 1.0,
    "knowledge": 0.5,
}
SESSION_BEST: Final = 3  # a session is as good as its three best turns
RANGE_MIN: Final = 0.25  # cosines nearer to each other than this are not stretched apart
CLOSE_NOTHING: Final = 0.2  # closeness of unrelated texts, at its usual most: 95 of 100 greetings
CLOSE_SAME: Final = 0.7  # closeness of a question and its plain answer
SURE: Final[Mapping[str, float]] = {"lexical": 1.0, "attribute": 1.6, "id": 0.9, "date": 0.6}
BACKGROUND_ROWS_MIN: Final = 20  # fewer cosines do not show what is usual
BACKGROUND_SHARE: Final = 0.1
BACKGROUND_MAX: Final = 0.9


def stretch(values: Shares, low: float | None = None, high: float | None = None) -> Shares:
    """Values stretched over 0 to 1 between the least and the largest, squared: only the best stand out.

    Values that hardly differ are not told apart: few candidates would get 0 or 1 by chance.
    """
    if not len(values):
        return values
    least = float(values.min()) if low is None else low
    most = float(values.max()) if high is None else high
    return np.clip((values - least) / max(most - least, RANGE_MIN), 0.0, 1.0) ** 2


def session_prior(shares: Shares, sessions: NDArray[np.int64]) -> Shares:
    """For each candidate a third of the sum of the three best shares of its session.

    A session that speaks of the matter more than once is more likely the right one.
    """
    if not len(shares):
        return shares
    order = np.lexsort((-shares, sessions))
    ordered = sessions[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    group = np.cumsum(np.r_[True, ordered[1:] != ordered[:-1]]) - 1
    place = np.arange(len(ordered)) - starts[group]
    best = np.where(place < SESSION_BEST, shares[order], 0.0)
    prior = np.empty(len(shares))
    prior[order] = (np.add.reduceat(best, starts) / SESSION_BEST)[group]
    return prior


def recency_share(age_days: Shares, half_life_days: Shares) -> Shares:
    """1 for what is new, half after a half-life. Kept weak: a strong one hides what was asked for."""
    return np.exp2(-np.maximum(age_days, 0.0) / half_life_days)


def importance_share(importance: Shares) -> Shares:
    """Importance around its middle, so that what nobody rated is not moved. -0.5 to 0.5."""
    return importance - 0.5


def closeness(cosines: Shares, sample: Shares) -> Shares:
    """Cosines over what is usual: 0 for what an unrelated text has, 1 for the same text.

    Embedders differ in what unrelated texts get (0.1 or 0.75), so the usual is taken from the lower end of
    the query's own cosines; where these are few, it is 0.
    """
    usual = 0.0
    if len(sample) >= BACKGROUND_ROWS_MIN:
        usual = min(max(quantile(sample, BACKGROUND_SHARE), 0.0), BACKGROUND_MAX)
    return np.clip((cosines - usual) / (1.0 - usual), 0.0, 1.0)


def quantile(sample: Shares, share: float) -> float:
    """As `np.quantile`, linear between two; a tenth of its cost where a sample is small."""
    place = share * (len(sample) - 1)
    below = int(place)
    low, high = np.partition(sample, (below, min(below + 1, len(sample) - 1)))[
        [below, min(below + 1, len(sample) - 1)]
    ]
    return float(low + (high - low) * (place - below))


def relevance(arms: Mapping[str, Shares], close: Shares) -> Shares:
    """How sure it is that a candidate has to do with the query at all, by itself: 0 to 1.

    Any one kind of evidence is enough; several make it surer.
    """
    doubt = 1.0 - np.clip((close - CLOSE_NOTHING) / (CLOSE_SAME - CLOSE_NOTHING), 0.0, 1.0)
    for name, weight in SURE.items():
        if name in arms:
            doubt = doubt * (1.0 - weight * np.clip(arms[name], 0.0, 1.0))
    return 1.0 - doubt


def fuse(arms: Mapping[str, Shares], count: int) -> Shares:
    """The weighted sum of the arms, one value per candidate."""
    total = np.zeros(count)
    for name, shares in arms.items():
        total += WEIGHTS[name] * shares
    return total
