"""Passwords and keys that are called so: "password is …", "密码是…".

The law of the file: the word is followed by a verb or a sign, and that by a value; what may follow in ordinary
speech ("my password is wrong", "密码是多少") is no value. A number that is called an order's is not a password.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

__all__ = ["password_spans"]

KEY_CHARS_MIN: Final = 16  # of what is called a key: shorter ones are names of keys, and codes of rooms
VALUE: Final = r"(?:\"([^\"\n]{1,128})\"|'([^'\n]{1,128})'|([!-~]{3,128}+))"
SIGN: Final = r"[\"']?[ \t]{0,4}(?P<sign>[:=]|->)[ \t]{0,4}"

ENGLISH: Final = re.compile(
    r"(?<![A-Za-z])(?P<name>pass ?words?|passwd|pwd|pass ?codes?|passphrases?|(?P<key>api[ _-]?keys?|access[ _-]?keys?"
    r"|secret[ _-]?keys?|client[ _-]?secrets?|(?:access|auth|api)[ _-]?tokens?))(?![A-Za-z])"
    r"(?P<between>[ \t]+(?:for|of|to|on|at)[ \t][^.,;:=\n]{1,40}?)?"
    rf"(?:{SIGN}|[ \t]{{1,4}}(?P<verb>is|was|are|to|as|will be)(?:[ \t]+now)?[ \t]{{0,4}}:?[ \t]{{0,4}})"
    + VALUE,
    re.IGNORECASE,
)
CHINESE: Final = re.compile(
    r"(?P<name>密码|口令|(?P<key>密钥|秘钥|令牌|(?i:api ?key|token)))"
    r"(?:我|也|就|还|现在|目前|已经|一直|设的|用的|都|应该|仍然|一直都)?[ \t]{0,4}"
    r"(?P<verb>是|为|叫|改成了?|改为|换成了?|设为|设成了?|设置为|设置成|[:=])[ \t]{0,4}:?[ \t]{0,4}" + VALUE
)
ORDINARY_LIST: Final = """
    a an the my your his her its our their this that these those what which who whose something anything nothing
    not no never always still too so very really quite just also only already now then here there
    wrong right correct incorrect expired invalid valid weak strong required optional needed empty missing unknown
    lost forgotten reset changed updated set stored saved kept sent shown hidden hashed encrypted protected shared
    secure safe fine good bad ok okay great easy hard long short simple complex old new same different unique
    being be been in on at for to from with without by of and or but if as it i you we they he she case-sensitive
    case working broken rejected accepted blocked locked enter log login sign access open use get make
"""
ORDINARY: Final = frozenset(ORDINARY_LIST.split())
OTHERS_NUMBER: Final = re.compile(
    r"\b(?:orders?|invoices?|tracking|parcels?|tickets?|numbers?|emails?|phones?|names?|address)\b[^a-z]*(?:number|no|id)?\s*$",
    re.IGNORECASE,
)
PIECES: Final = (
    "passw",
    "pass w",
    "pwd",
    "passc",
    "pass c",
    "passp",
    "key",
    "secret",
    "token",
    "密码",
    "口令",
    "钥",
    "令牌",
)
SETTING: Final = re.compile(r"\b(?:set|chang|reset|updat|switch|renam)", re.IGNORECASE)
SETTING_CHARS: Final = 40  # in front of the word: "I changed the guest network's password to …"
WIDE_MARK: Final = re.compile("[，。；：！？、（）【】《》“”‘’]")
LEADING: Final = ("to", "as")
TRAILING: Final = ".,;:!?)]}>\"'"


def password_spans(
    written: str, text: str, low: str
) -> Iterator[tuple[int, int, Literal["key", "password"]]]:
    """Where passwords and keys stand that are called so.

    Args:
        written: The text as it was written: a full-width mark ends a value that is no quotation.
        text: In usual widths.
        low: The text in lower case.
    """
    if not any(piece in low for piece in PIECES):
        return
    for match in ENGLISH.finditer(text):
        if match["between"] and OTHERS_NUMBER.search(match["between"]):
            continue
        span = value_span(match, written)
        if span is not None:
            yield *span, "key" if match["key"] else "password"
    for match in CHINESE.finditer(text):
        span = value_span(match, written)
        if span is not None:
            yield *span, "key" if match["key"] else "password"


def value_span(match: re.Match[str], written: str) -> tuple[int, int] | None:
    """The value of a match, None where it is none."""
    last = match.re.groups
    group = next(one for one in (last - 2, last - 1, last) if match[one] is not None)
    start, end = match.span(group)
    quoted = group != last
    if not quoted:
        mark = WIDE_MARK.search(written, start, end)
        end = mark.start() if mark else end
        while end > start and match.string[end - 1] in TRAILING:
            end -= 1
    value = match.string[start:end]
    if len(value) < 3 or set(value) <= set("*•xX._-") or value[0] in "<{[$":
        return None
    if match["key"]:
        mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
        return (start, end) if mixed and len(value) >= KEY_CHARS_MIN else None
    if not quoted and (value.lower() in ORDINARY or (value.isalpha() and leads_on(match))):
        return None
    return start, end


def leads_on(match: re.Match[str]) -> bool:
    """Whether the verb is that of "the password to continue", not that of "set the password to …"."""
    start = match.start()
    return match["verb"] in LEADING and not SETTING.search(
        match.string[max(0, start - SETTING_CHARS) : start]
    )
