"""`actormem replay`: plays an OpenAI-format log and says what the model would have seen at each call."""

import argparse
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

import anyio
import msgspec
from tqdm import tqdm

import actormem
from actormem import ActorMemError, Budget, Context, Runtime, Session, UsageError
from actormem.cli.show import LINE_COLUMNS, Calls, clip, percentile, plain, table

__all__ = ["replay"]

MARK = b"\xef\xbb\xbf"  # some editors begin a file with it
PRETTY = (b"[", b"{", b"[{")  # the first line of a file that is one JSON value in many lines
Wire = Mapping[str, object]


class Conversation(msgspec.Struct, frozen=True):
    """One conversation of a log: where it stands there, its name, its messages, its tools, and its id if it has one."""

    line: int
    name: str
    messages: list[dict[str, object]]
    tools: list[Wire] = []
    id: str = ""


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with one line of a log."""

    line: int
    reason: str


async def replay(options: argparse.Namespace) -> int:
    """Play every conversation of the log; 0 if all could be played, 1 if some, 2 if none."""
    budget = Budget(context=options.budget)
    if options.out is not None and options.out.resolve() == options.log.resolve():
        raise UsageError("--out names the log itself", hint="name another file")
    found = list(read_log(await anyio.Path(options.log).read_bytes()))
    conversations = [one for one in found if isinstance(one, Conversation)]
    faults = [one for one in found if isinstance(one, Fault)]
    calls, played = Calls(), 0
    if conversations:
        async with actormem.open(None) as runtime:
            if options.system is not None:  # one that does not fit fails all: said once, before anything is
                await runtime.spawn(
                    "check", user="check", model=options.model, system=options.system, budget=budget
                )
            with _output(options.out) as stream, _bar(conversations, options.out) as bar:
                player = Player(runtime, options, calls, Writer(stream, as_json=options.out is not None), bar)
                for conversation in conversations:
                    try:
                        await player.play(conversation)
                        played += 1
                    except ActorMemError as error:
                        faults.append(Fault(conversation.line, " ".join(str(error).split())))
    for fault in sorted(faults, key=lambda one: one.line):
        print(f"line {fault.line}: {fault.reason}", file=sys.stderr)
    if calls.traces:
        print("" if options.out else "\n", end="")
        print(summary(calls, played, len(faults)))
    elif not played:
        print("actormem: nothing in this log could be played", file=sys.stderr)
        return 2
    return 1 if faults else 0


def read_log(data: bytes) -> Iterator[Conversation | Fault]:
    """The conversations of a log, and what is wrong with its lines.

    A log is a JSON list of messages, one JSON object with `messages`, or such objects one a line (JSONL).
    """
    data = data.removeprefix(MARK)
    try:
        whole: object = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        lines = data.splitlines()
        if lines and lines[0].strip() in PRETTY:
            yield Fault(1, f"not JSON: {error}")
            return
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _line(line, number)
        return
    yield _conversation(whole, 1)


def _line(line: bytes, number: int) -> Conversation | Fault:
    try:
        return _conversation(msgspec.json.decode(line), number)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return Fault(number, f"not JSON: {error}")


def _conversation(given: object, number: int) -> Conversation | Fault:
    name, tools, id = f"line {number}", cast("object", None), ""
    if isinstance(given, dict):
        fields = cast("dict[str, object]", given)
        id = str(fields.get("id") or "")
        name = id or name
        given, tools = fields.get("messages", []), fields.get("tools")
    if not isinstance(given, list):
        return Fault(number, "neither a list of messages nor an object with messages")
    messages = cast("list[object]", given)
    if not messages:
        return Fault(number, "it has no messages")
    for place, message in enumerate(messages, 1):
        if not isinstance(message, dict) or "role" not in message:
            return Fault(number, f"message {place} is not an object with a role")
    return Conversation(
        number, name, cast("list[dict[str, object]]", messages), cast("list[Wire]", tools or []), id
    )


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
        title = clip(f"── {plain(conversation)}, turn {turn} ", LINE_COLUMNS)
        self._stream.write(f"\n{title}\n{context.trace}\n")
        for message in context.messages:
            content = message.get("content")
            words = content if isinstance(content, str) else _parts(content)
            asked = "".join(f" → {_name(call)}" for call in _items(message.get("tool_calls")))
            line = f"{message['role']:>9}  {plain(words + asked)}"
            self._stream.write(f"{clip(line, LINE_COLUMNS)}\n")


class Player:
    """Plays conversations, and knows where contexts, figures and progress go."""

    def __init__(
        self, runtime: Runtime, options: argparse.Namespace, calls: Calls, writer: Writer, bar: "tqdm[None]"
    ) -> None:
        self._runtime = runtime
        self._options = options
        self._calls = calls
        self._writer = writer
        self._bar = bar

    async def play(self, conversation: Conversation) -> None:
        """Play one conversation, a context before each message of the assistant.

        Raises:
            UsageError: A message is malformed, or the system prompt does not fit. What stood before it was
                played.
        """
        messages = conversation.messages
        system = self._options.system
        if messages[0]["role"] in ("system", "developer"):
            first, messages = messages[0], messages[1:]
            if system is None:
                system = _text(first.get("content"))
        session = await self._runtime.spawn(
            f"line {conversation.line}",
            user=f"line {conversation.line}",
            model=self._options.model,
            system=system or "",
            tools=conversation.tools,
            budget=Budget(context=self._options.budget),
        )
        skipped = len(conversation.messages) - len(messages)
        self._bar.update(skipped)
        await self._messages(session, messages, conversation.name, skipped)

    async def _messages(self, session: Session, messages: Sequence[Wire], name: str, skipped: int) -> None:
        turn = 0
        for place, message in enumerate(messages, 1 + skipped):
            turn += message["role"] == "user"
            if message["role"] == "assistant":
                context = await session.context()
                self._calls.add(context.trace)
                self._writer.write(name, turn, context)
            try:
                await session.add({key: value for key, value in message.items() if key not in ("id", "time")})
            except UsageError as error:
                before = "; what stands before it was played" if place > 1 else ""
                raise UsageError(f"message {place}: {error}{before}") from None
            self._bar.update()


def summary(calls: Calls, played: int, fault_count: int) -> str:
    """The table at the end."""
    times = [trace.elapsed_ms for trace in calls.traces]
    sections: dict[str, int] = {}
    for trace in calls.traces:
        for section in trace.sections:
            sections[section.name] = sections.get(section.name, 0) + section.tokens
    rows = [
        ("conversations", f"{played} played, {fault_count} with faults"),
        ("contexts", f"{len(calls.traces):,}, the largest of {calls.largest_tokens:,} tokens"),
        (
            "tokens sent",
            f"{calls.sent_tokens:,} of {calls.full_tokens:,} ({calls.sent_share:.0%} of full history)",
        ),
        *(
            (f"  {name}", f"{tokens:>{len(f'{calls.sent_tokens:,}')},} ({tokens / calls.sent_tokens:.0%})")
            for name, tokens in sections.items()
        ),
        (
            "prefix share",
            f"{calls.prefix_share:.2f} of all tokens stood in the request before, byte for byte",
        ),
        (
            "context ready in",
            f"p50 {percentile(times, 0.5):.1f} ms, p95 {percentile(times, 0.95):.1f} ms, "
            f"max {max(times):.1f} ms",
        ),
        *calls.degraded(),
    ]
    return table(rows)


@contextmanager
def _output(out: Path | None) -> Generator[TextIO, None, None]:
    if out is None:
        yield sys.stdout
        return
    with out.open("w", encoding="utf-8") as stream:
        yield stream


def _bar(conversations: Sequence[Conversation], out: Path | None) -> "tqdm[None]":
    """Progress; none where contexts pass by on the same terminal."""
    total = sum(len(one.messages) for one in conversations)
    hidden = out is None and sys.stdout.isatty()
    return cast(
        "tqdm[None]", tqdm(total=total, unit=" messages", file=sys.stderr, leave=False, disable=hidden)
    )


def _text(content: object) -> str:
    """A system prompt's words; parts of it are joined by newlines."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in _mappings(content) if isinstance(part.get("text"), str))


def _parts(content: object) -> str:
    """A content of parts: its words, and the types of what is no words."""
    return " ".join(str(part.get("text") or f"[{part.get('type')}]") for part in _mappings(content))


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [cast("Mapping[str, object]", one) for one in _items(value) if isinstance(one, Mapping)]


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def _name(call: object) -> str:
    function = cast("Mapping[str, object]", call).get("function") if isinstance(call, Mapping) else None
    return str(cast("Mapping[str, object]", function).get("name")) if isinstance(function, Mapping) else "?"
