"""Whose memory a knowledge base is: an owner of its tenant whose user no caller can name.

The law of the file: `checked_id` refuses control characters, so no user's id begins with the mark.
"""

from typing import Final

from actormem.core.values import Owner

__all__ = ["BASE_MARK", "base_name", "base_owner", "is_base"]

BASE_MARK: Final = "\x01"


def base_owner(tenant: str, name: str) -> Owner:
    """The owner that the tenant's base of this name is."""
    return Owner(tenant, BASE_MARK + name)


def is_base(owner: Owner) -> bool:
    """Whether the owner is a knowledge base, and no user."""
    return owner.user.startswith(BASE_MARK)


def base_name(owner: Owner) -> str:
    """The name of the base."""
    if not is_base(owner):
        raise AssertionError("a user is no knowledge base")
    return owner.user[len(BASE_MARK) :]
