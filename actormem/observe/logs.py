"""Structured logs: a line for each step, with names of ours and numbers: never a word, and no id unless asked for.

A line reads `actormem turn outcome=complete tokens=812 …`; the same fields are the record's `actormem` attribute, a
mapping, for formatters that write JSON.
"""

import logging
from typing import Final

from actormem.core.observed import ContextBuilt, MemoryUsed, ModelCalled, Observed, TurnEnded

__all__ = ["StepLog"]

FAILED: Final = logging.WARNING


class StepLog:
    """An observer that logs. What failed is logged as a warning, all else at `level`.

    Args:
        logger: Where to; None: the logger `actormem.steps`.
        level: Of what went well.
        ids: Whether lines name tenant, user, session and turn. Their ids come from your users' side: the log then holds
            what names a person.
    """

    def __init__(
        self, logger: logging.Logger | None = None, *, level: int = logging.INFO, ids: bool = False
    ) -> None:
        self._logger = logger or logging.getLogger("actormem.steps")
        self._level = level
        self._ids = ids

    def __call__(self, observed: Observed) -> None:
        """Log one step."""
        step, fields, failed = _fields(observed)
        level = FAILED if failed else self._level
        if not self._logger.isEnabledFor(level):
            return
        if self._ids:
            fields |= _ids(observed)
        line = " ".join(f"{name}={value}" for name, value in fields.items() if value != "")
        self._logger.log(level, "actormem %s %s", step, line, extra={"actormem": {"step": step, **fields}})


def _fields(observed: Observed) -> tuple[str, dict[str, object], bool]:
    match observed:
        case ContextBuilt(trace=trace):
            fields: dict[str, object] = {
                "tokens": trace.tokens,
                "budget_tokens": trace.budget_tokens,
                "full_tokens": trace.full_tokens,
                "stable_prefix_tokens": trace.stable_prefix_tokens,
                "hits": len(trace.included),
                "epoch": trace.epoch,
                "epoch_end": trace.epoch_end.replace(" ", "_"),
                "degraded": ",".join(trace.degraded),
                "elapsed_ms": round(observed.elapsed_ms, 2),
            }
            return "context", fields, False
        case TurnEnded():
            first_ms = observed.first_token_ms
            fields = {
                "outcome": observed.outcome,
                "contexts": observed.context_count,
                "tokens": observed.tokens,
                "prompt_tokens": observed.prompt_tokens,
                "first_token_ms": "" if first_ms is None else round(first_ms, 2),
                "elapsed_ms": round(observed.elapsed_ms, 2),
                "error": observed.error,
            }
            return "turn", fields, observed.outcome == "failed"
        case MemoryUsed():
            fields = {
                "operation": observed.operation,
                "items": observed.item_count,
                "degraded": ",".join(observed.degraded),
                "elapsed_ms": round(observed.elapsed_ms, 2),
                "error": observed.error,
            }
            return "memory", fields, bool(observed.error)
        case ModelCalled():
            fields = {
                "model": observed.model,
                "prompt_tokens": observed.prompt_tokens,
                "elapsed_ms": round(observed.elapsed_ms, 2),
                "error": observed.error,
            }
            return "llm", fields, bool(observed.error)


def _ids(observed: Observed) -> dict[str, object]:
    owner = observed.owner
    found: dict[str, object] = {} if owner is None else {"tenant": owner.tenant, "user": owner.user}
    match observed:
        case ContextBuilt():
            found |= {"session": observed.session_id, "turn": observed.trace.turn_id}
        case TurnEnded():
            found |= {"session": observed.session_id, "turn": observed.turn_id}
        case _:
            pass
    return found
