"""What becomes of a model's reply before it may stand for messages.

The law of the file: words are only taken out, never put in. What is left states no id, amount, date, link or
larger number that its sources lack.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from actormem.core.entities import find_entities
from actormem.core.hidden import unhidden
from actormem.core.replies import without_thoughts
from actormem.core.summary.known_values import FindEntities, KnownValues
from actormem.core.summary.orders import gives_orders, has_role_marks
from actormem.core.summary.outline import Line, Summary, fitted, parsed
from actormem.core.summary.salience import informative
from actormem.core.text import HAN, language, sentences
from actormem.core.values import Entity, Message

__all__ = ["checked_summary"]

REPLY_FACTOR_MAX: Final = 2  # a reply longer than twice the room is no summary, and its cut would be chance
OPENING_CHARS: Final = 200  # where a refusal or a request for the text stands
LANGUAGE_LETTERS_MIN: Final = 20  # below it a text does not tell its language; a Han character counts twice
FOREIGN_SHARE_MAX: Final = 0.05  # Han characters among the letters of a text in English that quotes names
OWN_SHARE_MIN: Final = 0.5  # and of a text in Chinese

FENCED = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)
PREAMBLE = re.compile(
    r"\A\s*(?:(?:sure|certainly|of course|ok|okay|好的|当然)[,.!，。！\s]*)?"
    r"(?:here(?:'s| is)[^\n]{0,60}summary[^\n]{0,40}:|(?:以下|下面)[是为][^\n]{0,30}[:：]"
    r"|\*{0,2}(?:summary|摘要)\*{0,2}[:：]\*{0,2})\s*",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\b(?:please|could you|can you)\b[^.\n]{0,40}\b(?:provide|share|paste|send|give me)\b"
    r"|\b(?:i['’]?m sorry|i apologi[sz]e|i (?:can(?:not|['’]t)|am unable|won['’]t)|as an ai)\b"
    r"|\bunable to (?:summari|assist|help)"
    r"|\b(?:no|there is no) conversation\b|\bi (?:don['’]t|do not) (?:see|have) (?:any|a|the)\b"
    r"|请(?:您|你)?(?:先)?(?:提供|给出|发送|粘贴|分享|告诉我)|抱歉|对不起|很遗憾|我(?:无法|不能|没办法)|作为(?:一个|一名)?(?:AI|人工智能)"
    r"|没有(?:看到|收到|找到)?(?:任何)?(?:对话|内容)",
    re.IGNORECASE,
)


def checked_summary(
    reply: str,
    *,
    sources: Sequence[str | Message],
    previous: str,
    tokens: int,
    count: Callable[[str], int],
    entities: Iterable[Entity] = (),
    find: FindEntities = find_entities,
) -> Summary | None:
    """A model's summary, as far as its sources bear it out; None where it is no summary of them.

    A sentence is taken out, and counted, where it holds an id, amount, date, time, phone, e-mail, percent,
    link, hash, version, file or a number above ten that neither the sources nor `previous` have, compared as
    values; or where it gives orders to a model. The rest is brought into the common shape, cut to `tokens`.

    Args:
        reply: The model's words.
        sources: What was summarized, oldest first. Messages tell more than texts: their dates and tool calls
            count, and relative dates are resolved from their time.
        previous: The earlier summary that was merged in, or an empty string.
        tokens: Most tokens of the text, as `count` counts.
        entities: Values of the sources that are known already, such as resolved dates.
        find: Finds the entities of a text.

    Returns:
        None for empty words, a refusal, a request for the text, role marks, a reply in another language than
        the sources, one longer than twice `tokens`, or one of which nothing is left: take the extractive one.
        Else the summary, its `attached` the values of the sources and of `previous` which the text lacks.

    Cost:
        O(characters) of the reply and the sources.
    """
    words = unhidden(bare_reply(reply))
    if tokens < 1 or not is_summary(words) or count(words) > REPLY_FACTOR_MAX * tokens:
        return None
    known = KnownValues([*sources, previous], entities=entities, find=find)
    tongue = language(words)
    if is_other_language(words, [previous, *(source_text(source) for source in sources)]):
        return None
    repaired_count = 0
    lines: list[Line] = []
    for line in parsed(words):
        said = sentences(line.text)
        held = [sentence for sentence in said if not gives_orders(sentence) and not known.made_up(sentence)]
        repaired_count += len(said) - len(held)
        if held:
            joint = "" if tongue == "zh" else " "
            lines.append(msgspec.structs.replace(line, text=line.text if held == said else joint.join(held)))
    text = fitted(ranked(lines), tongue, tokens=tokens, count=count)
    if not text:
        return None
    return Summary(text=text, method="llm", repaired_count=repaired_count, attached=known.missing_from(text))


def bare_reply(reply: str) -> str:
    """The reply without its thoughts, a code fence around it, and "here is the summary"."""
    words = without_thoughts(reply).strip()
    fenced = FENCED.match(words)
    return PREAMBLE.sub("", fenced[1] if fenced else words).strip()


def is_summary(words: str) -> bool:
    """Whether words may be a summary: no refusal in front, no marks of roles, not only filler."""
    if not words or has_role_marks(words):
        return False
    lines = parsed(words)
    return any(informative(line.text) for line in lines) and not REFUSAL.search(lines[0].text[:OPENING_CHARS])


def source_text(source: str | Message) -> str:
    return source if isinstance(source, str) else source.text


def is_other_language(words: str, sources: Sequence[str]) -> bool:
    """Whether one side is plainly Chinese and the other has next to none of it."""
    said, heard = han_share(words), han_share("\n".join(sources))
    if said is None or heard is None:
        return False
    return min(said, heard) <= FOREIGN_SHARE_MAX and max(said, heard) >= OWN_SHARE_MIN


def han_share(text: str) -> float | None:
    """The share of Han characters among the letters; None where there are too few letters to tell."""
    letters = sum(map(str.isalpha, text))
    han = len(HAN.findall(text))
    return han / letters if letters + han >= LANGUAGE_LETTERS_MIN else None


def ranked(lines: Sequence[Line]) -> list[Line]:
    """The lines weighed by their place: a model writes the most important first, in each section."""
    seen: dict[str | None, int] = {}
    weighed: list[Line] = []
    for line in lines:
        place = seen[line.section] = seen.get(line.section, 0) + 1
        weighed.append(msgspec.structs.replace(line, weight=1.0 / place))
    return weighed
