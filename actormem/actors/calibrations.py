"""What providers' usage has shown in this runtime, by model: shared by its sessions, gone when it closes.

Law: bounded. The last requests of each model, and the models used last; nothing of what was said.
"""

from collections import OrderedDict, deque

import msgspec

from actormem.core.calibration import NOT_MEASURED, Calibration, Measurement, calibration_of

__all__ = ["Calibrations"]

REQUESTS_MAX = 32  # of one model: enough to have seen its languages, few enough to forget a strange one
MODELS_MAX = 64  # used last; another one begins anew


class Calibrations:
    """The calibration of each model, learned from its last requests."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, _Requests] = OrderedDict()

    def __len__(self) -> int:
        return len(self._models)

    def learn(self, model: str, measurement: Measurement) -> Calibration:
        """Take in one more request; returns the model's calibration."""
        found = self._of(model)
        (found.measuring if measurement.factor else found.short).append(measurement)
        return found.calibration

    def seed(self, model: str, calibration: Calibration) -> None:
        """Begin with what a session has stored, until this runtime has measured the model itself."""
        if calibration != NOT_MEASURED and model not in self._models:
            self._of(model).stored = calibration

    def measured(self, model: str) -> bool:
        """Whether a provider's usage has measured the model's vocabulary in this runtime."""
        found = self._models.get(model)
        return found is not None and any(not one.refused for one in found.measuring)

    def of(self, model: str) -> Calibration:
        """The model's calibration."""
        found = self._models.get(model)
        return found.calibration if found else NOT_MEASURED

    def _of(self, model: str) -> "_Requests":
        found = self._models.setdefault(model, _Requests())
        self._models.move_to_end(model)
        if len(self._models) > MODELS_MAX:
            self._models.popitem(last=False)
        return found


class _Requests:
    """The last requests of one model: those that measure its vocabulary, and those too short for it."""

    def __init__(self) -> None:
        self.stored = NOT_MEASURED
        self.measuring: deque[Measurement] = deque(maxlen=REQUESTS_MAX)
        self.short: deque[Measurement] = deque(maxlen=REQUESTS_MAX)

    @property
    def calibration(self) -> Calibration:
        """What they show together; what was stored stands in for what they do not."""
        found = calibration_of((*self.measuring, *self.short))
        if found.factor or not self.stored.factor:
            return found if found != NOT_MEASURED else self.stored
        extra = max(found.extra_tokens, self.stored.extra_tokens)
        return msgspec.structs.replace(self.stored, extra_tokens=extra)
