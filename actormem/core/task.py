"""The task: what a session is at, said by the application, and the calls made for it since.

Law of the file: a task is a value; what is too much of it is refused as a whole, with the numbers and none of
the words. Its calls come from the session's own messages, the newest only, each in two short texts.
"""

from collections.abc import Mapping

import msgspec

from actormem.core.entities import EntityTable
from actormem.core.entities.exact import MessageEntities
from actormem.core.text import clean, one_line
from actormem.core.values import Message
from actormem.errors import UsageError

__all__ = [
    "Task",
    "TaskCall",
    "changed_task",
    "checked_values",
    "checked_words",
    "decode_task",
    "encode_task",
    "next_task",
    "with_message",
]

GOAL_CHARS_MAX = 1_000  # a goal, not a plan: it stands in every epoch
STEP_CHARS_MAX = 500
VALUES_MAX = 32  # values to carry on; more of them are a record of its own
KEY_CHARS_MAX = 64
VALUE_CHARS_MAX = 200
CALLS_MAX = 32  # newest calls kept of a task; what they said stands in the record and in memory
CALL_CHARACTERS = 120  # of the arguments of one call
RESULT_CHARACTERS = 160  # of its result; of a longer one its exact values


class TaskCall(msgspec.Struct, frozen=True):
    """One call made while the task was set.

    Attributes:
        sequence: Event of the message that made it.
        id: Of the call, on the wire.
        name: Of the tool.
        arguments: The beginning of them, on one line.
        result: Its result on one line, the exact values of a long one; empty while there is none.
    """

    sequence: int
    id: str
    name: str
    arguments: str
    result: str = ""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is at.

    Attributes:
        goal: What is to be reached, 1 to 1,000 characters.
        step: Where it stands, at most 500 characters.
        values: At most 32 values to carry on, of at most 200 characters each, by name.
        calls: The newest calls made since it was set, oldest first, at most 32.
    """

    goal: str
    step: str = ""
    values: Mapping[str, str] = {}
    calls: tuple[TaskCall, ...] = ()


def checked_words(name: str, value: object) -> str:
    """A goal or a step.

    Raises:
        UsageError: It is no text, or too long; or a goal is empty.
    """
    limit = GOAL_CHARS_MAX if name == "goal" else STEP_CHARS_MAX
    if not isinstance(value, str):
        raise UsageError(f"{name} must be text, not {type(value).__name__}")
    words = clean(value).strip()
    if len(words) > limit:
        raise UsageError(f"{name} has {len(words)} characters, at most {limit} are allowed")
    if name == "goal" and not words:
        raise UsageError("goal must not be empty", hint="use clear() to end the task")
    return words


def checked_values(values: object) -> dict[str, str | None]:
    """Values by name; None stands for one to be taken away.

    Raises:
        UsageError: They are no mapping of short texts and numbers.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise UsageError(f"values must be a mapping, not {type(values).__name__}")
    found: dict[str, str | None] = {}
    for key, value in values.items():  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(key, str) or not 0 < len(key) <= KEY_CHARS_MAX:
            raise UsageError(f"the name of a value must be text of 1 to {KEY_CHARS_MAX} characters")
        if value is not None and (isinstance(value, bool) or not isinstance(value, (str, int, float))):
            raise UsageError("a value must be text, a number, or None to take it away")
        words = None if value is None else clean(str(value))
        if words is not None and len(words) > VALUE_CHARS_MAX:
            raise UsageError(f"a value has {len(words)} characters, at most {VALUE_CHARS_MAX} are allowed")
        found[clean(key)] = words
    return found


def changed_task(
    before: Task | None, goal: str | None, step: str | None, values: Mapping[str, str | None]
) -> Task:
    """The task with what is given changed; a new one where there was none.

    Raises:
        UsageError: There is neither a task nor a goal, or too many values; with both numbers.
    """
    if before is None and goal is None:
        raise UsageError("no task is set", hint="use set(goal) first")
    start = before or Task(goal=goal or "")
    merged = {key: value for key, value in {**start.values, **values}.items() if value is not None}
    if len(merged) > VALUES_MAX:
        raise UsageError(f"a task has {len(merged)} values, at most {VALUES_MAX} are allowed")
    return Task(
        goal=start.goal if goal is None else goal,
        step=start.step if step is None else step,
        values=merged,
        calls=start.calls,
    )


def encode_task(task: Task) -> str:
    """The words of a task as JSON, without its calls: these are in the session's messages."""
    return msgspec.json.encode({"goal": task.goal, "step": task.step, "values": task.values}).decode()


def decode_task(text: str) -> Task:
    """The task that `encode_task` wrote so."""
    return msgspec.json.decode(text, type=Task)


def next_task(before: Task | None, text: str | None, *, fresh: bool) -> Task | None:
    """The task after a change: what is written, with the calls made before it unless it is a fresh one.

    None where nothing is written, or the words are erased.
    """
    if not text:
        return None
    task = decode_task(text)
    return task if fresh or before is None else msgspec.structs.replace(task, calls=before.calls)


def with_message(task: Task, message: Message, sequence: int, found: MessageEntities) -> Task:
    """The task after a message: a call it makes, or the result of one.

    Args:
        found: The exact values of the message.
    """
    if message.role == "tool":
        answered = tuple(
            msgspec.structs.replace(call, result=_short_result(message, found))
            if call.id == message.tool_call_id and not call.result
            else call
            for call in task.calls
        )
        return msgspec.structs.replace(task, calls=answered) if answered != task.calls else task
    if not message.tool_calls:
        return task
    made = tuple(
        TaskCall(sequence, call.id, call.name, one_line(call.arguments, CALL_CHARACTERS))
        for call in message.tool_calls
    )
    return msgspec.structs.replace(task, calls=(*task.calls, *made)[-CALLS_MAX:])


def _short_result(message: Message, found: MessageEntities) -> str:
    text = message.text
    if len(text) > RESULT_CHARACTERS:
        table = EntityTable().seen(found.said, sequence=1, role="tool")
        lines = table.lines(tokens=RESULT_CHARACTERS, count=len)
        text = "; ".join(lines) or text
    return one_line(text, RESULT_CHARACTERS) or "(empty)"
