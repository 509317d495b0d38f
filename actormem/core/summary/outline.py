"""The one shape of a summary: four sections of short lines, in Chinese or English.

```
Needs:
- user: I want a laptop for programming, budget 8,000 yuan
Decisions:
- tool: create_order(model=A14) → order_id=KX-48210
Numbers and names:
- user: my name is Ada Quill
Open questions:
- user: how long does the refund take?
```

The law of the file: what `rendered` writes, `parsed` reads back, line by line; and a text that `fitted` gives
takes at most the tokens that were asked for, whatever `count` is.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

from actormem.core.text import one_line

__all__ = [
    "SECTIONS",
    "Language",
    "Line",
    "Section",
    "Summary",
    "fitted",
    "marked",
    "parsed",
    "rendered",
    "shortened",
    "told_lines",
]

Section = Literal["needs", "decisions", "values", "open"]
Language = Literal["zh", "en"]

SECTIONS: Final[tuple[Section, ...]] = ("needs", "decisions", "values", "open")
TOLD_CHARS_MIN: Final = 6  # a shorter line stands in many texts that have nothing to do with it
LINE_CHARS_MAX: Final = 2_000  # of a line read back; longer ones were not written by us
SPEAKER_CHARS_MAX: Final = 24  # a speaker's name in front of each line

TITLES: Final[dict[Language, dict[Section, str]]] = {
    "en": {
        "needs": "Needs:",
        "decisions": "Decisions:",
        "values": "Numbers and names:",
        "open": "Open questions:",
    },
    "zh": {"needs": "需求：", "decisions": "决定：", "values": "数字与名称：", "open": "待解决："},
}
SPEAKERS: Final[dict[Language, dict[str, str]]] = {
    "en": {"user": "user: ", "assistant": "assistant: ", "tool": "tool: "},
    "zh": {"user": "用户：", "assistant": "助手：", "tool": "工具："},
}
TITLE_WORDS: Final[dict[Section, str]] = {
    "needs": r"(?:user |customer )?(?:needs|requirements|requests|preferences)|(?:用户)?(?:需求|偏好|诉求)",
    "decisions": r"(?:key )?decisions(?: made| and actions)?|actions(?: taken)?|(?:已做)?(?:决定|决策|结论)",
    "values": r"(?:key )?(?:numbers|facts|values|names|details|entities)(?: (?:and|&) (?:names|numbers|ids))?"
    r"|(?:关键)?(?:数字|数值|信息|事实|名称)(?:[与和、及](?:名称|数字))?",
    "open": r"open (?:questions|issues|items)|unresolved(?: questions| issues)?|next steps"
    r"|(?:待解决|未解决|待办|待确认)(?:的?(?:问题|事项))?",
}
TITLE = re.compile(
    r"(?:[#>]{1,6}\s*|\d{1,2}[.、)]\s*|[-*•]\s+(?=\*\*))?(?P<bold>\*\*|__)?\s*(?:"
    + "|".join(f"(?P<{section}>{words})" for section, words in TITLE_WORDS.items())
    + r")\s*(?:\*\*|__)?\s*(?P<colon>[:：]?)\s*(?:\*\*|__)?(?P<rest>.*)$",
    re.IGNORECASE,
)
BULLET = re.compile(r"(?:[-*•·–]\s+|\d{1,2}[.、)]\s*)")
SPEAKER = re.compile(
    r"(?:\*\*)?(?:(?P<user>用户|user)|(?P<assistant>助手|assistant)|(?P<tool>工具|tool))(?:\*\*)?\s*[:：]\s*",
    re.I,
)
NOTHING = re.compile(
    r"[\s*_(（\[]*(?:none|nothing|n/?a|not mentioned|无|暂无|没有|未提及)[\s.。)）\]*_]*$", re.I
)
CUT_PLACE = re.compile(
    r"[，,；;、。.!！?？](?=\s|[^\x00-\x7f]|$)|\s+"
    r"|(?<=[一-鿿])(?<![零〇一二两三四五六七八九十百千万亿点年月日时分号元块])(?=[一-鿿])"
)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What stands for a span of messages.

    Attributes:
        text: At most the tokens asked for; empty where nothing was worth keeping or no room was given.
        method: Who wrote it: a model (and the check let it pass), or the extractive rules.
        repaired_count: Sentences taken out of a model's reply, since they held a value of no source.
        attached: Exact values of the sources which the text lacks, most important first: show them beside.
    """

    text: str
    method: Literal["llm", "extractive"]
    repaired_count: int = 0
    attached: tuple[str, ...] = ()


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a summary.

    Attributes:
        section: Where it stands; None for words before the first title.
        text: The words, without their speaker.
        speaker: `user`, `assistant`, `tool`, a name, or empty where nobody is marked.
        weight: Larger is kept longer and stands earlier.
    """

    section: Section | None
    text: str
    speaker: str = ""
    weight: float = 0.0


def marked(line: Line, language: Language) -> str:
    """The line with its speaker in front, as the language writes it."""
    if not line.speaker:
        return line.text
    mark = SPEAKERS[language].get(line.speaker)
    if mark is None:
        mark = one_line(line.speaker, SPEAKER_CHARS_MAX) + ("：" if language == "zh" else ": ")
    return mark + line.text


def rendered(lines: Sequence[Line], language: Language) -> str:
    """The summary as text: words without a section first, then the sections, lines in the given order."""
    parts = [marked(line, language) for line in lines if line.section is None]
    for section in SECTIONS:
        inside = [line for line in lines if line.section == section]
        if inside:
            parts.append(TITLES[language][section])
            parts.extend("- " + marked(line, language) for line in inside)
    return "\n".join(parts)


def parsed(text: str) -> list[Line]:
    """The lines of a summary, in order; titles are understood in both languages and common dress."""
    lines: list[Line] = []
    section: Section | None = None
    for raw in text.splitlines():
        rest = one_line(raw, LINE_CHARS_MAX)
        title = TITLE.match(rest)
        if title and (title["colon"] or title["bold"] or not title["rest"].strip()):
            section = next(name for name in SECTIONS if title[name])
            rest = title["rest"]
        bullet = BULLET.match(rest)
        words = (rest[bullet.end() :] if bullet else rest).strip()
        if not words or NOTHING.match(words):
            continue
        speaker = SPEAKER.match(words)
        name = speaker.lastgroup or "" if speaker else ""
        lines.append(Line(section=section, text=words[speaker.end() :] if speaker else words, speaker=name))
    return lines


def told_lines(text: str) -> tuple[str, ...]:
    """The words of a summary's lines that are long enough to tell it from texts that have nothing to do with it."""
    return tuple(line.text for line in parsed(text) if len(line.text) >= TOLD_CHARS_MIN)


def fitted(lines: Sequence[Line], language: Language, *, tokens: int, count: Callable[[str], int]) -> str:
    """The most important lines that fit in `tokens`, rendered; each section's first before any second.

    Equal weights keep the given order. Where not even one line fits, the weightiest is cut to fit.

    Cost:
        One count of each line tried, and as a rule one count of the result.
    """
    ordered = sorted(lines, key=lambda line: -line.weight)
    kept: list[Line] = []
    left = tokens
    titled: set[Section] = set()
    for line in leaders_first(ordered):
        cost = count("- " + marked(line, language) + "\n")
        if line.section is not None and line.section not in titled:
            cost += count(TITLES[language][line.section] + "\n")
        if cost <= left:
            left -= cost
            kept.append(line)
            if line.section is not None:
                titled.add(line.section)
    text = rendered(by_weight(kept), language)
    while kept and count(text) > tokens:  # joined lines may take more tokens than they take apart
        kept.pop()
        text = rendered(by_weight(kept), language)
    return text or cut_to_fit(ordered, language, tokens=tokens, count=count)


def leaders_first(ordered: Sequence[Line]) -> list[Line]:
    """The first line of each section, then the others, each in the given order."""
    seen: set[Section | None] = set()
    leaders: list[Line] = []
    others: list[Line] = []
    for line in ordered:
        (others if line.section in seen else leaders).append(line)
        seen.add(line.section)
    return leaders + others


def by_weight(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: -line.weight)


def cut_to_fit(
    ordered: Sequence[Line], language: Language, *, tokens: int, count: Callable[[str], int]
) -> str:
    """The weightiest line, cut to fit; empty where not one word of it fits."""
    if not ordered:
        return ""
    line = ordered[0]

    def with_words(words: str) -> str:
        return rendered([msgspec.structs.replace(line, text=words)], language)

    words = longest_cut(line.text, lambda cut: count(with_words(cut)) <= tokens)
    return with_words(words) if words else ""


def shortened(text: str, characters: int) -> str:
    """The text on one line of at most `characters`, cut between words; empty where the first does not fit."""
    line = " ".join(text.split())
    return line if len(line) <= characters else longest_cut(line, lambda cut: len(cut) <= characters)


def longest_cut(text: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of `text`, with `…` behind it, that fits; empty where none does.

    Cuts fall between words and between Han characters, never inside a number or a Latin word.

    Cost: a logarithm of the places in calls of `fits`.
    """
    places = [place.start() for place in CUT_PLACE.finditer(text) if place.start()]
    low, high = 0, len(places)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(text[: places[middle - 1]] + "…"):
            low = middle
        else:
            high = middle - 1
    return text[: places[low - 1]] + "…" if low else ""
