"""The lines of a summary that messages give: what was said, asked, answered, and done by tools.

The law of the file: lines are in the order in which they were said, and quote their message; only tool calls
are written anew, as `name(arguments) → outcome`, from whole fields.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from actormem.core.recall.words import Words
from actormem.core.summary.known_values import FindEntities
from actormem.core.summary.outline import Language, Line, Section, shortened
from actormem.core.summary.salience import asks, defers, informative, requests, section_of, settles, weight_of
from actormem.core.text import language, one_line, sentences
from actormem.core.values import JsonValue, Message

__all__ = ["conversation_language", "cut_text", "lines_said", "tool_text", "weighed"]

LANGUAGE_CHARS: Final = 2_000  # of each message: enough to tell its language
HEAD_CHARS: Final = 4_096  # of a large message: its beginning says what it is
TAIL_CHARS: Final = 1_024  # and its end what it comes to
ANSWER_CHARS_MAX: Final = 24  # a shorter reply to a question says little without it
QUESTION_CHARS_MIN: Final = 8  # a shorter question ("可以吗？") says little without the sentence before
ARGUMENTS_CHARS: Final = 96
OUTCOME_CHARS: Final = 160
LIST_CHARS: Final = 120  # a list in a field, in whole entries
FIELD_CHARS: Final = 64  # one field of arguments or of an outcome; longer ones are texts
OUTCOME_FIELDS_MAX: Final = 24
CENTRAL_WEIGHT: Final = 0.3  # what many messages speak of is worth this much more
RECENT_WEIGHT: Final = 0.2
WEIGHT_MIN: Final = 0.15  # below it a line tells nothing: "Done.", "沈女士。"

CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
FAILED = re.compile(r"error|fail|exception|denied|timeout|失败|错误|异常|拒绝|超时", re.IGNORECASE)
ARROW: Final = " → "


class Draft(msgspec.Struct, kw_only=True):
    """A line whose section is not settled yet: a question may still be answered."""

    section: Section
    text: str
    role: str
    speaker: str
    position: int
    bonus: float = 0.0


class Said(msgspec.Struct, frozen=True):
    """One sentence of a message."""

    text: str
    asks: bool


class Listener:
    """Goes through messages in order and keeps what was said, with what is still open."""

    def __init__(self, find: FindEntities) -> None:
        self.find = find
        self.drafts: list[Draft] = []
        self.open_questions: list[Draft] = []
        self.question: Draft | None = None  # the assistant's, for the user to answer
        self.calls: dict[str, Draft] = {}

    def hear(self, message: Message, position: int) -> None:
        match message.role:
            case "user":
                self._user(message, position)
            case "assistant":
                self._assistant(message, position)
            case "tool":
                self._tool(message, position)
            case _:  # system and developer text is the program's, not the conversation's
                return

    def _add(self, message: Message, position: int, section: Section, text: str) -> Draft:
        speaker = message.name or message.role
        draft = Draft(section=section, text=text, role=message.role, speaker=speaker, position=position)
        self.drafts.append(draft)
        return draft

    def _said(self, message: Message) -> list[Said]:
        said: list[Said] = []
        for sentence in sentences(CODE_BLOCK.sub(" ", cut_text(message.text))):
            values = [entity.value for entity in self.find(sentence)] if len(sentence) > 160 else []
            text = informative(sentence, values)
            if text:
                said.append(Said(text, asks(text)))
        return said

    def _user(self, message: Message, position: int) -> None:
        text = message.text.strip()
        if not text:
            return
        question, self.question = self.question, None
        if question is not None:
            yes_or_no = settles(text)
            if yes_or_no or (len(text) <= ANSWER_CHARS_MAX and not asks(text) and self._said(message)):
                question.section = "decisions" if yes_or_no else "needs"
                question.text += f"{ARROW}{one_line(text, ANSWER_CHARS_MAX * 3)}"
                question.bonus = 0.5
                return
            self.drafts.remove(question)
        for said in self._said(message):
            if said.asks and not requests(said.text):
                self.open_questions.append(self._add(message, position, "open", said.text))
            else:
                values = len(self.find(said.text))
                section = "needs" if said.asks else section_of(said.text, "user", values)
                self._add(message, position, section, said.text)

    def _assistant(self, message: Message, position: int) -> None:
        before = ""
        answered = False
        for said in self._said(message):
            if said.asks:
                if self.question is not None:
                    self.drafts.remove(self.question)
                short = len(said.text) < QUESTION_CHARS_MIN and before
                self.question = self._add(
                    message, position, "open", f"{before} {said.text}" if short else said.text
                )
                continue
            section = section_of(said.text, "assistant", len(self.find(said.text)))
            answered = answered or not defers(said.text)
            before = said.text
            self._add(message, position, section, said.text)
        if answered:
            for question in self.open_questions:
                question.section = "needs"
                question.bonus = -0.4
            self.open_questions.clear()
        for call in message.tool_calls:
            draft = self._add(message, position, "decisions", tool_text(call.name, call.arguments))
            draft.role = draft.speaker = "tool"
            self.calls[call.id] = draft

    def _tool(self, message: Message, position: int) -> None:
        outcome = outcome_text(message.text)
        draft = self.calls.pop(message.tool_call_id or "", None)
        if draft is None:
            draft = self._add(message, position, "decisions", one_line(message.name or "", FIELD_CHARS))
            draft.role = draft.speaker = "tool"
        if outcome:
            draft.text = f"{draft.text}{ARROW}{outcome}" if draft.text else outcome
        if FAILED.search(outcome):
            draft.bonus = 0.2


def lines_said(messages: Sequence[Message], *, find: FindEntities) -> list[Line]:
    """The lines of all messages, in order, weighed; system and developer messages give none.

    Cost: O(characters), each message counted with at most 5,120 of them.
    """
    listener = Listener(find)
    for position, message in enumerate(messages):
        listener.hear(message, position)
    words = Words()
    terms = [frozenset(words.terms(draft.text)) for draft in listener.drafts]
    heard = Counter(term for one in by_message(listener.drafts, terms) for term in one)
    lines: list[Line] = []
    for draft, one in zip(listener.drafts, terms, strict=True):
        line = Line(section=draft.section, text=draft.text, speaker=draft.speaker)
        central = sum(min(heard[term] - 1, 3) for term in one) / (3 * len(one)) if one else 0.0
        recent = draft.position / len(messages)
        extra = draft.bonus + CENTRAL_WEIGHT * central + RECENT_WEIGHT * recent
        line = weighed(line, draft.role, find=find, extra=extra)
        if line.weight >= WEIGHT_MIN:
            lines.append(line)
    return lines


def by_message(drafts: Sequence[Draft], terms: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The terms of each message that has lines."""
    whole: dict[int, frozenset[str]] = {}
    for draft, one in zip(drafts, terms, strict=True):
        whole[draft.position] = whole.get(draft.position, frozenset()) | one
    return list(whole.values())


def conversation_language(messages: Sequence[Message], previous: str) -> Language:
    """The language people speak in it; tool results and system text do not count."""
    spoken = "\n".join(
        message.text[:LANGUAGE_CHARS] for message in messages if message.role in ("user", "assistant")
    )
    return language(spoken if spoken.strip() else previous)


def weighed(line: Line, role: str, *, find: FindEntities, extra: float = 0.0) -> Line:
    """The line with its weight."""
    weight = weight_of(line.text, role, line.section, find(line.text)) + extra
    return msgspec.structs.replace(line, weight=weight)


def cut_text(text: str, chars: int = HEAD_CHARS + TAIL_CHARS) -> str:
    """The text, or of a large one its beginning and its end, four to one, with a mark between them."""
    left_out = len(text) - chars
    if left_out <= 0:
        return text
    tail = chars * TAIL_CHARS // (HEAD_CHARS + TAIL_CHARS)
    return f"{text[: chars - tail]}\n[… {left_out} …]\n{text[len(text) - tail :]}"


def tool_text(name: str, arguments: str) -> str:
    """A call in short: `name(field=value, …)`; arguments that are no JSON object as they stand, cut."""
    decoded = decoded_json(arguments)
    if isinstance(decoded, Mapping):
        shown = fields_text(decoded, ARGUMENTS_CHARS)
    else:
        shown = shortened(arguments[:HEAD_CHARS], ARGUMENTS_CHARS)
    return f"{one_line(name, FIELD_CHARS)}({shown})"


def outcome_text(text: str) -> str:
    """A result in short: the first fields of a JSON object, or the first words."""
    decoded = decoded_json(text)
    if isinstance(decoded, Sequence) and not isinstance(decoded, str) and decoded:
        decoded = {f"{position}": entry for position, entry in enumerate(decoded, 1)}
    if isinstance(decoded, Mapping):
        return fields_text(decoded, OUTCOME_CHARS)
    said = [informative(sentence) for sentence in sentences(cut_text(text))[:4]]
    return shortened(" ".join(filter(None, said)), OUTCOME_CHARS)


def decoded_json(text: str) -> JsonValue:
    try:
        return msgspec.json.decode(text, type=object)  # pyright: ignore[reportReturnType]
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def fields_text(fields: Mapping[str, JsonValue], characters: int) -> str:
    """`field=value` pairs, nested ones as `outer.inner`, whole pairs only, until `characters` are used."""
    pairs: list[str] = []
    left = characters
    waiting: list[tuple[str, JsonValue]] = list(fields.items())[::-1]
    seen_count = 0
    while waiting and seen_count < OUTCOME_FIELDS_MAX:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend([(f"{name}.{inner}", below) for inner, below in value.items()][::-1])
            continue
        seen_count += 1
        pair = f"{one_line(name, FIELD_CHARS)}={value_text(value)}"
        if value in (None, "") or len(pair) > left:
            continue
        pairs.append(pair)
        left -= len(pair) + 2
    return ", ".join(pairs)


def value_text(value: JsonValue) -> str:
    """A field's value in short, never a part of a number: text cut between words, lists by whole entries."""
    if isinstance(value, str):
        return shortened(value, FIELD_CHARS)
    if isinstance(value, Mapping):
        return " ".join(
            filter(None, (value_text(inner) for inner in list(value.values())[:OUTCOME_FIELDS_MAX]))
        )
    if not isinstance(value, Sequence):
        return msgspec.json.encode(value).decode()
    entries: list[str] = []
    left = LIST_CHARS
    for entry in value[:OUTCOME_FIELDS_MAX]:
        text = value_text(entry)
        left -= len(text) + 2
        if left < 0:
            break
        entries.append(text)
    return "; ".join(entries) + ("; …" if len(entries) < len(value) else "")
