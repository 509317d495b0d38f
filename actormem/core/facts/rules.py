"""What a rule is, and the shapes of values that both languages share.

A rule finds one kind of statement. Its reader takes the captured words and gives back the values in them,
each an exact piece of what was captured, or nothing where the words are no such value.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from actormem.core.facts.sentences import THOUSANDS

__all__ = ["Language", "Reader", "Rule", "Wish", "age", "amount", "dated", "email", "one_of", "phone"]

Reader: TypeAlias = Callable[[str], tuple[str, ...]]

DIGITS: Final = rf"\d[\d{THOUSANDS}]*+(?:\.\d++)?+"
SUM: Final = (
    r"(?:(?:US|HK)\$|[$€£¥]|(?:USD|EUR|GBP|CNY|RMB|HKD|JPY|AUD|CAD)\s?)?"
    rf"(?:(?>{DIGITS}(?:\s?(?:k\b|thousand|million|grand|[十百千万亿]+(?:\d{{1,4}}[千百]?)?))?)"
    r"|(?>[一二两三四五六七八九十百千万亿半]{1,10})(?=\s?[元块万千百美欧英港日到至~吧了啊呀呢,。;!-]|左右|以内|以下|上下|$))"
    r"(?:\s?(?:dollars?|bucks|euros?|pounds?|yuan|usd|eur|gbp|rmb|cny|hkd|[元块圆]钱?|美元|美金|欧元|英镑|"
    r"港[币元]|日元|人民币|[$€£¥])"
    r"|(?!\s?(?:[个人位名天晚台口件月日号点年岁%]|people|persons?|days?|nights?|weeks?|months?|items?)))"
)
MONEY: Final = re.compile(
    r"(?:(?:up to|at most|under|below|no more than|less than|max(?:imum)?(?: of)?|不超过|最多|低于|少于|"
    r"上限|人均|每[人晚月天])\s*)?"
    rf"(?:between {SUM} and {SUM}|{SUM}(?:\s?(?:-|–|~|to|到|至)\s?{SUM})?)"
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
        gate: A sentence without one of these pieces, in small letters, has no such statement; none: any may.
    """

    pattern: re.Pattern[str]
    attribute: str
    text: str
    read: Reader
    negated: bool = False
    gate: tuple[str, ...] = ()


class Wish(msgspec.Struct, frozen=True):
    """How the speaker wants to be served in one matter, told by commands; each pattern fits a whole clause.

    Attributes:
        keep: The fact of a wish; its text has `{thing}`, the speaker's words.
        close: The fact of a wish that is only taken back.
        gate: A sentence without one of these pieces, in small letters, tells no such wish.
        wanted: A clause that is a wish by itself.
        likely: A clause that is one beside words of `standing`, or beside a clause that takes another back.
        beside: A clause that is one only beside a clause that takes another back.
        refused: A clause that takes back.
        mine: Found in a refusal that counts without a wish beside it.
        firm: Found in a clause that says by itself that it holds for good, whatever stands around it.
        standing: Found in a sentence that speaks of more than this once.
        general: A neighbouring clause that names no single occasion, and belongs to the wish.
        once: A neighbouring clause that makes the wish a request of the moment.
    """

    keep: Rule
    close: Rule
    gate: tuple[str, ...]
    wanted: re.Pattern[str]
    likely: re.Pattern[str]
    beside: re.Pattern[str]
    refused: re.Pattern[str]
    mine: re.Pattern[str]
    firm: re.Pattern[str]
    standing: re.Pattern[str]
    general: re.Pattern[str]
    once: re.Pattern[str]


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
        behind_employer: Rules that go on behind an employer: as what.
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
        habits: Attributes that a standing instruction sets, by the whole of its words.
        pointing: Found in an instruction that speaks of a place named elsewhere, and says nothing by itself.
        clauses: What stands between two clauses.
        wishes: How the speaker wants to be served.
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
    behind_employer: tuple[Rule, ...]
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
    habits: tuple[tuple[str, re.Pattern[str]], ...]
    pointing: re.Pattern[str]
    clauses: re.Pattern[str]
    wishes: tuple[Wish, ...]
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
