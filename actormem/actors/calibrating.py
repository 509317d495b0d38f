"""One session's counting: which tokenizer it uses, and what its provider's usage changes of that.

Law: usage is of the newest context that was handed out. What is learned is decided in a draft, like all else; a
model whose vocabulary is known is calibrated only by a usage above what was counted for it.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread
import msgspec

from actormem.actors.services import Services
from actormem.core.calibration import NOT_MEASURED, Calibration, Measurement, refusal, worth_changing
from actormem.core.context.assembly import Part
from actormem.core.prices import Prices
from actormem.core.session.calibrate import calibrated
from actormem.core.session.decide import Draft
from actormem.core.session.working import Settings, Working
from actormem.core.wire import from_wire, has_parts, message_tokens, tools_tokens
from actormem.limits import LARGE_TEXT_CHARS, PRIMING_TOKENS
from actormem.ports import Tokenizer

__all__ = ["Calibrator"]

Result = TypeVar("Result")

ASCII = re.compile("[\\x00-\\x7f]+")
SLACK_TOKENS, SLACK_SHARE = 8, 1.02  # above an exact count: a template's constant, not another vocabulary
FULL_SHARE = 0.9  # of a limit: a context that is refused there was counted a little too low
WIDE_SHARE = 0.5  # of a request's text outside ASCII, from which it measures such text


class Size(msgspec.Struct, frozen=True):
    """What one message of a request takes by the known vocabulary."""

    fixed_tokens: int
    text_tokens: int
    wide_tokens: int
    priced: bool = False


class Calibrator:
    """Counts for one session; remembers the size of each message of the newest context."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._parts: tuple[Part, ...] = ()
        self._tokens = self._extra_tokens = 0
        self._sizes: dict[str, Size] = {}

    def tokenizer(self, settings: Settings) -> Tokenizer:
        """The tokenizer of the session's model, calibrated where it is."""
        return self._services.calibrated_for(settings.model, settings.factor, settings.wide)

    def of(self, model: str, now: Settings) -> Calibration:
        """How to count for a model that is being set: as before where it is the same, else as others found."""
        if model == now.model and now.nonce:
            return _calibration(now)
        return self._services.calibrations.of(model)

    def woken(self, settings: Settings) -> None:
        """Tell the runtime what the session has stored."""
        self._services.calibrations.seed(settings.model, _calibration(settings))

    def sent(self, parts: tuple[Part, ...], state: Working) -> None:
        """This is the newest context now, of this state."""
        self._parts, self._tokens = parts, state.tokens
        self._extra_tokens = state.settings.format_tokens - PRIMING_TOKENS

    async def learn(self, draft: Draft, prompt_tokens: int) -> None:
        """Take in what the provider counted for the newest context; a usage of nothing says nothing."""
        settings = draft.state.settings
        if prompt_tokens <= 0 or not self._parts:
            return
        constant = False
        if not self._follows(settings):
            if prompt_tokens <= self._tokens:
                return
            self._services.counters.usage_above_count += 1
            constant = prompt_tokens <= self._tokens * SLACK_SHARE + SLACK_TOKENS
        measured = await self._measured(settings, prompt_tokens)
        measured = msgspec.structs.replace(measured, constant=constant)
        self._services.calibrations.learn(settings.model, measured)
        await self.adopt(draft)

    async def refused(self, draft: Draft, limit_tokens: int) -> None:
        """Take in that a provider refused the newest context as too long, for a limit it named or the budget.

        Where usage has measured the model, a context well below the limit was not counted too low: then it is the
        limit that is wrong, and nothing is learned.
        """
        settings, known = (
            draft.state.settings,
            self._services.calibrations.measured(draft.state.settings.model),
        )
        full = self._tokens >= FULL_SHARE * limit_tokens
        if self._parts and self._follows(settings) and (full or not known):
            measured = await self._measured(settings, 0)
            self._services.calibrations.learn(settings.model, refusal(measured, limit_tokens))
            await self.adopt(draft)

    async def adopt(self, draft: Draft) -> None:
        """Count as the runtime has found for the model, where that differs from how the session counts."""
        settings = draft.state.settings
        found = self._services.calibrations.of(settings.model)
        if found == NOT_MEASURED or not worth_changing(_calibration(settings), found):
            return
        if (
            settings.factor and not found.factor
        ):  # the runtime has begun anew with the model, the session has not
            return
        counter = self._services.calibrated_for(settings.model, found.factor, found.wide)
        state = draft.state
        characters = sum(len(one.message.wire) for one in state.entries)
        draft.emit(await self._off_loop(characters, lambda: calibrated(state, found, counter)))

    def _follows(self, settings: Settings) -> bool:
        """Whether the model is counted by a bound, which every usage makes better."""
        own = self._services.tokenizer_for(settings.model)
        return settings.factor > 0 or self._services.base_for(settings.model) is not own

    async def _measured(self, settings: Settings, prompt_tokens: int) -> Measurement:
        """The newest context, by the known vocabulary; only what the one before did not have is counted."""
        count = self._services.base_for(settings.model).count
        parts, known = self._parts, self._sizes

        def sizes() -> dict[str, Size]:
            return {one.wire: known.get(one.wire) or _size(one.wire, count, settings.prices) for one in parts}

        characters = sum(len(one.wire) for one in parts if one.wire not in known)
        self._sizes = found = await self._off_loop(characters, sizes)
        each = [found[one.wire] for one in parts]
        tools = count(settings.tools) if settings.tools else 0
        tools_fixed = tools_tokens(settings.tools, lambda _: 0)
        text = tools + sum(one.text_tokens for one in each)
        return Measurement(
            prompt_tokens=prompt_tokens,
            counted_tokens=self._tokens - self._extra_tokens,
            fixed_tokens=PRIMING_TOKENS + tools_fixed + sum(one.fixed_tokens for one in each),
            text_tokens=text,
            wide=sum(one.wide_tokens for one in each) >= WIDE_SHARE * text,
            priced=any(one.priced for one in each),
        )

    async def _off_loop(self, characters: int, work: Callable[[], Result]) -> Result:
        if characters < LARGE_TEXT_CHARS:
            return work()
        return await anyio.to_thread.run_sync(work, limiter=self._services.pools.counting)


def _calibration(settings: Settings) -> Calibration:
    return Calibration(settings.factor, settings.wide, settings.extra_tokens)


def _size(wire: str, count: Callable[[str], int], prices: Prices) -> Size:
    message = from_wire(wire)
    fixed = message_tokens(message, lambda _: 0, prices)
    text = message_tokens(message, count, prices) - fixed
    return Size(fixed, text, count(ASCII.sub("", wire)), has_parts(message))
