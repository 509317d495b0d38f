"""What Ray carries between a client and a shard: one struct each way, as bytes, so that nothing is pickled."""

from typing import Any

import msgspec

__all__ = ["ANSWERED", "BEGINNING_ANEW", "FAILED", "LIFE_BYTES", "NOT_OPEN", "Asked", "Told", "tell", "told"]

LIFE_BYTES = 8
ANSWERED, FAILED, BEGINNING_ANEW, NOT_OPEN = 0, 1, 2, 3


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """An operation that a shard is asked.

    Attributes:
        name, query, body: Of the operation; the body in JSON.
        timeout_s: Seconds it may take there.
        call: Names the call for whoever leaves it; empty where nobody will.
        shards: How many the caller takes them to be.
    """

    name: str
    query: dict[str, Any]
    body: bytes | None
    timeout_s: float
    call: str
    shards: int


class Told(msgspec.Struct, frozen=True):
    """What a shard answers.

    Attributes:
        life: Drawn anew each time the shard opens its record: turns that were open in another life are not.
        kind: ANSWERED or FAILED; BEGINNING_ANEW where its record has failed: the outcome is unknown, and it restarts;
            NOT_OPEN where its record is yet to be opened, or another process has it: a predecessor, where the shard has
            been open before.
        raw: The answer or the failure, in JSON.
    """

    life: bytes
    kind: int
    raw: bytes


def tell(life: bytes, kind: int, raw: bytes) -> bytes:
    """What `told` reads."""
    assert len(life) == LIFE_BYTES
    return life + bytes([kind]) + raw


def told(answer: bytes) -> Told:
    """What a shard answered."""
    return Told(answer[:LIFE_BYTES], answer[LIFE_BYTES], answer[LIFE_BYTES + 1 :])
