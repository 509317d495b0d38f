"""A model that breaks a promise fails the check of that promise: chat models, warmers, embedders with a server.

There is one adapter here, which keeps every promise but those it is told to break.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import numpy as np
import pytest

from actormem.errors import ProviderError
from actormem.testing import contracts
from actormem.testing.contracts import KEY, Server
from tests.contract.breaking import broken


class RefusedError(Exception):
    """What a client of a server raises; tells what the server said."""


class Client:
    """A client of the server that a check asks for, as careless as such clients are."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def send(self, body: object) -> str:
        """What the server replies."""
        self.server.requests.append(body)
        await anyio.lowlevel.checkpoint()
        match self.server.behaviour:
            case "gone":
                raise ConnectionError
            case "refuses":
                raise RefusedError(f"{KEY} may not say {msgspec.json.encode(body).decode()}")
            case "hangs" | "drips":
                await anyio.sleep_forever()
            case "blank":
                return " "
            case "garbage":
                return "<html>"
            case _:
                return "a reply"
        raise AssertionError


class Model:
    """A chat model, a warmer and an embedder at once, over one client.

    Args:
        breaks: What it does wrong.
    """

    name, window_tokens, dimensions = "model", 8_000, 4

    def __init__(self, server: Server, *, breaks: str = "") -> None:
        self._client = Client(server)
        self._breaks = breaks

    async def start(self) -> None:
        """Nothing to do."""

    async def aclose(self) -> None:
        """Nothing to do."""

    async def complete(self, messages: Any, *, tokens_max: int, deadline_s: float, schema: Any = None) -> str:
        body = {"messages": [] if self._breaks == "words" else messages}
        if self._breaks != "schema":
            body["schema"] = schema
        reply = await self._sent(body, deadline_s)
        if reply == "<html>" and self._breaks == "garbage":
            return reply
        if self._breaks != "blank" and not reply.strip():
            raise ProviderError("blank", provider=self.name)
        if reply == "<html>":
            raise ProviderError("no reply", provider=self.name)
        return reply

    async def warm(self, model: str, messages: Any, tools: Any, *, deadline_s: float) -> None:
        body = {"messages": messages, "tools": [] if self._breaks == "words" else tools}
        for _ in range(2 if self._breaks == "twice" else 1):
            await self._sent(body, deadline_s)

    async def embed(self, texts: Sequence[str]) -> Any:
        reply = await self._sent({"texts": texts}, 1e9)
        if reply == "<html>" and self._breaks != "garbage":
            raise ProviderError("no reply", provider=self.name)
        return np.zeros((len(texts), 4), np.float32)

    async def _sent(self, body: object, deadline_s: float) -> str:
        if self._breaks == "deaf":
            with anyio.move_on_after(40, shield=True):
                return await self._guarded(body, deadline_s)
            return "too late"
        return await self._guarded(body, deadline_s)

    async def _guarded(self, body: object, deadline_s: float) -> str:
        patient = self._breaks in ("patient", self._client.server.behaviour)
        try:
            with anyio.fail_after(1e6 if patient else deadline_s):
                return await self._client.send(body)
        except TimeoutError:
            raise ProviderError("no answer", provider=self.name) from None
        except (RefusedError, ConnectionError) as error:
            if self._breaks == type(error).__name__:
                raise
            if self._breaks == "chatty":
                raise ProviderError("see above", provider=self.name) from error
            told = str(error) if self._breaks == "echo" else "refused"
        raise ProviderError(told or "gone", provider=self.name)


LLMS: Mapping[str, set[str]] = {
    "words": {"promise_1_a_reply_is_its_text"},
    "blank": {"promise_1_a_blank_reply_is_a_provider_error"},
    "garbage": {"promise_1_a_reply_that_is_none_is_a_provider_error"},
    "ConnectionError": {"promise_1_a_server_that_is_gone_is_a_provider_error"},
    "hangs": {"promise_2_a_server_that_hangs_is_left_at_the_deadline"},
    "drips": {"promise_2_a_server_that_drips_is_left_at_the_deadline"},
    "RefusedError": {"promise_3_a_refusal_holds_no_prompt_and_no_key"},
    "chatty": {"promise_3_a_refusal_holds_no_prompt_and_no_key"},
    "echo": {"promise_3_a_refusal_holds_no_prompt_and_no_key"},
    "schema": {"promise_4_a_schema_is_passed_on_and_any_reply_taken"},
}
WARMERS: Mapping[str, set[str]] = {
    "words": {"promise_1_one_request_holds_the_messages_and_the_tools"},
    "twice": {"promise_1_one_request_holds_the_messages_and_the_tools"},
    "hangs": {"promise_2_a_server_that_hangs_is_left_at_the_deadline"},
    "drips": {"promise_2_a_server_that_drips_is_left_at_the_deadline"},
    "RefusedError": {"promise_3_a_refusal_is_a_provider_error_without_prompt_or_key"},
    "echo": {"promise_3_a_refusal_is_a_provider_error_without_prompt_or_key"},
    "ConnectionError": {"promise_3_a_server_that_is_gone_is_a_provider_error"},
}
EMBEDDERS: Mapping[str, set[str]] = {
    "RefusedError": {"promise_4_a_server_that_refuses_is_a_provider_error"},
    "echo": {"promise_4_a_server_that_refuses_is_a_provider_error"},
    "ConnectionError": {"promise_4_a_server_that_is_gone_is_a_provider_error"},
    "garbage": {"promise_4_a_reply_that_is_none_is_a_provider_error"},
}
PORTS: Mapping[str, tuple[Sequence[Any], Mapping[str, set[str]]]] = {
    "LLM": (contracts.LLM, LLMS),
    "Warmer": (contracts.WARMER, WARMERS),
    "Embedder": (contracts.REMOTE_EMBEDDER, EMBEDDERS),
}
WRONG = [(port, breaks) for port, (_, table) in PORTS.items() for breaks in table]
DEAF = "promise_{}_a_cancelled_caller_does_not_wait"


@pytest.mark.parametrize("port", PORTS)
def test_a_model_that_breaks_nothing_fails_nothing(port: str) -> None:
    assert broken(PORTS[port][0], Model) == set()


@pytest.mark.parametrize(("port", "breaks"), WRONG)
def test_a_wrong_model_fails_its_check_and_no_other(port: str, breaks: str) -> None:
    checks, table = PORTS[port]
    assert broken(checks, partial(Model, breaks=breaks)) == table[breaks]


@pytest.mark.parametrize(("port", "number"), [("LLM", 2), ("Warmer", 2), ("Embedder", 3)])
def test_a_model_that_hears_no_cancelling_fails_its_check(port: str, number: int) -> None:
    assert DEAF.format(number) in broken(PORTS[port][0], partial(Model, breaks="deaf"))


@pytest.mark.parametrize("port", PORTS)
def test_each_check_has_a_wrong_model(port: str) -> None:
    checks, table = PORTS[port]
    names = {check.name for check in checks}
    assert names - set().union(*table.values()) <= {DEAF.format(2), DEAF.format(3)}


def test_a_check_names_what_was_raised_and_what_was_promised() -> None:
    [check] = [one for one in contracts.LLM if "gone" in one.name]
    make: Callable[[Server], Any] = partial(Model, breaks="ConnectionError")
    with pytest.raises(contracts.BrokenPromiseError) as caught:
        anyio.run(check, make)
    assert str(caught.value) == (
        "LLM, promise 1: A server that cannot be reached is a ProviderError.\nConnectionError was raised"
    )
    assert isinstance(caught.value, AssertionError), "any test runner counts it as a failure"
