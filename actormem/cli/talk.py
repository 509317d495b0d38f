"""The conversation of `actormem chat`: lines in, streamed replies out, and commands about the memory between them.

Law: a reply that fails is one line on stderr and the conversation goes on; a part that was said is kept.
"""

import signal
import sys
from collections.abc import AsyncIterable
from typing import Any

import anyio

from actormem import ActorMemError, Budget, NotFoundError, Runtime, Session, Trace, Turn, UsageError
from actormem.cli.memories import hits_table, items_table
from actormem.cli.place import waiting
from actormem.cli.show import clip, many_lines, one_line, plain

__all__ = ["COMMANDS", "Talk"]

CLOSE_WAIT_S = 5.0  # for a connection that is to be given back
FAULT_COLUMNS = 300
TOO_LONG = "context_length_exceeded"
COMMANDS = """\
  /why                the last context: what was in it, what was not, and why
  /memories [WORDS]   what is remembered; with words, what is found by them
  /forget ID          erase a memory, and the words it came from
  /budget [TOKENS]    of a context from now on; without a number, as it is
  /again              ask anew what was not answered
  /help               these lines
  /quit               leave; so do Ctrl-D and Ctrl-C twice
  //...               a message that begins with a slash
"""


class Talk:
    """A person at a terminal, a model at a server, and a session between them."""

    def __init__(self, runtime: Runtime, session: Session, client: Any, lines: AsyncIterable[str]) -> None:
        self._runtime = runtime
        self._session = session
        self._client = client
        self._lines = aiter(lines)
        owner = session.key.owner
        self._whose: dict[str, Any] = {"user": owner.user, "tenant": owner.tenant}
        self._trace: Trace | None = None
        self._unanswered: tuple[str, str] | None = None  # the turn's id, and its words
        self._reply = anyio.CancelScope()
        self._is_replying = False
        self._press_count = 0  # of Ctrl-C, since the person last said something
        self._failed = False
        self._prompt = ""

    async def run(self, *, greets: bool) -> int:
        """Talk until the person leaves; gives the exit code.

        Args:
            greets: Whether a person types the lines, who is to be greeted and prompted.
        """
        self._prompt = "> " if greets else ""
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._interrupts, group.cancel_scope)
            try:
                await self._talk()
            except Exception as error:  # the task group would wrap it
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return 130 if self._press_count > 1 else int(self._failed)

    async def _talk(self) -> None:
        if self._prompt:
            count = len(await self._session.messages())
            before = f", {count} messages so far" if count else ""
            tell(f"session {plain(self._session.key.session_id)}{before}; /help tells of commands")
        while True:
            print(self._prompt, end="", file=sys.stderr, flush=True)
            line = await anext(self._lines, None)
            if line is None:
                print("\n" if self._prompt else "", end="", file=sys.stderr)
                return
            self._press_count = 0
            line = line.strip()
            if line == "/quit":
                return
            try:
                await self._said(line)
            except ActorMemError as error:
                self._failed = self._failed or not is_command(line)
                tell(one_line(error))

    async def _said(self, line: str) -> None:
        if is_command(line):
            await self._command(*line.partition(" ")[::2])
        elif line:
            await self._ask(line[1:] if line.startswith("//") else line)

    async def _interrupts(self, leave: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as presses:
            async for _ in presses:
                self._press_count += 1
                if self._press_count > 1:
                    leave.cancel()
                elif self._is_replying:
                    self._reply.cancel()
                else:
                    print("\n" if self._prompt else "", end="", file=sys.stderr)  # the terminal shows ^C
                    tell("Ctrl-C again, or Ctrl-D, leaves")
                    print(self._prompt, end="", file=sys.stderr, flush=True)

    # --- replies ------------------------------------------------------------------------------------------

    async def _ask(self, words: str, id: str | None = None) -> None:
        turn = self._session.turn(words, id=id)
        fault = ""
        with anyio.CancelScope() as self._reply:
            self._is_replying = True
            try:
                async with turn:
                    self._trace = turn.trace
                    fault = await self._streamed(turn)
            finally:
                self._is_replying = False
        said = turn.first_token_ms is not None
        if said:
            print(flush=True)
        self._unanswered = None if said else (turn.id, words)
        kept = "; what was said is kept" if said else "; /again asks anew"
        if self._reply.cancelled_caught:
            tell(f"ended{kept}")
        elif fault or not said:
            self._failed = True
            tell(f"{fault or 'the model said nothing'}{kept}")

    async def _streamed(self, turn: Turn) -> str:
        """Print the reply as it comes; returns what went wrong with the server, or nothing."""
        try:
            stream = await self._begun(turn)
            try:
                async for chunk in stream:
                    turn.feed(chunk)
                    for choice in chunk.choices[:1]:
                        print(many_lines(choice.delta.content or ""), end="", flush=True)
            finally:
                with anyio.move_on_after(CLOSE_WAIT_S, shield=True):
                    await stream.close()
        except (ActorMemError, OSError):  # ours, and those of who reads our output
            raise
        except Exception as error:
            return self._fault(error)
        return ""

    async def _begun(self, turn: Turn) -> Any:
        """The stream; where the request is too long, that of a smaller one."""
        try:
            return await self._stream(turn)
        except Exception as error:
            if getattr(error, "code", None) != TOO_LONG:
                raise
        await turn.shrink()
        self._trace = turn.trace
        return await self._stream(turn)

    async def _stream(self, turn: Turn) -> Any:
        return await self._client.chat.completions.create(
            model=self._session.settings["model"],
            messages=turn.messages,
            stream=True,
            stream_options={"include_usage": True},
        )

    def _fault(self, error: Exception) -> str:
        """What went wrong, in one line."""
        status = getattr(error, "status_code", None)
        words = clip(plain(str(getattr(error, "message", "") or error)), FAULT_COLUMNS)
        where = str(self._client.base_url).rstrip("/")
        if status is not None:
            return f"{where} answered with status {status}: {words}"
        cause = f" ({plain(str(error.__cause__))})" if error.__cause__ and str(error.__cause__) else ""
        return f"no whole answer from {where}: {words}{cause}"

    # --- commands -----------------------------------------------------------------------------------------

    async def _command(self, name: str, words: str) -> None:
        words = words.strip()
        match name:
            case "/why":
                await self._why()
            case "/memories":
                await self._memories(words)
            case "/forget":
                await self._forget(words)
            case "/budget":
                await self._budget(words)
            case "/again":
                if self._unanswered is None:
                    raise UsageError("nothing is left unanswered")
                await self._ask(self._unanswered[1], self._unanswered[0])
            case "/help":
                print(COMMANDS, end="", flush=True)
            case _:
                raise UsageError(f"there is no command {plain(name)}; /help tells of them")

    async def _why(self) -> None:
        trace = self._trace
        if trace is None:
            turns = await self._session.turns()
            if not turns:
                raise UsageError("there was no context yet")
            trace = await self._session.trace(turns[-1].id)
        print(trace)
        for one in trace.included:
            try:
                item = await self._runtime.item(one.id, **self._whose)
            except NotFoundError:
                continue  # forgotten since
            print(f"  {one.id}: {plain(item.text)}")
        sys.stdout.flush()

    async def _memories(self, words: str) -> None:
        if words:
            print(hits_table((await self._runtime.recall(words, **self._whose)).hits), flush=True)
        else:
            print(items_table(await self._runtime.items(**self._whose)), flush=True)

    async def _forget(self, id: str) -> None:
        if not id:
            raise UsageError("/forget needs the id of a memory; /memories tells them")
        with waiting("erasing"):
            receipt = await self._runtime.forget(id, **self._whose)
        print(f"{receipt.item_count} items erased, {receipt.text_count} texts rewritten", flush=True)

    async def _budget(self, words: str) -> None:
        if words:
            if not words.isascii() or not words.isdigit():
                raise UsageError(f"/budget needs a whole number of tokens, not {plain(words)!r}")
            self._session = await self._runtime.spawn(
                self._session.key.session_id, **self._whose, budget=Budget(context=int(words))
            )
        budget: Any = self._session.settings["budget"]
        print(f"{budget.context} tokens", flush=True)


def is_command(line: str) -> bool:
    """Whether a line is for us, not for the model."""
    return line.startswith("/") and not line.startswith("//")


def tell(words: str) -> None:
    """One line for the person, apart from the reply."""
    print(f"actormem: {words}", file=sys.stderr, flush=True)
