"""Where texts are cut, which vocabulary a model has, and what tiktoken is never allowed to do."""

import socket
from importlib import util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiktoken
import toktok
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.adapters import tiktoken as tiktoken_adapter
from actormem.adapters import toktok as toktok_adapter
from actormem.adapters import vocabularies
from actormem.adapters.bound import BoundTokenizer
from actormem.adapters.bytes import BytesTokenizer
from actormem.adapters.prefixes import fitting_prefix, opening_chars, repaired, shrunk_prefix
from actormem.adapters.tiktoken import TiktokenTokenizer, is_on_disk
from actormem.adapters.toktok import ToktokTokenizer
from actormem.adapters.vocabularies import make_tokenizer, vocabulary_of
from actormem.errors import UsageError
from actormem.limits import UNKNOWN_MODEL_FACTOR

QUIET = settings(max_examples=100, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        (None, "o200k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-5.1-codex", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o4-mini-2025-04-16", "o200k_base"),
        ("gpt-oss:20b", "o200k_harmony"),
        ("openai/gpt-oss-120b", "o200k_harmony"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-preview", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("gpt-35-turbo", "cl100k_base"),
        ("Qwen/Qwen3.5-9B", "qwen3.5"),
        ("qwen3.5", "qwen3.5"),
        ("ft:gpt-4o-mini-2024-07-18:my-org::8abc", "o200k_base"),
        ("ft:gpt-3.5-turbo:org", "cl100k_base"),
        ("openai:gpt-4o", "o200k_base"),
        ("openai:ft:gpt-4o:org", "o200k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("openrouter/openai/gpt-5-mini", "o200k_base"),
        ("azure/gpt-4", "cl100k_base"),
        (" GPT-4o ", "o200k_base"),
        ("qwen3-32b", None),
        ("qwen-max", None),
        ("gpt-50", None),
        ("gpt-9", None),
        ("o1x", None),
        ("deepseek-chat", None),
        ("somebody/gpt-4-merge", None),
        ("llama3:8b", None),
        ("", None),
        ("/", None),
        (":", None),
    ],
)
def test_a_model_name_gives_its_vocabulary_or_none(model: str | None, vocabulary: str | None) -> None:
    assert vocabulary_of(model) == vocabulary


@QUIET
@given(model=st.text(st.characters(exclude_categories=()), max_size=30))
def test_no_model_name_is_an_error(model: str) -> None:
    vocabulary_of(model)


def test_a_known_model_is_counted_exactly_and_an_unknown_one_by_a_bound() -> None:
    known, unknown = make_tokenizer("gpt-4o"), make_tokenizer("deepseek-chat")
    assert (known.name, known.exact) == ("o200k_base", True)
    assert (unknown.name, unknown.exact) == (f"o200k_base*{UNKNOWN_MODEL_FACTOR:g}", False)
    text = "请把会议改到下周二下午三点。Please move it."
    assert unknown.count(text) > known.count(text)


def test_without_any_vocabulary_bytes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabularies, "find_spec", lambda name: None)
    assert make_tokenizer("gpt-4o").name == "bytes"
    assert make_tokenizer("deepseek-chat").name == "bytes"


def test_without_toktok_and_without_files_tiktoken_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        vocabularies, "find_spec", lambda name: None if name == "toktok" else util.find_spec(name)
    )
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(socket.socket, "connect", refuse_network)
    assert make_tokenizer("gpt-4o").name == "bytes"


def refuse_network(*arguments: Any) -> None:
    raise AssertionError("a tokenizer went to the network")


def test_a_missing_or_damaged_vocabulary_file_is_refused_without_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(socket.socket, "connect", refuse_network)
    with pytest.raises(UsageError, match="TIKTOKEN_CACHE_DIR"):
        TiktokenTokenizer("o200k_base")
    for damaged in (b"", b"IQ== 0\n"):
        (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(damaged)
        assert not is_on_disk("o200k_base")
    assert len(list(tmp_path.iterdir())) == 1, "a damaged file is left where it is"


def test_an_empty_cache_setting_means_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert not is_on_disk("o200k_base")
    assert not is_on_disk("p50k_base")


class PanicException(BaseException):
    """What pyo3 raises where Rust panics: not an Exception."""


class Encoding:
    """An encoding that panics on blanks, is interrupted on `!`, and else counts characters."""

    def encode_ordinary(self, text: str) -> list[int]:
        if text.isspace():
            raise PanicException("StackOverflow")
        if text == "!":
            raise KeyboardInterrupt
        return list(range(len(text)))


@pytest.fixture
def panicking(monkeypatch: pytest.MonkeyPatch) -> TiktokenTokenizer:
    monkeypatch.setattr(tiktoken_adapter, "is_on_disk", lambda vocabulary: True)
    monkeypatch.setattr(tiktoken, "get_encoding", lambda vocabulary: Encoding())
    return TiktokenTokenizer("o200k_base")


def test_a_panic_of_the_regex_engine_is_answered_by_the_bytes(panicking: TiktokenTokenizer) -> None:
    assert panicking.count(" " * 100) == 100
    assert panicking.count("abc") == 3


def test_an_interrupt_is_not_taken_for_a_panic(panicking: TiktokenTokenizer) -> None:
    with pytest.raises(KeyboardInterrupt):
        panicking.count("!")


def test_a_long_text_is_counted_in_pieces(panicking: TiktokenTokenizer) -> None:
    pieces: list[int] = []
    panicking._encoding = SimpleNamespace(
        encode_ordinary=lambda text: pieces.append(len(text)) or [0] * len(text)
    )
    assert panicking.count("字" * 150_000) == 150_000
    assert pieces == [65_536, 65_536, 18_928]


@QUIET
@given(text=st.text(st.characters(exclude_categories=()), max_size=60))
@pytest.mark.parametrize("vocabulary", ["o200k_base", "qwen3.5"])
def test_the_public_count_of_toktok_stands_behind_the_private_one(vocabulary: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        public = SimpleNamespace(batch_count=toktok.batch_count, truncate=toktok.truncate)
        patch.setattr(toktok_adapter, "toktok", public)
        fallback = ToktokTokenizer(vocabulary)
    assert fallback.count(text) == ToktokTokenizer(vocabulary).count(text)


def test_qwen_counts_what_is_left_after_normalising() -> None:
    tokenizer = ToktokTokenizer("qwen3.5")
    assert tokenizer.count("cafe\u0301") == tokenizer.count("café")
    text = "cafe\u0301 " * 50
    cut = tokenizer.truncate(text, 20)
    assert text.startswith(cut)
    assert len(cut) > 20


def test_a_vocabulary_that_is_not_compiled_in_is_refused() -> None:
    with pytest.raises(UsageError, match="o200k_base"):
        ToktokTokenizer("p50k_base")


@pytest.mark.parametrize("factor", [0.9, 0.0, -1.0, 17.0, float("nan"), float("inf")])
def test_a_factor_outside_its_range_is_refused(factor: float) -> None:
    with pytest.raises(UsageError, match="factor"):
        BoundTokenizer(BytesTokenizer(), factor)


def test_cutting_looks_only_at_the_beginning_of_a_long_text() -> None:
    looked_at: list[int] = []

    def count(text: str) -> int:
        looked_at.append(len(text))
        return len(text)

    assert len(fitting_prefix("字" * 2_000_000, 100, count)) == 100
    assert max(looked_at) < 2_000
    assert len(looked_at) < 20


def test_the_opening_grows_until_it_holds_what_may_stay() -> None:
    text = " " * 100_000
    end = opening_chars(text, 10, ToktokTokenizer().count)
    assert ToktokTokenizer().count(text[:end]) > 10
    assert end < 50_000
    assert opening_chars("short", 10, len) == 5


def test_a_shorter_text_that_counts_more_is_cut_again() -> None:
    def count(text: str) -> int:
        return 3 if len(text) % 5 == 0 else len(text)

    assert [len(shrunk_prefix("x" * 30, end, 3, count)) for end in (10, 9, 8, 7, 2)] == [10, 2, 5, 0, 2]


def test_a_text_whose_beginning_counts_more_than_the_whole_is_kept_whole() -> None:
    text = "x" * 300  # one long word, of which every beginning falls apart

    assert fitting_prefix(text, 10, lambda part: 5 if len(part) == 300 else min(len(part), 20)) == text


def test_a_cut_that_is_longer_than_any_character_still_ends() -> None:
    marks = "a" + "\u0301" * 5_000
    cut = BytesTokenizer().truncate(marks, 500)
    assert 0 < len(cut.encode()) <= 500


def test_repairing_joins_pairs_and_replaces_lone_surrogates() -> None:
    assert repaired("a\ud83d\ude00b\ud83dc\ude00") == "a😀b\ufffdc\ufffd"
    assert repaired("中文 abc") == "中文 abc"
