"""`actormem replay`: plays an OpenAI-format log and says what the model would have seen at each call."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO, cast

import msgspec
from tqdm import tqdm

import actormem
from actormem import ActorMemError, Budget, Context, Runtime, Session, UsageError
from actormem.cli.show import Calls, percentile, table

__all__ = ["replay"]

CONTENT_COLUMNS = 160  # of a message, where contexts are printed for a person
Wire = Mapping[str, object]


class Conversation(msgspec.Struct, frozen=True):
    """One conversation of a log: where it stands there, its name, its messages."""

    line: int
    name: str
    messages: list[dict[str, object]]


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with one line of a log."""

    line: int
    reason: str


async def replay(options: argparse.Namespace) -> int:
    """Play every conversation of the log; 0 if all could be played, 1 if some, 2 if none."""
    log: Path = options.log
    Budget(context=options.budget)
    found = list(read_log(log.read_bytes()))
    calls, faults, played = Calls(), [one for one in found if isinstance(one, Fault)], 0
    out: Path | None = options.out
    with out.open("w", encoding="utf-8") if out else _Standing(sys.stdout) as stream:
        writer = Writer(stream, as_json=out is not None)
        async with actormem.open(None) as runtime:
            conversations = [one for one in found if isinstance(one, Conversation)]
            total = sum(len(one.messages) for one in conversations)
            with tqdm(total=total, unit="message", file=sys.stderr, leave=False) as bar:
                for conversation in conversations:
                    try:
                        await play(runtime, conversation, options, Player(calls, writer, bar))
                        played += 1
                    except ActorMemError as error:
                        faults.append(Fault(conversation.line, str(error)))
    for fault in sorted(faults, key=lambda one: one.line):
        print(f"line {fault.line}: {fault.reason}", file=sys.stderr)
    if calls.traces:
        print(summary(calls, played, len(faults)))
    if not played:
        print("actormem: nothing in this log could be played", file=sys.stderr)
        return 2
    return 1 if faults else 0


def read_log(data: bytes) -> Iterator[Conversation | Fault]:
    """The conversations of a log, and what is wrong with its lines.

    A log is a JSON list of messages, one JSON object with `messages`, or such objects one a line (JSONL).
    """
    try:
        whole: object = msgspec.json.decode(data)
    except msgspec.MsgspecError:
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip():
                yield _line(line, number)
        return
    yield _conversation(whole, 1)


def _line(line: bytes, number: int) -> Conversation | Fault:
    try:
        return _conversation(msgspec.json.decode(line), number)
    except msgspec.MsgspecError as error:
        return Fault(number, f"not JSON: {error}")


def _conversation(given: object, number: int) -> Conversation | Fault:
    name = f"line {number}"
    if isinstance(given, dict):
        fields = cast("dict[str, object]", given)
        name = str(fields.get("id") or name)
        given = fields.get("messages")
    if not isinstance(given, list):
        return Fault(number, "neither a list of messages nor an object with messages")
    messages = cast("list[object]", given)
    for place, message in enumerate(messages, 1):
        if not isinstance(message, dict) or "role" not in message:
            return Fault(number, f"message {place} is not an object with a role")
    return Conversation(number, name, cast("list[dict[str, object]]", messages))


class Writer:
    """Writes contexts: for a person, or one JSON object a line."""

    def __init__(self, stream: TextIO, *, as_json: bool) -> None:
        self._stream = stream
        self._as_json = as_json

    def write(self, conversation: str, turn: int, context: Context) -> None:
        """One context and its trace."""
        if self._as_json:
            sections = {section.name: section.tokens for section in context.trace.sections}
            line = {
                "conversation": conversation,
                "turn": turn,
                "tokens": context.trace.tokens,
                "sections": sections,
                "messages": context.messages,
                "trace": context.trace,
            }
            self._stream.write(msgspec.json.encode(line).decode() + "\n")
            return
        self._stream.write(f"\n{conversation}, turn {turn}\n{context.trace}\n")
        for message in context.messages:
            content = message.get("content")
            words = content if isinstance(content, str) else msgspec.json.encode(content).decode()
            calls = "".join(f" → {_name(call)}" for call in _items(message.get("tool_calls")))
            short = " ".join(words.split())
            short = short if len(short) <= CONTENT_COLUMNS else short[: CONTENT_COLUMNS - 1] + "…"
            self._stream.write(f"   {message.get('role')}: {short}{calls}\n")


class Player:
    """Where the figures, the contexts and the progress go."""

    def __init__(self, calls: Calls, writer: Writer, bar: "tqdm[None]") -> None:
        self.calls = calls
        self.writer = writer
        self.bar = bar


async def play(
    runtime: Runtime, conversation: Conversation, options: argparse.Namespace, player: Player
) -> None:
    """Play one conversation, a context before each message of the assistant.

    Raises:
        UsageError: A message is malformed, or the system prompt does not fit.
    """
    messages = conversation.messages
    system = options.system
    if messages and messages[0].get("role") in ("system", "developer"):
        first, messages = messages[0], messages[1:]
        if system is None:
            system = first.get("content")
    session = await runtime.spawn(
        f"line {conversation.line}",
        user=f"log line {conversation.line}",
        model=options.model,
        system=system if isinstance(system, str) else "",
        budget=Budget(context=options.budget),
    )
    await _play(session, messages, conversation.name, player)


async def _play(session: Session, messages: Sequence[Wire], name: str, player: Player) -> None:
    turn = 0
    for place, message in enumerate(messages, 1):
        turn += message["role"] == "user"
        if message["role"] == "assistant":
            context = await session.context()
            player.calls.add(context.trace)
            player.writer.write(name, turn, context)
        try:
            await session.add({key: value for key, value in message.items() if key not in ("id", "time")})
        except UsageError as error:
            raise UsageError(f"message {place}: {error}") from None
        player.bar.update()


def summary(calls: Calls, played: int, fault_count: int) -> str:
    """The table at the end."""
    times = [trace.elapsed_ms for trace in calls.traces]
    sections: dict[str, int] = {}
    for trace in calls.traces:
        for section in trace.sections:
            sections[section.name] = sections.get(section.name, 0) + section.tokens
    rows = [
        ("conversations", f"{played} played, {fault_count} refused"),
        ("contexts", f"{len(calls.traces):,}, the largest of {calls.largest_tokens:,} tokens"),
        (
            "tokens sent",
            f"{calls.sent_tokens:,} of {calls.full_tokens:,} ({calls.sent_share:.0%} of full history)",
        ),
        ("prefix share", f"{calls.prefix_share:.2f}"),
        ("context ready in", f"p50 {percentile(times, 0.5):.1f} ms, p95 {percentile(times, 0.95):.1f} ms"),
        *((f"  {name}", f"{tokens:,} tokens") for name, tokens in sections.items()),
    ]
    return table(rows)


class _Standing:
    """A stream that is not ours to close."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __enter__(self) -> TextIO:
        return self._stream

    def __exit__(self, *_: object) -> None:
        self._stream.flush()


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def _name(call: object) -> str:
    function = cast("Mapping[str, object]", call).get("function") if isinstance(call, Mapping) else None
    return str(cast("Mapping[str, object]", function).get("name")) if isinstance(function, Mapping) else "?"
