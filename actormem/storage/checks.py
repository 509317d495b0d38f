"""What is checked before a value is queued and after it is read.

The law of the file: what is written can be read back. Structs do not check the types of their fields, so a
write is encoded and decoded once before it is accepted; rows carry a checksum, so that bytes which changed on
the disk are found and never believed.
"""

from typing import Final, TypeVar
from zlib import crc32

import msgspec

from actormem.core.values import Item
from actormem.errors import UsageError
from actormem.ports import PutVectors, Write
from actormem.storage.failures import DamagedRowError

__all__ = ["INTEGER_MAX", "check_write", "checked_types", "checksum", "decode_item", "encode_item", "verify"]

INTEGER_MAX: Final = 2**63 - 1  # SQLite's integers have 64 bits and a sign
VECTOR_ITEM_BYTES: Final = 4  # float32
T = TypeVar("T")


def check_write(write: Write) -> None:
    """Refuse a write that could not be stored and read back.

    Raises:
        UsageError: A field has a wrong type, a lone surrogate or a number of more than 64 bits. Nothing of
            the value is repeated.
    """
    try:
        if isinstance(write, PutVectors):  # large and plain: checked without a copy
            check_vectors(write)
        else:
            msgspec.msgpack.decode(msgspec.msgpack.encode(write), type=type(write))
        check_integers(write)
    except (UnicodeEncodeError, OverflowError, TypeError, msgspec.MsgspecError) as error:
        name = type(write).__name__
        raise UsageError(f"{name} cannot be stored and read back ({type(error).__name__})") from None


def check_integers(write: Write) -> None:
    for name in ("time_ms", "sequence", "first", "last"):
        if not -INTEGER_MAX <= getattr(write, name, 0) <= INTEGER_MAX:
            raise OverflowError


def check_vectors(write: PutVectors) -> None:
    for text in (write.owner.tenant, write.owner.user, write.embedder):
        text.encode()
    for item_id, vector in write.vectors:
        item_id.encode()
        if not isinstance(vector, bytes) or len(vector) % VECTOR_ITEM_BYTES:  # pyright: ignore[reportUnnecessaryIsInstance] - a Struct holds what it is given
            raise TypeError


def checksum(*parts: bytes | str | int | None) -> int:
    """CRC-32 of the parts with their lengths, so that no two divisions of the same bytes agree."""
    value = 0
    for part in parts:
        if part is None:
            value = crc32(b"-", value)
            continue
        content = part if isinstance(part, bytes) else str(part).encode()
        value = crc32(content, crc32(b"%d:" % len(content), value))
    return value


def verify(expected: int, *parts: bytes | str | int | None) -> None:
    """Compare a row with its checksum.

    Raises:
        DamagedRowError: They differ.
    """
    found = checksum(*parts)
    if found != expected:
        # A bit of the row's header may have made the number anything else.
        told = f"checksum {expected:#010x}" if type(expected) is int else "a checksum"
        raise DamagedRowError("a row is damaged", expected=told, found=f"{found:#010x}")


def checked_types(row: tuple[T, ...], *types: type[object]) -> tuple[T, ...]:
    """The row, if each of its values has its type: columns without a checksum say at least so much.

    Raises:
        DamagedRowError: One has another.
    """
    for value, expected in zip(row, types, strict=True):
        if type(value) is not expected:
            raise DamagedRowError(
                "a row is damaged",
                expected=f"a value of type {expected.__name__}",
                found=type(value).__name__,
            )
    return row


def encode_item(item: Item) -> bytes:
    """The item as bytes."""
    return msgspec.msgpack.encode(item)


def decode_item(body: bytes) -> Item:
    """The item that `encode_item` made these of."""
    return msgspec.msgpack.decode(body, type=Item)
