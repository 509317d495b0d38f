"""Secrets in a text: keys that show by their prefix what they are, cards, and passwords that are called so.

The law of the file: a span is a secret by what it looks like or by what it is called, never by its length or its
digits alone, so that an order number is none. Hidden characters and full-width forms are looked through; every
step is linear.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from actormem.core.cards import card_spans
from actormem.core.facts.sentences import widths
from actormem.core.hidden import seen
from actormem.core.passwords import password_spans

__all__ = ["MARK", "Secret", "redacted", "secrets", "without_redacted"]

Kind = Literal["key", "token", "card", "password"]
MARK: Final = "[redacted "  # how what stands for a secret begins
RUN_CHARS_MIN: Final = 16  # letters and digits in a row: names of packages and order numbers have fewer

KEY: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"sk-(?P<run>[A-Za-z0-9_-]{16,}+)"  # OpenAI, Anthropic, OpenRouter, DeepSeek
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9]{24,}+"  # Stripe
    r"|gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{22,}+|glpat-[A-Za-z0-9_-]{20,}+"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # Amazon
    r"|LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])|AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"  # Alibaba, Tencent
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-\d-[A-Za-z0-9-]{10,}+"  # Slack
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{20,}+"  # Google
    r"|hf_[A-Za-z0-9]{30,}+|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}+|dop_v1_[a-f0-9]{64}"
    r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"  # SendGrid
    r")"
)
KEY_PIECES: Final = (
    "sk-", "sk_", "rk_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "AKIA", "ASIA", "LTAI", "AKID", "xox", "xapp-", "AIza", "ya29.", "GOCSPX-", "hf_",
    "npm_", "pypi-", "dop_v1_", "SG.",
)  # fmt: skip
RUN: Final = re.compile(rf"[A-Za-z0-9]{{{RUN_CHARS_MIN},}}")
PEM: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
PEM_END: Final = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
JWT: Final = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){1,3}"
)
BEARER: Final = re.compile(r"(?<![A-Za-z])bearer[ \t]{1,4}([A-Za-z0-9._~+/-]{16,}+=*)", re.IGNORECASE)
BASIC: Final = re.compile(
    r"authorization[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?basic[ \t]{1,4}([A-Za-z0-9+/]{8,}+=*)", re.IGNORECASE
)
IN_LINK: Final = re.compile(r"://[^\s/:@]{1,64}:([^\s/@]{1,256})@")


class Secret(msgspec.Struct, frozen=True, order=True):
    """A secret: where it stands in the text, and what it is."""

    start: int
    end: int
    kind: Kind


def secrets(text: str) -> tuple[Secret, ...]:
    """The secrets of a text, in order, none inside another.

    Keys with well-known prefixes, private key blocks, JSON web tokens, bearer tokens, passwords of links; card
    numbers (right check digit, an issuer's prefix, and a word for cards near); passwords and keys that are called so,
    in Chinese and English.

    Cost:
        O(n); about 1 ms for 100,000 characters.
    """
    view = seen(text)
    found = sorted(found_in(view.text, widths(view.text)))
    kept: list[Secret] = []
    for one in found:
        if kept and one.start < kept[-1].end:
            if one.end > kept[-1].end:
                kept[-1] = msgspec.structs.replace(kept[-1], end=one.end)
        else:
            kept.append(one)
    return tuple(Secret(*view.span(one.start, one.end), one.kind) for one in kept)


def redacted(text: str) -> str:
    """The text with `[redacted key]` and the like in the place of its secrets; the same object where it has none.

    `redacted(redacted(text)) == redacted(text)`.
    """
    found = secrets(text)
    return with_marks(text, found)[0] if found else text


def without_redacted(text: str, words: str, mark: str) -> str:
    """The text with `mark` in the place of words that were kept of it in redacted form, secrets and all."""
    found = secrets(text) if MARK in words else ()
    if not found:
        return text
    whole, pieces = with_marks(text, found)
    start = whole.find(words)
    left: list[str] = []
    at = 0
    while start >= 0:
        begin, end = back(pieces, start, first=True), back(pieces, start + len(words), first=False)
        left += (text[at:begin], mark)
        at, start = end, whole.find(words, start + len(words))
    return "".join((*left, text[at:]))


def found_in(written: str, text: str) -> Iterator[Secret]:
    """The secrets of a text, overlapping ones too; `text` is what was written, in usual widths."""
    if any(piece in text for piece in KEY_PIECES):
        for match in KEY.finditer(text):
            if match["run"] is None or is_mixed(match["run"]):
                yield Secret(match.start(), match.end(), "key")
    yield from key_blocks(text)
    if "eyJ" in text:
        for match in JWT.finditer(text):
            yield Secret(match.start(), match.end(), "token")
    low = text.lower()
    if "bearer" in low or "basic" in low:
        for match in (*BEARER.finditer(text), *BASIC.finditer(text)):
            if match.re is BASIC or has_both(match[1]):
                yield Secret(*match.span(1), "token")
    if "://" in text and "@" in text:
        for match in IN_LINK.finditer(text):
            if not match[1].startswith(MARK.strip()):
                yield Secret(*match.span(1), "password")
    for start, end in card_spans(text, low):
        yield Secret(start, end, "card")
    for start, end, kind in password_spans(written, text, low):
        if not text.startswith(MARK.strip(), start):
            yield Secret(start, end, kind)


def key_blocks(text: str) -> Iterator[Secret]:
    """Private keys in their lines; one whose end is missing goes on to the end of the text."""
    begin = PEM.search(text) if "-----BEGIN " in text else None
    while begin is not None:
        end = PEM_END.search(text, begin.end())
        last = end.end() if end else len(text)
        yield Secret(begin.start(), last, "key")
        begin = PEM.search(text, last)


def is_mixed(key: str) -> bool:
    """Whether it holds a run that is letters and digits in one; the name of a package is words."""
    return any(has_both(run) for run in RUN.findall(key)) or (has_both(key) and "_" in key and len(key) > 30)


def has_both(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def with_marks(text: str, found: Sequence[Secret]) -> tuple[str, list[tuple[int, int, int, int]]]:
    """The text with marks; and of each mark where it stands, and where the secret stood."""
    left: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = length = 0
    for one in found:
        mark = f"{MARK}{one.kind}]"
        left += (text[at : one.start], mark)
        length += one.start - at
        pieces.append((length, length + len(mark), one.start, one.end))
        length += len(mark)
        at = one.end
    return "".join((*left, text[at:])), pieces


def back(pieces: Sequence[tuple[int, int, int, int]], place: int, *, first: bool) -> int:
    """The place in the text of a place in its redacted form; inside a mark, an edge of the secret."""
    moved = 0
    for start, end, old_start, old_end in pieces:
        if place <= start if first else place < start:
            break
        if place < end:
            return old_start if first else old_end
        moved = old_end - end
    return place + moved
