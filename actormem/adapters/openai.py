"""Chat and embeddings over OpenAI's protocol, at OpenAI or at any server that speaks it.

Law: a reply is believed only after it was checked, whatever its status says; what cannot be used is a
ProviderError. Connections and errors are in `openai_client`, the only file that knows the package.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import anyio.to_thread
import msgspec
import numpy as np

from actormem.adapters.openai_client import SAFE_WORD, Connection, ReplyError, read, sendable
from actormem.adapters.openai_shapes import SHAPES, refuses_shape, shape_arguments
from actormem.adapters.prefixes import repaired
from actormem.adapters.rows import unit_rows
from actormem.core.values import JsonValue
from actormem.errors import ProviderError
from actormem.ports import Vectors

__all__ = ["OpenAIEmbedder", "OpenAILLM"]

DEADLINE_S = 30.0  # an embedding request; the slowest provider measured answers 64 texts in a few seconds
CHAT_REPLY_BYTES_MAX = 1024 * 1024  # a summary or a list of facts is a thousandth of it
EMBEDDING_BYTES_MAX = 32 * 1024 * 1024  # 64 vectors of 4,096 numbers at 22 bytes are 6 MB
REQUEST_TEXTS = 64  # more would hold the interpreter above 10 ms while the numbers are decoded
TEXT_BYTES_MAX = 8_000  # the limit is 8,192 tokens a text, and a token has a byte at least
REQUEST_BYTES_MAX = 256_000  # the limit is 300,000 tokens a request, for the same reason
INLINE_BYTES = 40_000  # of a reply whose numbers are read on the loop: 0.5 ms, less than a thread's turn
REFUSED_TEXTS_MAX = 8  # of one call; more means that the server refuses us, not the texts
WINDOW_TOKENS = 8_192  # of a model that is not listed: the smallest one still in use

# The first beginning that matches wins. Source: the model pages of platform.openai.com.
WINDOWS_TOKENS = (
    ("gpt-4.1", 1_000_000),
    ("gpt-5", 272_000),
    ("o1", 128_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gpt-4o", 128_000),
    ("gpt-oss", 131_072),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
)
DIMENSIONS = {
    "text-embedding-3-small": 1_536,
    "text-embedding-3-large": 3_072,
    "text-embedding-ada-002": 1_536,
}


class Choice(msgspec.Struct):
    """The part of a chat choice that is read."""

    message: "ChoiceMessage | None" = None
    finish_reason: str | None = None


class ChoiceMessage(msgspec.Struct):
    """The part of a chat message that is read."""

    content: str | None = None
    refusal: object = None


class ChatReply(msgspec.Struct):
    """The part of a chat reply that is read."""

    choices: list[Choice] | None = None


class Embedding(msgspec.Struct):
    """One vector and the place of its text in the request."""

    embedding: list[float | None]
    index: int | None = None


class EmbeddingReply(msgspec.Struct):
    """The part of an embeddings reply that is read."""

    data: list[Embedding]


class OpenAILLM:
    """A chat model for background work.

    Args:
        model: Its name at the server.
        api_key: None takes `OPENAI_API_KEY`; a server given by `base_url` may need none.
        base_url: None takes `OPENAI_BASE_URL`, else OpenAI itself.
        window_tokens: What its context holds; None takes the published figure, 8,192 where there is none.

    Raises:
        UsageError: There is neither a key nor a server that may do without one.

    Cost:
        `start`, or the first call, loads the openai package in a thread: 0.5 to 1 s, and for about 0.15 s of
        that no other task runs.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        window_tokens: int | None = None,
    ) -> None:
        self._model = model
        self._connection = Connection(f"openai:{model}", api_key, base_url)
        listed = next((tokens for start, tokens in WINDOWS_TOKENS if model.startswith(start)), WINDOW_TOKENS)
        self._window_tokens = window_tokens or listed
        # OpenAI's newer models refuse the old word, most other servers know only that one.
        self._limit_word = "max_tokens" if self._connection.base_url else "max_completion_tokens"
        self._shape = 0  # the strictest way to ask for JSON that the server is not known to refuse

    @property
    def name(self) -> str:
        return self._connection.name

    @property
    def window_tokens(self) -> int:
        return self._window_tokens

    async def start(self) -> None:
        """Open the client now, so that the first call does not have to."""
        await self._connection.client()

    def __repr__(self) -> str:
        return f"<OpenAILLM {self.name}, window {self._window_tokens} tokens>"

    async def complete(
        self,
        messages: Sequence[Mapping[str, JsonValue]],
        *,
        tokens_max: int,
        deadline_s: float,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> str:
        wire = [sendable(message) for message in messages]

        async def ask(client: Any) -> bytes:
            word, shape = self._limit_word, self._shape
            while True:
                arguments = {word: tokens_max, **shape_arguments(schema, shape)}
                try:
                    content = await self._attempt(client, wire, arguments)
                except Exception as error:
                    if word == self._limit_word and refuses_argument(error, word):
                        word = other_limit_word(word)
                    elif schema is not None and shape < SHAPES - 1 and refuses_shape(error):
                        shape += 1
                    else:
                        raise
                else:  # remembered once it has worked: a request that is refused whatever its shape tells nothing
                    self._limit_word, self._shape = word, shape if schema is not None else self._shape
                    return content

        content = await self._connection.call(ask, deadline_s)
        try:
            return text_of(msgspec.json.decode(content, type=ChatReply))
        except (ValueError, RecursionError) as error:
            problem = reply_problem(error)
        raise ProviderError(problem, provider=self.name)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._connection.aclose()

    async def _attempt(self, client: Any, wire: list[Any], arguments: dict[str, Any]) -> bytes:
        completions = client.chat.completions.with_streaming_response
        request = completions.create(model=self._model, messages=wire, **arguments)
        return await read(request, CHAT_REPLY_BYTES_MAX)


class OpenAIEmbedder:
    """Embeds through the embeddings endpoint. Texts are cut at 8,000 bytes.

    Args:
        model: Its name at the server.
        api_key: As for `OpenAILLM`.
        base_url: As for `OpenAILLM`.
        dimensions: Asked of the server and checked; None takes what the model gives, which is 0 until the
            first answer where the model is not listed.
        deadline_s: For each request of up to 64 texts, in seconds.

    Raises:
        UsageError: There is neither a key nor a server that may do without one.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimensions: int | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        size = f":{dimensions}" if dimensions else ""
        self._connection = Connection(f"openai:{model}{size}", api_key, base_url)
        self._arguments: dict[str, Any] = {"model": model, "encoding_format": "float"}
        if dimensions:
            self._arguments["dimensions"] = dimensions
        self._dimensions = dimensions or DIMENSIONS.get(model, 0)
        self._deadline_s = deadline_s
        self._accepted = False  # whether the server ever took a text: then a refusal is about the text

    @property
    def name(self) -> str:
        return self._connection.name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def __repr__(self) -> str:
        return f"<OpenAIEmbedder {self.name}, {self._dimensions} dimensions>"

    async def start(self) -> None:
        """Open the client; where the dimensions are not known, embed one word to learn them.

        Raises:
            ProviderError: The server did not answer.
        """
        if self._dimensions:
            await self._connection.client()
        else:
            await self.embed(["dimensions"])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        cut = [cut_to_bytes(text) for text in texts]
        found: list[tuple[list[int], Vectors]] = []
        waiting = list(reversed(batches(cut)))  # a stack: halves of a refused batch go next, in order
        refused: ProviderError | None = None
        refused_count = 0
        while waiting:
            places = waiting.pop()
            try:
                vectors = await self._request([cut[place] for place in places])
            except ProviderError as error:
                if error.status not in (400, 413, 422):
                    raise
                if len(places) > 1:
                    half = len(places) // 2
                    waiting += [places[half:], places[:half]]
                    continue
                refused, refused_count = error, refused_count + 1
                if refused_count > REFUSED_TEXTS_MAX:
                    raise
            else:
                self._accepted = True
                found.append((places, vectors))
        if refused is not None and not self._accepted:
            raise refused
        rows = np.zeros((len(texts), self._dimensions), np.float32)
        for places, vectors in found:
            rows[places] = vectors
        return rows

    async def aclose(self) -> None:
        """Close its connections."""
        await self._connection.aclose()

    async def _request(self, texts: list[str]) -> Vectors:
        async def ask(client: Any) -> bytes:
            endpoint = client.embeddings.with_streaming_response
            return await read(endpoint.create(input=texts, **self._arguments), EMBEDDING_BYTES_MAX)

        content = await self._connection.call(ask, self._deadline_s)
        decode = functools.partial(decoded_vectors, content, len(texts), self._dimensions)
        try:
            if len(content) <= INLINE_BYTES:
                vectors = decode()
            else:  # a hundred thousand numbers take 10 ms
                vectors = await anyio.to_thread.run_sync(
                    decode, limiter=self._connection.limiter, abandon_on_cancel=True
                )
        except (ValueError, RecursionError) as error:
            problem = reply_problem(error)
        else:
            self._dimensions = vectors.shape[1]
            return vectors
        raise ProviderError(problem, provider=self.name)


def decoded_vectors(content: bytes, count: int, dimensions: int) -> Vectors:
    """Unit rows of an embeddings reply, in the order of the texts; `dimensions` 0 takes what there is.

    Raises:
        ValueError: It is not such a reply, or not of `count` vectors of `dimensions` numbers.
    """
    try:
        data = msgspec.json.decode(content, type=EmbeddingReply).data
    except msgspec.DecodeError:
        # A model that overflowed writes NaN or 1e999, which is no JSON: only that text has no vector.
        data = msgspec.convert(json.loads(content), EmbeddingReply).data
    if len(data) != count:
        raise ReplyError(f"{len(data)} vectors for {count} texts")
    places = [entry.index for entry in data]
    if places.count(None) != count:
        # Servers may answer out of order; a place that is missing or stands twice is not to be guessed.
        if sorted(-1 if place is None else place for place in places) != list(range(count)):
            raise ReplyError(f"the places of {count} vectors are not 0 to {count - 1}")
        data.sort(key=lambda entry: entry.index or 0)
    sizes = {len(entry.embedding) for entry in data}
    if sizes != {dimensions or max(sizes)} or 0 in sizes:
        raise ReplyError(
            f"vectors of {min(sizes)} to {max(sizes)} numbers, expected {dimensions or 'one size'}"
        )
    return unit_rows(np.array([entry.embedding for entry in data], np.float64))


def text_of(reply: ChatReply) -> str:
    """The words of a chat reply, or a ReplyError that says what there is instead."""
    if not reply.choices or reply.choices[0].message is None:
        raise ReplyError("the reply has no choices")
    choice, message = reply.choices[0], reply.choices[0].message
    if message.content is None or not message.content.strip():
        ending = choice.finish_reason or ""
        why = "the model refused" if message.refusal else "the reply is empty"
        raise ReplyError(f"{why}, finish reason {ending if SAFE_WORD.fullmatch(ending) else 'unknown'}")
    return message.content


def reply_problem(error: ValueError | RecursionError) -> str:
    """What to say of a reply that could not be used: our own words, or only the kind of the error."""
    return str(error) if isinstance(error, ReplyError) else "the reply is not the JSON it should be"


def other_limit_word(word: str) -> str:
    """The other of the two names that servers know for the length of a reply."""
    return "max_completion_tokens" if word == "max_tokens" else "max_tokens"


def refuses_argument(error: Exception, word: str) -> bool:
    """Whether a 400 is about the argument of that name."""
    if getattr(error, "status_code", 0) not in (400, 422):
        return False
    return getattr(error, "param", None) == word or word in str(getattr(error, "body", ""))


def cut_to_bytes(text: str) -> str:
    """The beginning of a text that is surely within the server's limit of tokens."""
    raw = repaired(text[:TEXT_BYTES_MAX]).encode()[:TEXT_BYTES_MAX]
    return raw.decode(errors="ignore").strip()


def batches(texts: Sequence[str]) -> list[list[int]]:
    """Places of the texts that are not empty, in batches within the server's limits."""
    found: list[list[int]] = []
    size_bytes = REQUEST_BYTES_MAX
    for place, text in enumerate(texts):
        if not text:
            continue
        text_bytes = len(text.encode())
        if size_bytes + text_bytes > REQUEST_BYTES_MAX or len(found[-1]) == REQUEST_TEXTS:
            found.append([])
            size_bytes = 0
        found[-1].append(place)
        size_bytes += text_bytes
    return found
