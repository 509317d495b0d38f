"""What a provider's usage says of our own counts: a factor on text, and a constant for its chat template.

Law: a request that was measured is never counted below what the provider counted for it, as far as the limits
here allow. Pure: who keeps the measurements, and how long, is decided elsewhere.
"""

from collections.abc import Iterable

import msgspec

__all__ = ["NOT_MEASURED", "Calibration", "Measurement", "calibration_of", "refusal", "worth_changing"]

MARGIN = 1.02  # on the largest factor measured: requests differ a little, and a change of 2 % is none
FACTOR_MAX = 8.0  # a vocabulary of bytes counts 5 times o200k; more is not of the vocabulary
FACTOR_MIN = 0.5  # no vocabulary counts half of o200k: such a usage leaves out what was cached
TEXT_TOKENS_MIN = 200  # below it a request measures the chat template more than the vocabulary
EXTRA_TOKENS_MAX = 2_048  # of a template: tools written out, a default system prompt
SHRINK_STEP = 0.7  # of what it was, unless the provider's limit is known


class Calibration(msgspec.Struct, frozen=True):
    """How to count for a model.

    Attributes:
        factor: Times what the known vocabulary counts; 0.0 where it is not measured.
        wide: Whether text outside ASCII was measured too.
        extra_tokens: Of a request beside all that we count.
    """

    factor: float = 0.0
    wide: bool = False
    extra_tokens: int = 0


NOT_MEASURED = Calibration()


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One request that a provider has counted.

    Attributes:
        prompt_tokens: What it counted.
        counted_tokens: What we did, as things were calibrated then, but for its constant.
        fixed_tokens: Of that, what is no text: overheads and prices of parts.
        text_tokens: What the known vocabulary counts for the text.
        wide: Whether half of that or more is outside ASCII.
        priced: Whether there are parts whose price may be what differs.
        refused: Whether it was refused for its length, and `prompt_tokens` is what that says at least.
        constant: Whether what differs is so little that it is the chat template's.
    """

    prompt_tokens: int
    counted_tokens: int
    fixed_tokens: int
    text_tokens: int
    wide: bool = False
    priced: bool = False
    constant: bool = False
    refused: bool = False

    @property
    def factor(self) -> float:
        """What the text cost, by the known vocabulary; 0.0 where the request cannot tell."""
        if self.priced or self.constant or self.text_tokens < TEXT_TOKENS_MIN:
            return 0.0
        factor = (self.prompt_tokens - self.fixed_tokens) / self.text_tokens
        return min(max(factor, 1.0), FACTOR_MAX) if factor >= FACTOR_MIN else 0.0


def calibration_of(measurements: Iterable[Measurement]) -> Calibration:
    """The calibration under which none of these requests counts less than the provider said.

    The factor is the largest measured, and 2 % more; what is still missing for requests too short to measure it
    is a constant.
    """
    known = tuple(measurements)
    measuring = [one for one in known if one.factor]
    factor = max((one.factor for one in measuring), default=0.0) * MARGIN
    missing = (one.prompt_tokens - _counted(one, factor) for one in known if not one.priced)
    extra = min(max(0, max(missing, default=0)), EXTRA_TOKENS_MAX)
    return Calibration(factor, any(one.wide for one in measuring), extra)


def worth_changing(now: Calibration, new: Calibration) -> bool:
    """Whether to count anew: the factor differs by 2 %, or something was learned that the old one lacks."""
    if new == now:
        return False
    if new.wide != now.wide or bool(new.factor) != bool(now.factor) or new.extra_tokens > now.extra_tokens:
        return True
    return (
        not now.factor / MARGIN < new.factor < now.factor * MARGIN or new.extra_tokens < now.extra_tokens // 2
    )


def refusal(asked: Measurement, limit_tokens: int) -> Measurement:
    """What a refusal for length says, where no usage does: the request was over the limit.

    It is taken to have been 2 % over `limit_tokens`, but for one step of shrinking at most: so the same content
    counts more than the limit afterwards, and a wrong limit does not ruin the count at once.
    """
    over = max(limit_tokens, asked.counted_tokens) * MARGIN
    most = asked.counted_tokens / SHRINK_STEP
    return msgspec.structs.replace(asked, prompt_tokens=int(min(over, most)) + 1, refused=True)


def _counted(one: Measurement, factor: float) -> int:
    """What we count for it at least, under a factor; as things were then where there is none."""
    return one.fixed_tokens + int(one.text_tokens * factor) if factor else one.counted_tokens
