"""The promises of `actormem.ports.Tokenizer`, over any tokenizer: `check(make)`.

The functions that look at one text are public: give them texts of your own, or of `actormem.testing.strategies`.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from actormem.ports import Tokenizer
from actormem.testing.contracts.checks import Check, promise, require, same
from actormem.testing.corpus import CONTROL_WORDS, GRAPHEMES, ODD_TEXTS, TEXTS

__all__ = [
    "ONE_CHARACTER",
    "TOKENIZER",
    "MakeTokenizer",
    "counts",
    "cuts",
    "cuts_between_graphemes",
    "cuts_no_run",
    "is_the_same_in_threads",
]

MakeTokenizer: TypeAlias = Callable[[], Tokenizer]
SAID: Final = (
    "",
    *TEXTS,
    *ODD_TEXTS,
    *CONTROL_WORDS,
    " " * 140,
    "，" * 9,
    "AbC don't\r\n\r\n\t3.14159 2026-03-01",
    f"订单号 KX-48210 什么时候发货？{CONTROL_WORDS[0]}Where is my order, please?",
    *GRAPHEMES,
)
TOKENS: Final = (-1, 0, 1, 2, 5, 17, 120)
ONE_CHARACTER: Final = ("a", " ", "\n", "，", "的", "😀", "\u0301", "\u200d", "🇨", "\ud800", "^", "0")
RUN: Final = 200_000  # of one character: what makes a pair merge in quadratic time
LONG: Final = (
    "我想退掉昨天买的那台笔记本电脑，订单号是 AB-20931。" * 40,
    "Please cancel my booking for Friday evening. " * 40,
)
WASTE_TOKENS: Final = 6  # that a cut may leave unused: one character of rare script


def counts(tokenizer: Tokenizer, text: str) -> None:
    """Fail the check unless the text can be counted (promise 1)."""
    count = tokenizer.count(text)
    require(count >= bool(text), f"{text[:30]!r} has {count} tokens")


def cuts(tokenizer: Tokenizer, text: str, tokens: int) -> None:
    """Fail the check unless the cut is a prefix within the tokens, and the whole text where it fits (promise 3)."""
    cut = tokenizer.truncate(text, tokens)
    require(text.startswith(cut), f"{cut[-30:]!r} is no beginning of {text[:30]!r}")
    count = tokenizer.count(cut)
    require(count <= max(tokens, 0), f"{text[:30]!r} was cut to {count} tokens, not {tokens}")
    require(
        cut == text or tokenizer.count(text) > tokens, f"{text[:30]!r} was cut, though it fits in {tokens}"
    )


def cuts_between_graphemes(tokenizer: Tokenizer, characters: Sequence[str], tokens: int) -> None:
    """Fail the check unless the cut lies between what a reader sees as characters (promise 3)."""
    ends = {len("".join(characters[:place])) for place in range(len(characters) + 1)}
    cut = tokenizer.truncate("".join(characters), tokens)
    require(len(cut) in ends, f"{''.join(characters)!r} was cut inside a character, after {cut!r}")


def cuts_no_run(tokenizer: Tokenizer, character: str) -> None:
    """Fail the check unless 200,000 of one character can be counted and cut (promise 1)."""
    text = character * RUN
    count = tokenizer.count(text)
    require(RUN / 128 <= count <= RUN * 4, f"{RUN} times {character!r} are {count} tokens")
    cuts(tokenizer, text, 50)


def is_the_same_in_threads(tokenizer: Tokenizer, text: str) -> None:
    """Fail the check unless other threads count the same (promise 4)."""
    with ThreadPoolExecutor(2) as threads:
        found = {tokenizer.count(text), *threads.map(tokenizer.count, [text, text])}
    same(len(found), 1, f"the number of different counts of {text[:30]!r}")


@promise("Tokenizer", 1)
def any_text_can_be_counted(make: MakeTokenizer) -> None:
    """`count` never raises for any str, lone surrogates included, and gives no text no tokens."""
    tokenizer = make()
    for text in SAID:
        counts(tokenizer, text)
    same(tokenizer.count(""), 0, "the count of no text")


@promise("Tokenizer", 1)
def control_words_are_plain_text(make: MakeTokenizer) -> None:
    """Control words such as `<|endoftext|>` are plain text."""
    tokenizer = make()
    for word in CONTROL_WORDS:
        require(
            tokenizer.count(word) >= 3, f"{word} is {tokenizer.count(word)} tokens: it was taken for a sign"
        )
        require(tokenizer.count(f"hi {word}") > tokenizer.count("hi"), f"{word} is not counted")


@promise("Tokenizer", 1)
def long_runs_of_one_character_can_be_counted(make: MakeTokenizer) -> None:
    """Two hundred thousand of one character are counted like any other text."""
    tokenizer = make()
    for character in ONE_CHARACTER:
        cuts_no_run(tokenizer, character)


@promise("Tokenizer", 2)
def it_says_what_its_count_is_of(make: MakeTokenizer) -> None:
    """`name` is the vocabulary's, the same each time; `exact` says whether the count is that of it, or a bound."""
    first, second = make(), make()
    require(first.name, "the name is empty")
    require(isinstance(first.exact, bool), f"exact is {first.exact!r}")
    same((second.name, second.exact), (first.name, first.exact), "what a second one says of itself")


@promise("Tokenizer", 3)
def a_cut_text_is_a_prefix_within_the_tokens(make: MakeTokenizer) -> None:
    """`truncate` gives a prefix of at most so many tokens, and the whole text where it fits."""
    tokenizer = make()
    for text in SAID:
        for tokens in TOKENS:
            cuts(tokenizer, text, tokens)


@promise("Tokenizer", 3)
def a_cut_is_never_inside_a_character(make: MakeTokenizer) -> None:
    """The cut lies between characters as a reader sees them, and never parts the halves of a pair."""
    tokenizer = make()
    mixed = [*GRAPHEMES, "a", " ", "好", *GRAPHEMES[::-1]]
    for tokens in range(61):
        cuts_between_graphemes(tokenizer, mixed, tokens)
        cut = tokenizer.truncate("x\ud83d\ude00" * 20, tokens)
        require(not cut.endswith("\ud83d"), "the halves of a surrogate pair were parted")


@promise("Tokenizer", 3)
def most_of_the_tokens_are_used(make: MakeTokenizer) -> None:
    """A cut leaves no more unused than a character can cost."""
    tokenizer = make()
    for text in LONG:
        for tokens in (30, 100, 300):
            count = tokenizer.count(tokenizer.truncate(text, tokens))
            require(count >= tokens - WASTE_TOKENS, f"of {tokens} tokens only {count} are used")


@promise("Tokenizer", 4)
def every_thread_counts_the_same(make: MakeTokenizer) -> None:
    """It is deterministic, and may be called from any thread."""
    tokenizer = make()
    for text in SAID:
        is_the_same_in_threads(tokenizer, text)
        same(tokenizer.truncate(text, 5), tokenizer.truncate(text, 5), f"a second cut of {text[:30]!r}")


TOKENIZER: Final[tuple[Check[[MakeTokenizer]], ...]] = (
    any_text_can_be_counted,
    control_words_are_plain_text,
    long_runs_of_one_character_can_be_counted,
    it_says_what_its_count_is_of,
    a_cut_text_is_a_prefix_within_the_tokens,
    a_cut_is_never_inside_a_character,
    most_of_the_tokens_are_used,
    every_thread_counts_the_same,
)
"""One check for each promise; `make` may give the same tokenizer each time."""
