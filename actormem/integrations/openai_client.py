"""Memory for programs that talk to OpenAI, or to a server that speaks its protocol, through `openai.AsyncOpenAI`.

    import anyio, openai
    import actormem
    from actormem.integrations.openai_client import with_memory

    async def main():
        async with actormem.open("memory/") as runtime, openai.AsyncOpenAI() as plain:
            client = with_memory(plain, runtime)
            stream = await client.chat.completions.create(
                model="gpt-4o",
                messages=[{"role": "user", "content": "那我的订单 KX-48210 退款要多久？"}],
                stream=True,
                session="s-1",
                user="ada",
            )
            async for chunk in stream:
                for choice in chunk.choices:
                    print(choice.delta.content or "", end="")

    anyio.run(main)

`session=` and `user=` (and `tenant=`) say whose conversation a request belongs to; a request without `session=` goes
out as ever, and so does all else of the client. The `user` is memory's: it does not go to the provider
(`safety_identifier=` does).

**Messages.** Give what is new: the user's message, or the results of the tools that the last reply called. Memory puts
the rest before it, within the session's budget. Programs that give the whole conversation each time may go on doing
so: what the session has heard is found in it and never recorded twice; see `openai_history` for the rule. A user
message with an `id` of its own is never doubled, whatever else was said. A system prompt, or `instructions`, is the
session's from then on; what else is to be set of it (`budget`, `policy`, `scope` …) is set by `runtime.spawn`.

**Replies.** Text, tool calls and usage are recorded when the call returns, or when its stream has ended. A loop over a
stream that is left early ends it: what was said so far is recorded, and the connection is free (to look at the first
chunk alone use `anext(stream)`). `async with stream` and `stream.close()` do the same at once. Of several choices the
first is the reply. Where the same question comes again its reply takes the place of the one there was. What memory
could not record is told in the log `actormem.integrations`; the reply is yours all the same.

**Limits.** A request that the model refuses as too long is sent once more, smaller. Streams ask for usage, which takes
a `stream_options` that servers know since 2024; give your own to ask for something else. `with_raw_response`,
`with_streaming_response`, `parse` and `stream` take no `session=`. On trio, leave streams by `async with`: one that is
dropped there is ended only by the next call of its session.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar, Unpack, cast, overload

from openai import AsyncOpenAI, AsyncStream, BadRequestError
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.resources.responses import AsyncResponses
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from typing_extensions import TypedDict

from actormem import Runtime, UsageError
from actormem.integrations.openai_items import Item, as_mapping, items_of, messages_of, only_chat
from actormem.integrations.openai_streams import ChatReply, RecordedStream, ResponseReply
from actormem.integrations.openai_turns import Exchange, Exchanges

__all__ = ["MemoryChat", "MemoryCompletions", "MemoryOpenAI", "MemoryResponses", "with_memory"]

Answer = TypeVar("Answer")

TOO_LONG: Final = "context_length_exceeded"
NOT_WITH_MEMORY: Final = ("previous_response_id", "conversation", "background", "prompt")
RAW_HEADER: Final = "x-stainless-raw-response"


class OfRequest(TypedDict, total=False):
    """What every method of the client takes, and what memory does."""

    extra_headers: Any
    extra_query: Any
    extra_body: Any
    timeout: Any
    session: str
    tenant: str


class ChatParameters(CompletionCreateParamsNonStreaming, OfRequest, total=False):
    """What `chat.completions.create` takes."""


class ChatStreamParameters(CompletionCreateParamsStreaming, OfRequest, total=False):
    """What `chat.completions.create` takes for a stream."""


class ResponseParameters(ResponseCreateParamsNonStreaming, OfRequest, total=False):
    """What `responses.create` takes."""


class ResponseStreamParameters(ResponseCreateParamsStreaming, OfRequest, total=False):
    """What `responses.create` takes for a stream."""


class MemoryCompletions(AsyncCompletions):
    """`chat.completions` with memory."""

    def __init__(self, client: AsyncOpenAI, exchanges: Exchanges) -> None:
        super().__init__(client)
        self._exchanges = exchanges

    @overload
    async def create(self, **parameters: Unpack[ChatParameters]) -> ChatCompletion: ...
    @overload
    async def create(
        self, **parameters: Unpack[ChatStreamParameters]
    ) -> AsyncStream[ChatCompletionChunk]: ...
    @overload
    async def create(
        self, *, stream: bool, session: str = ..., **parameters: Any
    ) -> ChatCompletion | AsyncStream[ChatCompletionChunk]: ...
    async def create(self, **parameters: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As `AsyncCompletions.create`, with `session`, `user` and `tenant`.

        Raises:
            UsageError: Nothing is there to be answered, or an id or a message is none; nothing changed.
        """
        if _given(parameters, "session") is None:
            return cast("Any", await super().create(**_without(parameters, "session")))
        whose = _whose(parameters)
        messages = parameters.pop("messages", ())
        key, exchange = await self._exchanges.begin(
            _listed(messages), model=parameters.get("model"), tools=_given(parameters, "tools"), **whose
        )
        create = super().create

        def ask() -> Awaitable[Any]:
            messages: Any = [only_chat(one) for one in exchange.messages]
            return cast("Awaitable[Any]", create(messages=messages, **parameters))

        if not _given(parameters, "stream"):
            async with exchange:
                completion = await _answered(ask, exchange)
                ChatReply(exchange).whole(completion)
            return cast("ChatCompletion", completion)
        hide_usage = "stream_options" not in parameters
        if hide_usage:
            parameters["stream_options"] = {"include_usage": True}
        stream: Any = await _begun(ask, exchange)
        recorded = RecordedStream[ChatCompletionChunk](
            stream, exchange, ChatReply(exchange, hide_usage=hide_usage)
        )
        self._exchanges.streaming(key, recorded, exchange, recorded.finish)
        return recorded


class MemoryResponses(AsyncResponses):
    """`responses` with memory."""

    def __init__(self, client: AsyncOpenAI, exchanges: Exchanges) -> None:
        super().__init__(client)
        self._exchanges = exchanges

    @overload
    async def create(self, **parameters: Unpack[ResponseParameters]) -> Response: ...
    @overload
    async def create(
        self, **parameters: Unpack[ResponseStreamParameters]
    ) -> AsyncStream[ResponseStreamEvent]: ...
    @overload
    async def create(
        self, *, stream: bool, session: str = ..., **parameters: Any
    ) -> Response | AsyncStream[ResponseStreamEvent]: ...
    async def create(self, **parameters: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As `AsyncResponses.create`, with `session`, `user` and `tenant`.

        The model's own items (reasoning too) go back to it as they came while it works at one question.

        Raises:
            UsageError: Nothing is there to be answered, or an id or an item is none, or the request names a
                conversation that the provider keeps; nothing changed.
        """
        if _given(parameters, "session") is None:
            return cast("Any", await super().create(**_without(parameters, "session")))
        whose = _whose(parameters)
        for name in NOT_WITH_MEMORY:
            if _given(parameters, name):
                raise UsageError(f"{name} does not go with session", hint="memory gives the context")
        given = parameters.pop("input", ())
        key, exchange = await self._exchanges.begin(
            [only_chat(one) for one in messages_of(_items_given(given))],
            model=parameters.get("model"),
            tools=_given(parameters, "tools"),
            system=_given(parameters, "instructions"),
            **whose,
        )
        parameters.pop("instructions", None)
        create = super().create

        def ask() -> Awaitable[Any]:
            return cast("Awaitable[Any]", create(**parameters, **_request(exchange)))

        if not _given(parameters, "stream"):
            async with exchange:
                response = await _answered(ask, exchange)
                ResponseReply(exchange).whole(response)
            return cast("Response", response)
        stream: Any = await _begun(ask, exchange)
        recorded = RecordedStream[ResponseStreamEvent](stream, exchange, ResponseReply(exchange))
        self._exchanges.streaming(key, recorded, exchange, recorded.finish)
        return recorded


class MemoryChat(AsyncChat):
    """`chat` with memory."""

    def __init__(self, client: AsyncOpenAI, exchanges: Exchanges) -> None:
        super().__init__(client)
        self._exchanges = exchanges

    @property
    def completions(self) -> MemoryCompletions:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Chat completions, with memory."""
        return MemoryCompletions(self._client, self._exchanges)


class MemoryOpenAI(AsyncOpenAI):
    """The client it was made of, in another guise: all it holds is that client's, and stays so."""

    _plain: AsyncOpenAI
    _exchanges: Exchanges

    __slots__ = ("_exchanges", "_plain")

    @property
    def chat(self) -> MemoryChat:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Chat, with memory."""
        return MemoryChat(self._plain, self._exchanges)

    @property
    def responses(self) -> MemoryResponses:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Responses, with memory."""
        return MemoryResponses(self._plain, self._exchanges)

    def copy(self, **options: Any) -> "MemoryOpenAI":  # pyright: ignore[reportIncompatibleMethodOverride]
        """As `AsyncOpenAI.copy`; the copy has the same memory."""
        return _in_guise(self._plain.copy(**options), self._exchanges)

    with_options = copy


def with_memory(client: AsyncOpenAI, runtime: Runtime) -> MemoryOpenAI:
    """The same client, whose `chat.completions.create` and `responses.create` take `session`, `user` and `tenant`.

    Args:
        client: An `openai.AsyncOpenAI`, or an object of a class made of it, such as `AsyncAzureOpenAI`. Whoever
            closes either closes both.
        runtime: The memory; requests are made in its event loop.

    Raises:
        UsageError: The client or the runtime is none.
    """
    if not isinstance(client, AsyncOpenAI):
        raise UsageError(f"client must be an openai.AsyncOpenAI, not {type(client).__name__}")
    if not callable(getattr(runtime, "spawn", None)):
        raise UsageError(f"runtime must be an actormem.Runtime, not {type(runtime).__name__}")
    if isinstance(client, MemoryOpenAI):
        raise UsageError("the client has a memory already")
    return _in_guise(client, Exchanges(runtime))


def _in_guise(client: AsyncOpenAI, exchanges: Exchanges) -> MemoryOpenAI:
    guise = type("MemoryOpenAI", (MemoryOpenAI, type(client)), {"__slots__": ()})
    remembering: MemoryOpenAI = guise.__new__(guise)
    remembering.__dict__ = client.__dict__
    remembering._plain, remembering._exchanges = client, exchanges  # pyright: ignore[reportPrivateUsage]
    return remembering


async def _answered(ask: Callable[[], Awaitable[Answer]], exchange: Exchange) -> Answer:
    """The model's answer; where it says that the request is too long, that to a smaller one."""
    try:
        return await ask()
    except BadRequestError as refused:
        if refused.code != TOO_LONG:
            raise
        await exchange.shrink()
        return await ask()


async def _begun(ask: Callable[[], Awaitable[Answer]], exchange: Exchange) -> Answer:
    """The stream; where there is none the exchange has ended."""
    try:
        return await _answered(ask, exchange)
    except BaseException as error:
        await exchange.end(error)
        raise


def _request(exchange: Exchange) -> Item:
    """Instructions and items of the exchange's context; what the model said at this question as it said it."""
    first, *rest = exchange.messages
    system = first["role"] == "system"
    items: list[Item] = []
    for message in rest if system else exchange.messages:
        calls = message.get("tool_calls") or ()
        said = exchange.log.answers.get(calls[0]["id"]) if calls else None
        items += items_of([only_chat(message)]) if said is None else said
    return {"instructions": first["content"], "input": items} if system else {"input": items}


def _given(parameters: Item, name: str) -> Any:
    """The parameter, or None where it was left out in one of openai's ways."""
    value = parameters.get(name)
    return None if type(value).__name__ in ("NotGiven", "Omit") else value


def _without(parameters: Item, name: str) -> Any:
    return {key: value for key, value in parameters.items() if key != name}


def _whose(parameters: Item) -> dict[str, Any]:
    """Whose conversation it is, taken out of the parameters.

    Raises:
        UsageError: No user is named, or the answer is asked for in a form that is not read here.
    """
    headers = cast("dict[str, Any]", _given(parameters, "extra_headers") or {})
    if any(name.lower() == RAW_HEADER for name in headers):
        raise UsageError("session goes with create alone", hint="not with with_raw_response and its like")
    user = _given(parameters, "user")
    if user is None:
        raise UsageError("a request with session must name the user, too")
    found = {
        "session": _given(parameters, "session"),
        "user": user,
        "tenant": _given(parameters, "tenant") or "",
    }
    for name in found:
        parameters.pop(name, None)
    return found


def _listed(given: Any) -> Sequence[object]:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise UsageError(f"messages must be a list of mappings, not {type(given).__name__}")
    return list(given)


def _items_given(given: Any) -> list[Item]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    try:
        return [as_mapping(one) for one in _listed(given)]
    except TypeError:
        raise UsageError("input must be text or a list of items") from None
