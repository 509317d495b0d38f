"""What parts that are no text cost: pictures by their pixels, sound by its seconds, files by their bytes.

Each family of models has its price list. Law: where a list is a range or two sources differ, the higher figure
stands here; what says nothing of its size costs the most its family may ask for it.
"""

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

from actormem.core.media import data_of, image_size, wav_seconds
from actormem.core.values import JsonValue
from actormem.errors import UsageError, given_as

__all__ = ["DEFAULT_PRICES", "Prices", "part_tokens"]

IMAGES = ("image_url", "input_image", "image")
SOUNDS = ("input_audio", "audio_url", "audio")
FILES = ("file", "input_file", "document")
VIDEOS = ("video_url", "input_video", "video")

TILES_SQUARE_PIXELS, TILES_SIDE_PIXELS = 2_048, 768  # a tiled picture is first scaled into these
CROPS_WHOLE_PIXELS, CROPS_SIDE_PIXELS = 384, 3_072  # of Gemini: one unit up to here; scaled down beyond there
CROP_PIXELS = (256, 768)  # sides of a crop, smallest and largest
TOKENS_MAX = 1_000_000  # of one part: far above what any model asks
RULES = ("tiles", "patches", "crops", "fixed")
FRACTIONS = ("image_square_tokens", "audio_tokens_per_s", "file_bytes_per_token")
ABOVE_ZERO = ("image_square_pixels", "image_squares_max", "file_bytes_per_token")


class Prices(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of pictures, sound, files and video in one family of models; the defaults are those of gpt-4o.

    Attributes:
        images: How a picture is priced. `tiles`: scaled into 2048 x 2048, then to a shorter side of 768, then cut
            into squares. `patches`: cut into squares as it is. `crops`: Gemini's tiles, whose size follows the
            picture's. `fixed`: all cost `image_base_tokens`.
        image_base_tokens: Of each picture, beside its squares.
        image_square_tokens: Of each square.
        image_square_pixels: Side of a square.
        image_squares_max: Squares of one picture at most; as many are counted where its size is not known.
        image_low_tokens: Of a picture at `detail: low`; 0 where that changes nothing.
        audio_tokens_per_s: Of sound whose length is known (WAV).
        audio_tokens: Of other sound.
        file_tokens: Of a file at least, and of one whose size is not known.
        file_bytes_per_token: Of a file whose bytes are there.
        video_tokens: Of a video, whatever its length.

    Raises:
        UsageError: A value is outside its range; with the range.
    """

    images: Literal["tiles", "patches", "crops", "fixed"] = "tiles"
    image_base_tokens: int = 85
    image_square_tokens: float = 170
    image_square_pixels: int = 512
    image_squares_max: int = 8
    image_low_tokens: int = 85
    audio_tokens_per_s: float = 10
    audio_tokens: int = 1_200  # two minutes
    file_tokens: int = 4_000  # a page or two at Claude's 3,000 a page, more at the prices of others
    file_bytes_per_token: float = 4
    video_tokens: int = 15_780  # a minute at Gemini's 263 a second

    def __post_init__(self) -> None:
        if self.images not in RULES:
            raise UsageError(f"images must be one of {', '.join(RULES)}")
        for name in self.__struct_fields__[1:]:
            _check(name, getattr(self, name))

    def image(self, size: tuple[int, int] | None, detail: str) -> int:
        """Tokens of a picture.

        Args:
            size: Width and height in pixels, or None where they are not known.
            detail: As the part says it; an empty string where it does not.
        """
        if detail == "low" and self.image_low_tokens:
            return self.image_low_tokens
        if self.images == "fixed":
            return self.image_base_tokens
        squares = min(self._squares(*size) if size else self.image_squares_max, self.image_squares_max)
        return self.image_base_tokens + math.ceil(self.image_square_tokens * squares)

    def _squares(self, width: int, height: int) -> int:
        side = self.image_square_pixels
        if self.images == "tiles":
            width, height = _scaled(width, height, max(width, height), TILES_SQUARE_PIXELS)
            width, height = _scaled(width, height, min(width, height), TILES_SIDE_PIXELS)
        elif self.images == "crops":
            if max(width, height) <= CROPS_WHOLE_PIXELS:
                return 1
            width, height = _scaled(width, height, max(width, height), CROPS_SIDE_PIXELS)
            side = min(max(min(width, height) * 2 // 3, CROP_PIXELS[0]), CROP_PIXELS[1])
        return math.ceil(width / side) * math.ceil(height / side)

    def audio(self, data: bytes | None) -> int:
        """Tokens of a sound, of its bytes where they are there."""
        seconds = wav_seconds(data) if data else None
        return self.audio_tokens if seconds is None else math.ceil(seconds * self.audio_tokens_per_s)

    def file(self, data: bytes | None) -> int:
        """Tokens of a file, of its bytes where they are there."""
        return max(self.file_tokens, math.ceil(len(data or b"") / self.file_bytes_per_token))


def part_tokens(part: Mapping[str, JsonValue], prices: Prices) -> int | None:
    """The price of a part of a message's content, or None for one that is counted as the text it is.

    Cost:
        Reading the base64 of what a part carries: about 1 ms a megabyte.
    """
    kind, source = part.get("type"), part.get("source")
    if isinstance(source, Mapping) and source.get("type") in ("text", "content"):
        return None
    if kind in IMAGES:
        data = data_of(part)
        return prices.image(image_size(data) if data else None, _detail(part))
    if kind in SOUNDS:
        return prices.audio(data_of(part))
    if kind in FILES:
        return prices.file(data_of(part))
    return prices.video_tokens if kind in VIDEOS else None


def _detail(part: Mapping[str, JsonValue]) -> str:
    image = part.get("image_url")
    detail = image.get("detail") if isinstance(image, Mapping) else part.get("detail")
    return detail if isinstance(detail, str) else ""


def _scaled(width: int, height: int, side: int, most: int) -> tuple[int, int]:
    """The size scaled down so that this side of it is at most so long; rounded up."""
    if side <= most:
        return width, height
    return -(-width * most // side), -(-height * most // side)


def _check(name: str, value: float) -> None:
    """Refuse what is no number of its range, by name."""
    least = 1 if name in ABOVE_ZERO else 0
    fraction = name in FRACTIONS
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not (fraction or isinstance(value, int)) or not least <= value <= TOKENS_MAX:
        kind = "number" if fraction else "whole number"
        raise UsageError(f"{name} must be a {kind} from {least} to {TOKENS_MAX}, not {given_as(value)}")


DEFAULT_PRICES = Prices()
