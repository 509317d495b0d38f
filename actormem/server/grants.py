"""Keys and what they open: one user's memory, or that of all users of a tenant.

The law of the file: a key is drawn here, told once, and kept as a hash; keys are compared in constant time.
"""

import hashlib
import hmac
import secrets
from pathlib import Path

import msgspec

from actormem import UsageError

__all__ = ["LOCAL", "Grant", "Keys", "add_key", "read_keys"]

KEYS_MAX = 10_000
KEY_BYTES = 32
PREFIX = "amk_"  # tells a key of ours from others in logs of who lost it


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What the holder of a key may do.

    Attributes:
        name: Of the key, unique; what logs and the rate limit call it.
        tenant: Whose users; None for everybody's (no key file was given).
        user: The one user whose memory it opens; None for all users of the tenant.
    """

    name: str
    tenant: str | None
    user: str | None = None

    def owner(self, user: str, tenant: str) -> tuple[str, str]:
        """The user and tenant that a request is for.

        Raises:
            PermissionError: The key is another one's.
        """
        if self.tenant is not None and tenant not in ("", self.tenant):
            raise PermissionError("the key is for another tenant")
        if self.user is not None and user not in ("", self.user):
            raise PermissionError("the key is for another user")
        return self.user or user, tenant if self.tenant is None else self.tenant

    @property
    def for_all_users(self) -> bool:
        """Whether it opens more than one user's memory."""
        return self.user is None


LOCAL = Grant(name="local", tenant=None)
"""What everybody may do who reaches a server without keys: it listens to this machine alone."""


class StoredKey(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the file of keys. `user` is null for all users of the tenant."""

    name: str
    sha256: str
    tenant: str
    user: str | None = None


class Keys:
    """The keys there are."""

    def __init__(self, stored: tuple[StoredKey, ...]) -> None:
        self._grants = [
            (bytes.fromhex(one.sha256), Grant(name=one.name, tenant=one.tenant, user=one.user))
            for one in stored
        ]

    def __len__(self) -> int:
        return len(self._grants)

    def grant(self, key: str) -> Grant | None:
        """What a key opens; None where there is no such key. Takes the same time whichever it is."""
        given = _digest(key)
        found: Grant | None = None
        for digest, grant in self._grants:
            if hmac.compare_digest(digest, given):
                found = grant
        return found


def read_keys(path: Path) -> Keys:
    """The keys of a file.

    Raises:
        UsageError: It is no file of keys; says which place of it and why.
    """
    return Keys(_read(path))


def add_key(path: Path, *, name: str, tenant: str, user: str | None) -> str:
    """Draw a key, write its hash into the file, made where it is missing, and give the key: nobody can tell it again.

    Raises:
        UsageError: The file is no file of keys, or has a key of that name; nothing changed.
    """
    stored = _read(path) if path.exists() else ()
    if not name or any(one.name == name for one in stored):
        raise UsageError("a key must have a name of its own")
    if len(stored) >= KEYS_MAX:
        raise UsageError(f"a file has at most {KEYS_MAX} keys")
    if user == "":
        raise UsageError("the user of a key must not be empty", hint="or let it open all users' memories")
    key = PREFIX + secrets.token_urlsafe(KEY_BYTES)
    line = StoredKey(name=name, sha256=_digest(key).hex(), tenant=tenant, user=user)
    body = msgspec.json.format(msgspec.json.encode((*stored, line)), indent=2)
    beside = path.with_name(f"{path.name}.new")
    beside.touch(mode=0o600)
    beside.write_bytes(body)
    beside.replace(path)
    return key


def _read(path: Path) -> tuple[StoredKey, ...]:
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=tuple[StoredKey, ...])
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise UsageError(f"{path} is no file of keys: {error}") from None
    for place, one in enumerate(stored, 1):
        try:
            sound = len(bytes.fromhex(one.sha256)) == hashlib.sha256().digest_size
        except ValueError:
            sound = False
        if not sound or one.user == "":
            raise UsageError(f"key {place} of {path} has no hash, or an empty user")
    if len({one.name for one in stored}) != len(stored) or not stored:
        raise UsageError(f"{path} must hold keys, each with a name of its own")
    return stored


def _digest(key: str) -> bytes:
    """A key holds 256 bits of chance: a plain hash of it cannot be turned back."""
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
