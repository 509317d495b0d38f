"""The policies: what a session does with what its context cannot hold, and what it adds to it.

Law of the file: a policy is nothing but its capabilities, and they are told here alone; whoever decides
something asks for the capability, never for the name.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from actormem.errors import UsageError

__all__ = ["POLICIES", "Policy", "PolicyName", "checked_policy", "policy_of"]

PolicyName: TypeAlias = Literal["auto", "hybrid", "summary", "vector", "window", "full"]


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What a session may do.

    Attributes:
        summarises: Older messages are replaced by summary blocks; without it they leave for good.
        recalls: Notes bring back memories, and the owner's profile.
        shows_values: Exact values of messages that are out of sight are shown.
        shows_task: The task is shown.
        recent_only: Only the newest `keep_recent` messages stay verbatim, however much room there is.
    """

    summarises: bool = False
    recalls: bool = False
    shows_values: bool = False
    shows_task: bool = False
    recent_only: bool = False


POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        "auto": Policy(summarises=True, recalls=True, shows_values=True, shows_task=True),
        "hybrid": Policy(summarises=True, recalls=True, shows_values=True, shows_task=True, recent_only=True),
        "summary": Policy(summarises=True, shows_values=True, shows_task=True),
        "vector": Policy(recalls=True, shows_task=True, recent_only=True),
        "window": Policy(recent_only=True),
        "full": Policy(),
    }
)


def policy_of(name: PolicyName) -> Policy:
    """The capabilities of a policy."""
    return POLICIES[name]


def checked_policy(value: object) -> PolicyName:
    """The name, if it is one of a policy.

    Raises:
        UsageError: It is not; names the choices.
    """
    found: PolicyName | None = next((name for name in get_args(PolicyName) if name == value), None)
    if found is None or not isinstance(value, str):
        raise UsageError(f"policy must be one of {', '.join(POLICIES)}")
    return found
