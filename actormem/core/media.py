"""What the first bytes of a picture or a sound say of its size: no decoding, no libraries.

Law: never fails. Bytes that are not what they should be have no size, and are then priced as the largest.
"""

import binascii
from collections.abc import Mapping
from typing import Literal

from actormem.core.values import JsonValue

__all__ = ["data_of", "image_size", "wav_seconds"]

PNG = b"\x89PNG\r\n\x1a\n"
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG segments that hold the size
BARE = frozenset((0x01, *range(0xD0, 0xD9)))  # JPEG markers without a segment behind them


def data_of(part: Mapping[str, JsonValue]) -> bytes | None:
    """The bytes that a part carries inside itself, or None where it only points to them.

    Reads data: URLs (`image_url`, as text or as a mapping with `url`), `input_audio.data`, `file.file_data` and
    Anthropic's `source.data`.
    """
    for holder in (part, *(value for value in part.values() if isinstance(value, Mapping))):
        for key in ("url", "image_url", "file_url", "data", "file_data"):
            value = holder.get(key)
            if isinstance(value, str) and (key in ("data", "file_data") or value.startswith("data:")):
                found = _decoded(value)
                if found is not None:
                    return found
    return None


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, JPEG, GIF or WEBP, in pixels."""
    if data.startswith(PNG) and data[12:16] == b"IHDR" and len(data) >= 24:
        return _size(data[16:20], data[20:24], "big")
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return _size(data[6:8], data[8:10], "little")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp_size(data)
    if data[:2] == b"\xff\xd8":
        return _jpeg_size(data)
    return None


def wav_seconds(data: bytes) -> float | None:
    """How long a WAV of constant bit rate is, in seconds; all that follows its header is taken for sound."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return None
    rate, place = 0, 12
    while place + 8 <= len(data):
        name, length = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "little")
        if name == b"fmt ":
            rate = int.from_bytes(data[place + 16 : place + 20], "little")
        if name == b"data":
            return (len(data) - place - 8) / rate if rate else None
        place += 8 + length + length % 2
    return None


def _decoded(text: str) -> bytes | None:
    if text.startswith("data:"):
        head, _, text = text.partition(",")
        if not head.endswith(";base64"):
            return None
    try:
        return binascii.a2b_base64(text)
    except ValueError:  # binascii's own error, and characters that are no ASCII
        return None


def _size(
    width: bytes, height: bytes, order: Literal["big", "little"], more: int = 0
) -> tuple[int, int] | None:
    found = int.from_bytes(width, order) + more, int.from_bytes(height, order) + more
    return found if min(found) > 0 else None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return _size(data[24:27], data[27:30], "little", more=1)
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a" and len(data) >= 30:
        width, height = (int.from_bytes(data[at : at + 2], "little") & 0x3FFF for at in (26, 28))
        return (width, height) if width and height else None
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker in FRAMES:
            return _size(data[place + 7 : place + 9], data[place + 5 : place + 7], "big")
        if marker == 0xFF:  # padding
            place += 1
        elif marker in BARE:
            place += 2
        else:
            place += 2 + max(2, int.from_bytes(data[place + 2 : place + 4], "big"))
    return None
