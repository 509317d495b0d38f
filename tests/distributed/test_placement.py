"""Which shard an owner is in: the same for ever, evenly, and with few moves."""

from collections import Counter

import pytest

from actormem import Owner
from actormem.core.placement import SHARDS_MAX, shard_name, shard_of

NAMES = [shard_name(number) for number in range(8)]
GOLDEN = {
    ("", "ada"): 0,
    ("shop", "ada"): 6,
    ("", "王小明"): 2,
    ("a", "bc"): 4,
    ("ab", "c"): 4,
}
OWNERS = [Owner(tenant="t", user=f"user {number}") for number in range(4_000)]


@pytest.mark.parametrize(("owner", "shard"), GOLDEN.items())
def test_an_owner_s_shard_never_changes(owner: tuple[str, str], shard: int) -> None:
    assert shard_of(Owner(*owner), NAMES) == shard


def test_tenant_and_user_do_not_run_together() -> None:
    many = [shard_name(number) for number in range(SHARDS_MAX)]
    assert shard_of(Owner("a", "bc"), many) != shard_of(Owner("ab", "c"), many)


def test_the_order_of_the_names_does_not_matter() -> None:
    turned = NAMES[::-1]
    assert all(NAMES[shard_of(one, NAMES)] == turned[shard_of(one, turned)] for one in OWNERS[:200])


def test_owners_are_spread_evenly() -> None:
    counts = Counter(shard_of(one, NAMES) for one in OWNERS)
    assert len(counts) == len(NAMES)
    assert max(counts.values()) < 1.15 * len(OWNERS) / len(NAMES)


def test_a_name_more_takes_its_share_and_moves_nobody_else() -> None:
    before = [shard_of(one, NAMES[:7]) for one in OWNERS]
    after = [shard_of(one, NAMES) for one in OWNERS]
    moved = [new for old, new in zip(before, after, strict=True) if old != new]
    assert set(moved) == {7}
    assert 0.1 < len(moved) / len(OWNERS) < 0.15
