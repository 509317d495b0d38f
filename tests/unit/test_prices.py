"""What pictures, sound and files cost: the published examples, sizes read from their first bytes, own lists."""

import base64
import math
import struct
import wave
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actormem.core.media import image_size, wav_seconds
from actormem.core.price_table import PRICE_TABLE, checked_table, prices_of
from actormem.core.prices import DEFAULT_PRICES, Prices, part_tokens
from actormem.errors import UsageError
from tests.runtimes import opened

TEXT_TOKENS = 5  # "What is this?", and its part


def png(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))


def jpeg(width: int, height: int, *, exif: int = 0) -> bytes:
    more = b"\xff\xe1" + struct.pack(">H", exif + 2) + b"\0" * exif if exif else b""
    return b"\xff\xd8" + more + b"\xff\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\0" * 12


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"


def webp(kind: bytes, width: int, height: int) -> bytes:
    if kind == b"VP8X":
        body = b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == b"VP8L":
        body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little")
    else:
        body = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width | 1 << 14, height)
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(body)) + body


def wav(seconds: float, *, rate: int = 8_000) -> bytes:
    out = BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"\0\0" * int(seconds * rate))
    return out.getvalue()


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def image(data: bytes, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{coded(data)}", **more}}


def tokens(model: str, part: dict[str, Any], own: dict[str, Prices] | None = None) -> int | None:
    return part_tokens(part, prices_of(model, own or {}))


PICTURES = {
    "png": png,
    "jpeg": jpeg,
    "jpeg with a large exif": lambda width, height: jpeg(width, height, exif=60_000),
    "gif": gif,
    **{
        f"webp {kind.decode().strip()}": lambda width, height, kind=kind: webp(kind, width, height)
        for kind in (b"VP8X", b"VP8L", b"VP8 ")
    },
}


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("size", [(1, 1), (640, 480), (1_023, 16_383)])
def test_the_size_of_a_picture_stands_in_its_first_bytes(kind: str, size: tuple[int, int]) -> None:
    assert image_size(PICTURES[kind](*size)) == size


@pytest.mark.parametrize("kind", PICTURES)
def test_damaged_bytes_have_no_size_and_break_nothing(kind: str) -> None:
    data = PICTURES[kind](640, 480)
    for end in range(len(data) if len(data) < 100 else 40):
        assert image_size(data[:end]) in (None, (640, 480))
    assert image_size(b"\xff" * 40) is image_size(b"<svg/>") is None
    assert image_size(b"\xff\xd8" + b"\xff" * 100) is None
    assert image_size(png(0, 480)) is None


def test_a_wav_says_how_long_it_is_and_other_sound_does_not() -> None:
    assert wav_seconds(wav(2.5)) == pytest.approx(2.5)
    assert wav_seconds(wav(3, rate=44_100)) == pytest.approx(3)
    assert wav_seconds(b"ID3\x04" + b"\0" * 100) is wav_seconds(wav(1)[:20]) is None
    assert wav_seconds(wav(1).replace(b"\x80\x3e\0\0", b"\0\0\0\0", 1)) is None, "no bytes a second"


@pytest.mark.parametrize(
    ("model", "size", "detail", "expected"),
    [
        ("gpt-4o", (1_024, 1_024), "high", 765),  # the examples of OpenAI's guide
        ("gpt-4o", (2_048, 4_096), "high", 1_105),
        ("gpt-4o", (4_096, 8_192), "low", 85),
        ("gpt-4o", (128, 64), "auto", 255),
        ("gpt-4o", (9_000, 300), "high", 85 + 4 * 170),
        ("gpt-4o-mini", (1_024, 1_024), "high", 2_833 + 4 * 5_667),
        ("openai/gpt-4o-mini-2024-07-18", (1_024, 1_024), "low", 2_833),
        ("o1", (1_024, 1_024), "", 75 + 4 * 150),
        ("gpt-5", (1_024, 1_024), "", 70 + 4 * 140),
        ("gpt-4.1-mini", (1_024, 1_024), "high", math.ceil(1_024 * 1.62)),
        ("gpt-4.1-mini", (1_800, 2_400), "high", math.ceil(1_536 * 1.62)),  # published: 1,452 patches
        ("gpt-4.1-nano", (64, 64), "low", 10),
        ("o4-mini", (1_024, 1_024), "", math.ceil(1_024 * 1.72)),
        ("gpt-5-mini", (1_024, 1_024), "", math.ceil(1_024 * 1.62)),
        ("claude-3-7-sonnet", (200, 200), "", 64),  # published: 54
        ("us.anthropic.claude-3-7-sonnet", (1_092, 1_092), "", 1_600),  # published: 1,590
        ("claude-opus-4-7", (2_000, 1_500), "", 75 * 56 + 0),
        ("claude-opus-4-7", (4_000, 4_000), "", 4_784),
        ("gemini-2.5-flash", (384, 384), "", 258),
        ("google/gemini-2.0-flash", (960, 540), "", 6 * 258),  # published: 6 tiles
        ("gemini-3-pro", (960, 540), "", 1_120),
        ("qwen2.5-vl-72b", (2_800, 2_800), "", 10_016),
        ("somebody/never-heard-of", (1_120, 1_120), "", 1_616),
    ],
)
def test_a_picture_costs_what_is_published_for_its_size(
    model: str, size: tuple[int, int], detail: str, expected: int
) -> None:
    assert tokens(model, image(png(*size), detail=detail)) == expected


@pytest.mark.parametrize("model", [*PRICE_TABLE, "unknown-model"])
def test_a_picture_of_unknown_size_costs_the_most_that_its_family_asks(model: str) -> None:
    unknown = tokens(model, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})
    assert unknown is not None
    sizes = [(side, other) for side in (1, 300, 385, 768, 2_048, 9_999) for other in (1, 385, 800, 16_000)]
    assert max(tokens(model, image(png(*size))) or 0 for size in sizes) <= unknown


def test_the_same_picture_costs_the_same_however_a_provider_writes_it() -> None:
    data = coded(png(1_024, 1_024))
    parts: list[dict[str, Any]] = [
        image(png(1_024, 1_024)),
        {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    ]
    assert [tokens("gpt-4o", part) for part in parts] == [765, 765, 765]
    low = {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"}
    assert tokens("gpt-4o", low) == 85
    for odd in ("data:image/png;base64,A", "data:image/png,raw", "data:;base64,图", "", 7):
        assert tokens("gpt-4o", {"type": "image_url", "image_url": {"url": odd}}) == 1_445


def test_sound_costs_its_seconds_and_files_their_bytes() -> None:
    said = {"type": "input_audio", "input_audio": {"data": coded(wav(30)), "format": "wav"}}
    assert (tokens("gpt-4o-audio", said), tokens("gemini-2.5-pro", said)) == (300, 960)
    mp3 = {"type": "input_audio", "input_audio": {"data": coded(b"ID3" * 50), "format": "mp3"}}
    assert (tokens("gpt-4o-audio", mp3), tokens("nobody", mp3)) == (1_200, 3_840)
    file = {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{coded(b'x' * 40_000)}"}}
    assert (tokens("gpt-4o", file), tokens("gpt-4o", {"type": "file", "file": {"file_id": "f"}})) == (
        10_000,
        4_000,
    )
    assert tokens("gpt-4o", {"type": "video_url", "video_url": {"url": "https://example.com/a"}}) == 15_780


def test_a_document_of_text_and_what_has_no_price_is_counted_as_text() -> None:
    assert tokens("claude-3", {"type": "document", "source": {"type": "text", "data": "x"}}) is None
    assert tokens("gpt-4o", {"type": "text", "text": "x"}) is tokens("gpt-4o", {"type": "refusal"}) is None


def test_an_own_list_stands_before_the_built_in_one_and_the_longest_name_wins() -> None:
    flat = Prices(images="fixed", image_base_tokens=500, image_low_tokens=0)
    own = checked_table({"GPT-4o": flat, "my-": Prices(image_base_tokens=0)})
    part = image(png(1_024, 1_024))
    assert tokens("gpt-4o-2024-08-06", part, own) == 500
    assert tokens("gpt-4o-mini", part, own) == 25_501
    assert tokens("vllm/my-model", part, own) == 680
    assert prices_of("", own) == DEFAULT_PRICES
    assert tokens("", part, checked_table({"": flat})) == 500
    assert checked_table(None) == {}


@pytest.mark.parametrize(
    "wrong",
    [[], "gpt-4o", {"gpt-4o": 85}, {7: DEFAULT_PRICES}, dict.fromkeys(map(str, range(257)), DEFAULT_PRICES)],
)
def test_what_is_no_price_list_is_refused_in_one_line(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"^prices") as caught:
        checked_table(wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [one for one in Prices.__struct_fields__ if one != "images"])
@pytest.mark.parametrize("value", [-1, True, "7", None, math.nan, math.inf, 10**7])
def test_a_price_outside_its_range_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=rf"^{name} must be a "):
        Prices(**{name: value})


def test_a_rule_that_is_not_there_and_a_division_by_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^images must be one of tiles, patches, crops, fixed$"):
        Prices(images="pixels")  # type: ignore[arg-type]
    for name in ("image_square_pixels", "file_bytes_per_token"):
        with pytest.raises(UsageError, match=f"^{name} must be a"):
            Prices(**{name: 0})  # type: ignore[arg-type]


def test_a_stored_list_is_read_back() -> None:
    for prices in PRICE_TABLE.values():
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(prices), type=Prices) == prices


@pytest.mark.anyio
async def test_own_prices_count_in_every_context_and_other_ones_are_taken_up_at_the_next_spawn(
    tmp_path: Path,
) -> None:
    asked = [{"type": "text", "text": "What is this?"}, image(png(1_024, 1_024))]
    flat = {"gpt-4o": Prices(images="fixed", image_base_tokens=300, image_low_tokens=0)}
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o")
        async with session.turn(asked) as turn:
            plain = turn.trace.tokens
            assert turn.messages == [{"role": "user", "content": asked}]
            turn.reply("A parcel.")
        assert plain == 3 + 4 + TEXT_TOKENS + 765
    async with opened(tmp_path, prices=flat) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("And this?") as turn:
            assert turn.trace.tokens < plain
            turn.reply("A box.")
        unnamed = await runtime.spawn("t", user="bob")  # of whom nothing is known that might be recalled
        async with unnamed.turn(asked) as turn:
            assert turn.trace.tokens == plain
            turn.reply("A parcel.")


@pytest.mark.anyio
async def test_prices_that_are_none_are_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^prices\['gpt-4o'\] must be an actormem.Prices"):
        async with opened(tmp_path / "memory", prices={"gpt-4o": 85}):
            pass
    assert not (tmp_path / "memory").exists()
