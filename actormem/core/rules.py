"""What a rule is, and the shapes of values that both languages share.

A rule finds one kind of statement. Its reader takes the captured words and gives back the values in them,
each an exact piece of what was captured, or nothing where the words are no such value.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

__all__ = ["Language", "Reader", "Rule", "age", "amount", "dated", "email", "one_of", "phone"]

Reader: TypeAlias = Callable[[str], tuple[str, ...]]

MONEY: Final = re.compile(
    r"(?:(?:up to|at most|under|below|no more than|less than|max(?:imum)?(?: of)?|不超过|最多|低于|少于|"
    r"上限)\s*)?"
    r"(?:[$€£¥]|(?:USD|EUR|GBP|CNY|RMB|HK\$|US\$)\s?)?(?:\d[\d,.]{0,15}|"
    r"[一二两三四五六七八九十百千万亿半]{1,10}(?=[元块万千百美欧英港日]|左右|以内|以下|$))"
    r"(?:\s?(?:-|–|~|to|到|至)\s?[$€£¥]?\d[\d,.]{0,15})?(?:\s?(?:k|thousand|million|[百千万亿]+))?"
    r"(?:\s?(?:dollars?|bucks|euros?|pounds?|yuan|usd|eur|gbp|rmb|cny|[元块]钱?|美元|美金|欧元|英镑|"
    r"港币|日元|人民币))?"
    r"(?:\s?(?:a|per|each|/)\s?(?:month|night|person|week|year|day)|每[月晚人周年天]|以内|以下|左右|"
    r"上下)?",
    re.IGNORECASE,
)
PHONE: Final = re.compile(r"\+?\(?\d[\d ().-]{5,20}\d")
EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,190}\.[A-Za-z]{2,24}", re.ASCII)
DATE: Final = re.compile(
    r"(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]{2,8}(?:,? \d{4})?|[A-Z][a-z]{2,8}\.? "
    r"\d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?"
    r"|\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?|(?:农历|"
    r"阴历)?(?:\d{2,4}年)?[\d一二三四五六七八九十正冬腊]{1,3}月(?:初?[\d一二三四五六七八九十廿]{1,3}[日"
    r"号]?)?|(?:19|20)\d\d年?",
)
AGE: Final = re.compile(r"\d{1,3}|[一二三四五六七八九十百两]{1,4}")


class Rule(msgspec.Struct, frozen=True):
    """One kind of statement.

    Attributes:
        pattern: Matched where a statement of it begins; its group `value` holds the value, if there is one.
        attribute: What it says of the subject.
        text: The sentence to remember, with `{who}` and `{value}`.
        read: Gives the values in the captured words.
        negated: Whether it takes the value back.
    """

    pattern: re.Pattern[str]
    attribute: str
    text: str
    read: Reader
    negated: bool = False


class Language(msgspec.Struct, frozen=True):
    """The rules of one language.

    Attributes:
        letters: Found in any text of this language.
        gate: A sentence without one of these pieces, in small letters, states nothing: a cheap first test.
        starts: Finds where a statement may begin; the match ends there.
        subject: The speaker (group `self`) or a person of the speaker's (`relation`, `name`), then adverbs.
        adverbs: What may stand between a subject and its predicate.
        predicates: Rules after a subject.
        nouns: Rules after a possessor (`my …`, `我的…`).
        bare: Rules that need no subject.
        remember: A command to keep what follows (group `value`); group `soft` where it may be mere talk.
        henceforth: A standing instruction (group `value`).
        correction: A correction of what was said before (group `value`).
        asks_from: Where the asking part of a sentence begins, given whether it ends with a question mark.
        body: Gives the words of a command that are worth keeping, or an empty string.
        own: What the speaker is called in texts.
        other: What a person of the speaker's is called in texts, from relation and name.
        relations: The canonical word of each relation.
        note, instruction: Texts of commands, with `{value}`.
        sorts: Attributes of preferences that are more than a taste, by what the value speaks of.
        preferred: Text of a preference that was sorted, with `{who}` and `{value}`.
    """

    letters: re.Pattern[str]
    gate: tuple[str, ...]
    starts: re.Pattern[str]
    subject: re.Pattern[str]
    adverbs: re.Pattern[str]
    predicates: tuple[Rule, ...]
    nouns: tuple[Rule, ...]
    bare: tuple[Rule, ...]
    remember: re.Pattern[str]
    henceforth: re.Pattern[str]
    correction: re.Pattern[str]
    asks_from: Callable[[str, bool], int]
    body: Callable[[str], str]
    own: str
    other: Callable[[str, str], str]
    relations: dict[str, str]
    note: str
    instruction: str
    sorts: tuple[tuple[str, re.Pattern[str]], ...]
    preferred: str


def found(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    match = pattern.search(text)
    return (match[0].strip(" ,."),) if match else ()


def amount(text: str) -> tuple[str, ...]:
    """The first amount of money, with the words that bound it."""
    return found(MONEY, text)


def phone(text: str) -> tuple[str, ...]:
    """The first phone number of at least 7 digits."""
    return tuple(value for value in found(PHONE, text) if sum(map(str.isdigit, value)) >= 7)


def email(text: str) -> tuple[str, ...]:
    """The first e-mail address."""
    return found(EMAIL, text)


def dated(text: str) -> tuple[str, ...]:
    """The first date, as it was written."""
    return found(DATE, text)


def age(text: str) -> tuple[str, ...]:
    """The first number that may be an age in years."""
    return found(AGE, text)


def one_of(pattern: str) -> Reader:
    """A reader of the first match of a pattern."""
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: found(compiled, text)
