"""Numbers of payment cards: the right check digit, an issuer's prefix and length, and a word for cards near.

The law of the file: where a word for orders, parcels or bills stands nearer in front of the number, it is theirs.
"""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["card_spans", "is_card"]

BEFORE_CHARS: Final = 60  # in front of the number, where a word for cards or orders stands
AFTER_CHARS: Final = 30  # behind it: "…, exp 09/31, CVV 123"

NUMBER: Final = re.compile(r"(?<![A-Za-z0-9_.+-])\d(?:[ -]?\d){12,18}(?![A-Za-z0-9_]|-\w|\.\d)")
ISSUERS: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|(?:6011|65\d\d|64[4-9]\d)\d{12,15}"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|3(?:0[0-5]|[689]\d)\d{11}"  # Diners
    r"|62\d{14,17}|9558\d{15}"  # UnionPay, and ICBC before it
)
CARD_WORD: Final = re.compile(
    r"\b(?:cards?|credit|debit|visa|master ?card|amex|american express|unionpay|discover|jcb|cvv2?|cvc|expiry"
    r"|expires|exp)\b|信用卡|银行卡|储蓄卡|借记卡|贷记卡|银联|卡号|卡(?![车路里通住死顿丁尔片点])|有效期|安全码",
    re.IGNORECASE,
)
OTHER_WORD: Final = re.compile(
    r"\b(?:orders?|invoices?|parcels?|packages?|shipments?|tracking|tickets?|bookings?|reservations?|references?"
    r"|ref|serial|imei|case|sku|id|phone|tel)\b|订单|单号|运单|快递|物流|流水号|编号|发票|票号|工单|串号|序列号|电话|手机",
    re.IGNORECASE,
)
PIECES: Final = (
    "card", "credit", "debit", "visa", "master", "amex", "american", "unionpay", "discover", "jcb", "cv", "exp",
    "卡", "银联", "有效期", "安全码",
)  # fmt: skip


def card_spans(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Where card numbers stand.

    Args:
        low: The text in lower case.
    """
    if not any(piece in low for piece in PIECES):
        return
    for match in NUMBER.finditer(text):
        digits = match[0].replace(" ", "").replace("-", "")
        if is_card(digits) and is_called_card(text, match.start(), match.end()):
            yield match.span()


def is_card(digits: str) -> bool:
    """Whether digits have an issuer's prefix and length, and the check digit that they must have (ISO/IEC 7812)."""
    if not ISSUERS.fullmatch(digits):
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_called_card(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - BEFORE_CHARS) : start]
    card = last_end(CARD_WORD, before)
    other = last_end(OTHER_WORD, before)
    if card >= 0 or other >= 0:
        return card > other
    return CARD_WORD.search(text[end : end + AFTER_CHARS]) is not None


def last_end(words: re.Pattern[str], text: str) -> int:
    """Where the last of the words ends; -1 where there is none."""
    return max((match.end() for match in words.finditer(text)), default=-1)
