"""What a model sends, recorded on its way to the program that asked: whole answers and streams, of either API."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final, Protocol, TypeVar, cast

import anyio
from openai import AsyncStream
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent

from actormem.integrations.openai_items import Item, as_mapping, messages_of, only_chat
from actormem.integrations.openai_turns import Exchange, Finish

__all__ = ["ChatReply", "RecordedStream", "ResponseReply"]

Part = TypeVar("Part")
Taken_contra = TypeVar("Taken_contra", contravariant=True)

CLOSE_WAIT_S: Final = 5.0  # for a connection that is to be given back
ENDINGS: Final = ("response.completed", "response.incomplete", "response.failed")


class Reply(Protocol[Taken_contra]):
    """Puts together what is streamed, and records it in the exchange."""

    def take(self, part: Taken_contra) -> bool:
        """One part more; False for one that the program did not ask for."""
        ...

    def ended(self) -> None:
        """No more comes."""
        ...


class ChatReply:
    """A reply of chat completions.

    Args:
        hide_usage: The part that tells the usage was asked for by us.
    """

    def __init__(self, exchange: Exchange, *, hide_usage: bool = False) -> None:
        self._exchange = exchange
        self._hide_usage = hide_usage
        self._words: list[str] = []
        self._call_ids: list[str] = []
        self._whole = False

    def whole(self, completion: object) -> None:
        """A reply that came at once; what is no completion is no reply."""
        choices = completion.choices if isinstance(completion, ChatCompletion) else None
        first = next((one for one in choices or () if not one.index), None)
        if first is not None and getattr(first, "message", None) is not None:
            self._exchange.completed(completion, as_mapping(first.message))

    def take(self, part: ChatCompletionChunk) -> bool:
        """One chunk more."""
        self._exchange.feed(part)
        choices = cast("Sequence[Any]", getattr(part, "choices", None) or ())
        for choice in choices:
            if choice.index:
                continue
            self._whole = self._whole or bool(choice.finish_reason)
            delta = choice.delta
            self._words.append(getattr(delta, "content", None) or "")
            calls = getattr(delta, "tool_calls", None) or ()
            self._call_ids += [call.id for call in calls if call.id and call.id not in self._call_ids]
        return bool(choices) or not self._hide_usage or not getattr(part, "usage", None)

    def ended(self) -> None:
        """Tell the exchange what it was fed."""
        calls = [{"id": id} for id in self._call_ids]
        if self._call_ids and not self._whole:
            return  # which of them were whole is known when they are read again
        if any(self._words) or calls:
            message = {"role": "assistant", "content": "".join(self._words), "tool_calls": calls}
            self._exchange.replied(message, whole=self._whole)


class ResponseReply:
    """A reply of the Responses API."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._words: list[str] = []
        self._done = False

    def whole(self, response: object) -> None:
        """A reply that came at once, or at the end of a stream; what is no response is no reply."""
        if not isinstance(response, Response):
            return
        items = [as_mapping(item) for item in response.output or ()]
        message = _answer(items)
        tokens = response.usage.input_tokens if response.usage is not None else 0
        ending = "length" if response.status == "incomplete" else "stop"
        self._done = True
        if message["content"] or message.get("tool_calls"):
            completion = {
                "choices": [{"index": 0, "message": message, "finish_reason": ending}],
                "usage": {"prompt_tokens": tokens},
            }
            self._exchange.completed(completion, message)
        if message.get("tool_calls"):
            self._exchange.log.answers[message["tool_calls"][0]["id"]] = items

    def take(self, part: ResponseStreamEvent) -> bool:
        """One event more."""
        kind = getattr(part, "type", "")
        if kind == "response.output_text.delta":
            self._words.append(cast("Any", part).delta)
        elif kind in ENDINGS:
            self.whole(cast("Any", part).response)
        return True

    def ended(self) -> None:
        """Where the stream broke off, what was said until then is the reply."""
        if not self._done and any(self._words):
            words = "".join(self._words)
            self._exchange.feed({"choices": [{"index": 0, "delta": {"content": words}}]})
            self._exchange.replied({"role": "assistant", "content": words}, whole=False)


def _answer(items: Sequence[Item]) -> Item:
    """The message that these items of one response make; calls that were answered in it are done."""
    done = {item.get("call_id") for item in items if str(item.get("type", "")).endswith("_output")}
    said = [one for one in messages_of(items) if one["role"] == "assistant"]
    words = "\n\n".join(one["content"] for one in said if one["content"])
    calls = [call for one in said for call in one.get("tool_calls") or () if call["id"] not in done]
    return only_chat(
        {"role": "assistant", "content": words or None, **({"tool_calls": calls} if calls else {})}
    )


class RecordedStream(AsyncStream[Part]):
    """A stream of the openai package whose reply is recorded when it ends, by itself or because it is left.

    Attributes:
        finish: What `close` does, without holding the stream; with the error by which it ended, or None.
    """

    def __init__(self, stream: AsyncStream[Part], exchange: Exchange, reply: Reply[Part]) -> None:
        self.__dict__.update(stream.__dict__)
        self._stream = stream
        self.finish = _once(stream, exchange, reply)
        # A function of its own: it must not hold this object, whose end would not be seen then.
        self._iterator = _recorded(stream, reply, self.finish)
        self._loop_count = 0

    async def __aiter__(self) -> AsyncGenerator[Part, None]:
        self._loop_count += 1
        mine = self._loop_count
        try:
            async for part in self._iterator:
                yield part
        finally:
            if mine == self._loop_count:  # no other loop has taken over
                await self.close()

    async def close(self) -> None:
        """Give the connection back, and record what was said."""
        with suppress(
            RuntimeError
        ):  # another task is waiting for a part: it is told that the connection is gone
            await self._iterator.aclose()
        await self.finish(None)


def _once(stream: AsyncStream[Any], exchange: Exchange, reply: Reply[Any]) -> Finish:
    """What is to be done once, however the stream ends."""
    done = False

    async def finish(error: BaseException | None) -> None:
        nonlocal done
        if done:
            return
        done = True
        reply.ended()
        try:
            with anyio.move_on_after(CLOSE_WAIT_S, shield=True):
                await stream.response.aclose()
        finally:
            await exchange.end(error)

    return finish


async def _recorded(
    stream: AsyncStream[Part], reply: Reply[Part], finish: Finish
) -> AsyncGenerator[Part, None]:
    error: BaseException | None = None
    try:
        inner = cast("AsyncGenerator[Part, None]", stream._iterator)  # pyright: ignore[reportPrivateUsage]
        async with aclosing(inner) as parts:
            async for part in parts:
                if reply.take(part):
                    yield part
    except GeneratorExit:
        raise
    except BaseException as broke:
        error = broke
        raise
    finally:
        await finish(error)
