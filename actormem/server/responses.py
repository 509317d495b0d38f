"""Answers as HTTP has them: JSON that nobody keeps, and failures in one form."""

import math

import msgspec
from starlette.responses import Response

from actormem.remote.failures import FailureAnswer, failure_of, status_of

__all__ = ["answer_response", "failure_response"]

NOT_KEPT = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def answer_response(answer: object) -> Response:
    """The answer as JSON."""
    return Response(msgspec.json.encode(answer), media_type="application/json", headers=NOT_KEPT)


def failure_response(error: BaseException, status: int | None = None) -> Response:
    """The error as JSON, with its status, and when to try again."""
    failure = failure_of(error)
    headers = dict(NOT_KEPT)
    found = status_of(error) if status is None else status
    if found in (429, 503):
        headers["retry-after"] = str(max(1, math.ceil(failure.retry_after_s)))
    if found == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(
        msgspec.json.encode(FailureAnswer(failure)),
        status_code=found,
        media_type="application/json",
        headers=headers,
    )
