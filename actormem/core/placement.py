"""Which shard an owner's memory is in: rendezvous hashing, the same in every version and on every machine. Pure.

The law of the file: what is written here decides where people's memories are looked for. A change of one byte that is
hashed would lose them all, so golden values are tested.
"""

from collections.abc import Sequence
from hashlib import blake2b

from actormem.core.values import Owner

__all__ = ["SHARDS_MAX", "shard_name", "shard_of"]

SHARDS_MAX = 1_000  # three digits of a name
WEIGHT_BYTES = 8


def shard_name(number: int) -> str:
    """The name of a shard, from 000 on."""
    assert 0 <= number < SHARDS_MAX
    return f"{number:03}"


def shard_of(owner: Owner, names: Sequence[str]) -> int:
    """The place in `names` of the shard that an owner's memory is in: the one of the highest random weight.

    The weight of a shard for an owner is a hash of both. So a name more takes from all others alike, one in
    `len(names)` of the owners in all, and nobody else moves; one less gives its owners to all others alike.

    Args:
        names: Distinct, at least one; their order does not matter.

    Cost:
        Half a microsecond a name.

    Source:
        Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM Transactions on
        Networking 6 (1), 1998: highest random weight.

    >>> shard_of(Owner(tenant="", user="ada"), ["000", "001", "002"])
    0
    """
    tenant = owner.tenant.encode()
    whose = blake2b(
        len(tenant).to_bytes(4, "big") + tenant + owner.user.encode() + b"\0", digest_size=WEIGHT_BYTES
    )
    heaviest, place = b"", 0
    for number, name in enumerate(names):
        hashed = whose.copy()
        hashed.update(name.encode())
        weight = hashed.digest()
        if weight > heaviest:
            heaviest, place = weight, number
    return place
