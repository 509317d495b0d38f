"""Sets of conversations with questions, read from a folder of yours: none is part of the project.

A set is a folder with two files of one JSON object a line. Keys that are not named here are passed over.
  turns.jsonl      conv, session, turn (unique in its conversation), speaker, text; time (ISO 8601), user, caption
  questions.jsonl  conv, text, evidence (turns of that conversation); category, user; evidence_roles (original_info
                   and updated_info: turns with the older and the newer value of what is asked)
Where no user is named a conversation belongs to one owner, all its speakers together.

A check is a file NAME_check.jsonl of notes about one user, which are remembered one by one: each line has a `text` or
a `fact`; where it has a `query`, that fact answers it, and so does each of those in `also`; `type` is its category.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

__all__ = ["DataError", "LoggedTurn", "Question", "Set", "data_folder", "read_set", "set_names"]

VARIABLE = "ACTORMEM_DATA"
DEFAULT_FOLDER = "../shared/data"
UNDATED = datetime(2024, 1, 1, tzinfo=UTC)  # of turns that say no time: the same at each run

Row = TypeVar("Row", bound=msgspec.Struct)


class DataError(Exception):
    """The data is missing or is not what a set holds; nothing was measured."""


class LoggedTurn(msgspec.Struct, frozen=True):
    """One turn of a log; a `turn` here is one message."""

    conv: str
    session: str
    turn: str
    speaker: str
    text: str | None
    time: str | None = None
    user: str | None = None
    caption: str | None = None

    def __post_init__(self) -> None:
        if self.time:
            datetime.fromisoformat(self.time)  # a line with another time is refused with its number

    @property
    def owner(self) -> str:
        """Whose memory it becomes part of."""
        return f"{self.conv}/{self.user or self.conv}"

    @property
    def message_id(self) -> str:
        """Its id, unique in the set."""
        return f"{self.conv}/{self.turn}"

    @property
    def message(self) -> dict[str, object]:
        """It as a message for `Runtime.import_history`."""
        said = datetime.fromisoformat(self.time) if self.time else UNDATED
        picture = f" [image: {self.caption}]" if self.caption else ""
        return {
            "role": "assistant" if self.speaker == "assistant" else "user",
            "name": self.speaker,
            "content": (self.text or "") + picture,
            "id": self.message_id,
            "time": said if said.tzinfo else said.replace(tzinfo=UTC),
        }


class Question(msgspec.Struct, frozen=True):
    """A question and the turns that hold its answer, all of them or, with `any_of`, each by itself."""

    conv: str
    text: str
    evidence: list[str] = []
    category: str = ""
    user: str | None = None
    evidence_roles: dict[str, list[str]] = {}
    any_of: bool = False

    @property
    def owner(self) -> str:
        """Whose memory is asked."""
        return f"{self.conv}/{self.user or self.conv}"

    @property
    def evidence_ids(self) -> frozenset[str]:
        """Ids of the messages that hold the answer."""
        return self.ids(self.evidence)

    @property
    def older_ids(self) -> frozenset[str]:
        """Ids of the messages with a value that is no longer so; empty where the set does not say."""
        return self.ids(self.evidence_roles.get("original_info", []))

    @property
    def newer_ids(self) -> frozenset[str]:
        """Ids of the messages with the value that took its place; empty where the set does not say."""
        return self.ids(self.evidence_roles.get("updated_info", []))

    def ids(self, turns: Sequence[str]) -> frozenset[str]:
        """Ids of turns of its conversation."""
        return frozenset(f"{self.conv}/{turn}" for turn in turns)


class Note(msgspec.Struct, frozen=True):
    """A line of a check."""

    type: str
    text: str = ""
    fact: str = ""
    query: str = ""
    also: list[str] = []


class Set(msgspec.Struct, frozen=True):
    """A set: its turns in the order of the file, and the questions that name evidence.

    Attributes:
        notes: Whether each turn is a note about the user, to be remembered by itself.
    """

    name: str
    turns: tuple[LoggedTurn, ...]
    questions: tuple[Question, ...]
    notes: bool = False

    def first(self, conversation_count: int, question_count: int) -> "Set":
        """The first conversations of it that are asked about, and the first questions of each."""
        asked = list(dict.fromkeys(question.conv for question in self.questions))[:conversation_count]
        kept = [[one for one in self.questions if one.conv == conv][:question_count] for conv in asked]
        return Set(
            self.name,
            tuple(turn for turn in self.turns if turn.conv in asked),
            tuple(question for questions in kept for question in questions),
            self.notes,
        )


def data_folder() -> Path:
    """The folder that ACTORMEM_DATA names.

    Raises:
        DataError: It is missing.
    """
    folder = Path(os.environ.get(VARIABLE) or DEFAULT_FOLDER)
    if not folder.is_dir():
        raise DataError(f"the data is missing: no folder {folder}; name one in {VARIABLE}")
    return folder


def set_names(folder: Path, asked: Sequence[str]) -> list[str]:
    """The sets asked for, or every set that is there.

    Raises:
        DataError: One that is asked for is missing, or there are none.
    """
    there = sorted(path.parent.name for path in folder.glob("*/turns.jsonl"))
    there = [name for name in there if (folder / name / "questions.jsonl").is_file()]
    there += sorted(path.stem for path in folder.glob("*_check.jsonl"))
    missing = [name for name in asked if name not in there]
    if missing or not there:
        raise DataError(f"the data is missing: no set {', '.join(missing) or 'at all'} in {folder}")
    return list(asked) or there


def read_set(folder: Path, name: str) -> Set:
    """Read a set.

    Raises:
        DataError: A line is not what it should be.
    """
    if (folder / f"{name}.jsonl").is_file():
        return _check(name, _rows(folder / f"{name}.jsonl", Note))
    turns = _rows(folder / name / "turns.jsonl", LoggedTurn)
    questions = _rows(folder / name / "questions.jsonl", Question)
    return Set(name, turns, tuple(question for question in questions if question.evidence))


def _check(name: str, lines: Sequence[Note]) -> Set:
    numbers: dict[str, str] = {}
    for line in lines:
        for text in filter(None, (line.fact, line.text)):
            numbers.setdefault(text, str(len(numbers)))
    turns = [LoggedTurn(name, name, turn, "user", text) for text, turn in numbers.items()]
    questions = [
        Question(
            conv=name,
            text=line.query,
            evidence=[numbers[text] for text in (line.fact, *line.also) if text in numbers],
            category=line.type,
            any_of=True,
        )
        for line in lines
        if line.query
    ]
    return Set(name, tuple(turns), tuple(questions), notes=True)


def _rows(path: Path, kind: type[Row]) -> tuple[Row, ...]:
    decoder = msgspec.json.Decoder(kind)
    found: list[Row] = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(decoder.decode(line))
        except msgspec.DecodeError as wrong:
            raise DataError(f"{path}, line {number}: {wrong}") from None
    return tuple(found)
