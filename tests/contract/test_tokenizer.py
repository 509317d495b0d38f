"""The promises of `Tokenizer`, over every tokenizer there is.

The vocabulary files of tiktoken are not downloaded: they are written out of toktok's tables, and count as the
files only because their sha256 is the one OpenAI publishes. So the two can be compared on any machine.
"""

import base64
import hashlib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toktok
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actormem.adapters import tiktoken as tiktoken_adapter
from actormem.adapters.bound import BoundTokenizer
from actormem.adapters.bytes import BytesTokenizer
from actormem.adapters.tiktoken import TiktokenTokenizer, is_on_disk
from actormem.adapters.toktok import VOCABULARIES, ToktokTokenizer
from actormem.ports import Tokenizer
from actormem.testing import contracts, strategies
from actormem.testing.contracts.tokenizer import (
    MakeTokenizer,
    counts,
    cuts,
    cuts_between_graphemes,
    is_the_same_in_threads,
)
from actormem.testing.corpus import GRAPHEMES

RANKS = {"cl100k_base": 100_256, "o200k_base": 199_998}
TEXTS = strategies.texts(long=False)
FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

NAMES = [
    *VOCABULARIES,
    "bytes",
    "bound o200k",
    "measured qwen",
    "tiktoken cl100k_base",
    "tiktoken o200k_base",
]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Tokenizer]]:
    folder = tmp_path_factory.mktemp("vocabularies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        for vocabulary in RANKS:
            write_vocabulary(folder, vocabulary)
        exact: dict[str, Tokenizer] = {name: ToktokTokenizer(name) for name in VOCABULARIES}
        yield exact | {
            "bytes": BytesTokenizer(),
            "bound o200k": BoundTokenizer(exact["o200k_base"], 1.5),
            "measured qwen": BoundTokenizer(exact["qwen3.5"], 1.15, measured=True),
            "tiktoken cl100k_base": TiktokenTokenizer("cl100k_base"),
            "tiktoken o200k_base": TiktokenTokenizer("o200k_base"),
        }


@pytest.fixture(scope="module", params=NAMES)
def tokenizer(request: pytest.FixtureRequest, tokenizers: dict[str, Tokenizer]) -> Tokenizer:
    return tokenizers[request.param]


def write_vocabulary(folder: Path, vocabulary: str) -> None:
    encoding: Any = toktok._encoding(vocabulary)
    lines = (
        base64.b64encode(encoding.decode_single_token_bytes(rank)) + b" %d\n" % rank
        for rank in range(RANKS[vocabulary])
    )
    address, _ = tiktoken_adapter.FILES[vocabulary]
    (folder / hashlib.sha1(address.encode()).hexdigest()).write_bytes(b"".join(lines))


@pytest.mark.parametrize("check", contracts.TOKENIZER, ids=str)
def test_a_tokenizer_keeps(check: contracts.Check[[MakeTokenizer]], tokenizer: Tokenizer) -> None:
    check(lambda: tokenizer)


@FEW
@given(text=TEXTS)
def test_any_text_can_be_counted(tokenizer: Tokenizer, text: str) -> None:
    counts(tokenizer, text)


@FEW
@given(text=TEXTS)
def test_promise_2_no_vocabulary_counts_more_than_the_bytes(tokenizer: Tokenizer, text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    measured = "measured" in tokenizer.name  # holds what a chat template adds, and is rounded up
    assert measured or tokenizer.count(composed) <= BytesTokenizer().count(composed)


@FEW
@given(text=TEXTS)
def test_promise_2_a_bound_is_never_below_its_base(tokenizers: dict[str, Tokenizer], text: str) -> None:
    assert tokenizers["bound o200k"].count(text) >= tokenizers["o200k_base"].count(text)
    assert tokenizers["measured qwen"].count(text) >= tokenizers["qwen3.5"].count(text)


def test_promise_2_exactness_is_claimed_by_those_with_a_vocabulary(tokenizers: dict[str, Tokenizer]) -> None:
    assert {name for name, tokenizer in tokenizers.items() if not tokenizer.exact} == {
        "bytes",
        "bound o200k",
        "measured qwen",
    }
    assert [tokenizers[name].name for name in VOCABULARIES] == list(VOCABULARIES)


@pytest.mark.parametrize("vocabulary", RANKS)
def test_promise_2_the_tables_of_toktok_are_the_files_that_openai_publishes(
    tokenizers: dict[str, Tokenizer], vocabulary: str
) -> None:
    assert is_on_disk(vocabulary)


@settings(FEW, max_examples=200)
@given(text=TEXTS)
@pytest.mark.parametrize("vocabulary", RANKS)
def test_promise_2_toktok_and_tiktoken_agree_on_every_text(
    tokenizers: dict[str, Tokenizer], vocabulary: str, text: str
) -> None:
    assert tokenizers[vocabulary].count(text) == tokenizers[f"tiktoken {vocabulary}"].count(text)


@FEW
@given(text=TEXTS)
def test_promise_2_the_vocabulary_of_gpt_oss_counts_text_as_o200k_does(
    tokenizers: dict[str, Tokenizer], text: str
) -> None:
    assert tokenizers["o200k_harmony"].count(text) == tokenizers["o200k_base"].count(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("antidisestablishmentarianism", 6), ("2 + 2 = 4", 7), ("お誕生日おめでとう", 9), ("hello world", 2)],
)
def test_promise_2_counts_of_cl100k_are_those_openai_documents(
    tokenizers: dict[str, Tokenizer], text: str, tokens: int
) -> None:
    assert tokenizers["cl100k_base"].count(text) == tokens


@FEW
@given(text=TEXTS, tokens=st.integers(-1, 120))
def test_a_cut_text_is_a_prefix_within_the_tokens(tokenizer: Tokenizer, text: str, tokens: int) -> None:
    cuts(tokenizer, text, tokens)


@FEW
@given(
    characters=st.lists(st.sampled_from([*GRAPHEMES, "a", " ", "好"]), max_size=20),
    tokens=st.integers(0, 60),
)
def test_the_cut_is_never_inside_what_a_reader_sees_as_one_character(
    tokenizer: Tokenizer, characters: list[str], tokens: int
) -> None:
    cuts_between_graphemes(tokenizer, characters, tokens)


@settings(FEW, max_examples=10)
@given(text=TEXTS)
def test_every_thread_counts_the_same(tokenizer: Tokenizer, text: str) -> None:
    is_the_same_in_threads(tokenizer, text)


@FEW
@given(left=TEXTS, right=TEXTS)
def test_the_count_of_two_texts_together_is_about_the_sum(
    tokenizers: dict[str, Tokenizer], left: str, right: str
) -> None:
    for name in VOCABULARIES:
        count = tokenizers[name].count
        apart = count(left) + count(right)
        assert count(f"{left}\n\n{right}") <= apart + 2
