"""However a program hands over its conversation, a session hears it once: the rule, and generated conversations."""

from typing import Any

import anyio
import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.integrations.openai_history import KEYS_MAX, Log, key_of, new_of, split_system
from tests.edge.scripted_openai import Provider, call, result
from tests.edge.test_openai_client import ADA, assistant, remembering, user


def heard(*messages: dict[str, Any], turn: int = 0) -> Log:
    """A session that has these messages; the last so many belong to a turn that was not answered to its end."""
    log = Log(key_of(one) for one in messages)
    if turn:
        log.asked("t", length=turn)
    return log


def calling(id: str) -> dict[str, Any]:
    return {"role": "assistant", **call(id)}


A, A_, B, C, D = user("a"), assistant("a"), assistant("b"), user("c"), assistant("d")
CALL, RESULT, OTHER = calling("1"), result("1"), result("2")
PART = assistant("par")
NEW = [
    # the session, the request → before the question, the question (None: the turn goes on), after it, stale replies
    (heard(), [A], [], A, [], 0),
    (heard(), [A, B, C], [A, B], C, [], 0),
    (heard(), [A, CALL, RESULT], [], A, [CALL, RESULT], 0),
    (heard(A, B), [A], [], A, [], 0),
    (heard(A, B), [A, B, A], [], A, [], 0),
    (heard(A, B), [A, assistant("polished"), C], [], C, [], 0),
    (heard(A, assistant(" b ")), [B, C], [], C, [], 0),
    (heard(A, turn=1), [A], [], None, [], 0),
    (heard(A, turn=1), [C], [], C, [], 0),
    (heard(A, turn=1), [A, C], [], C, [], 0),
    (heard(A, turn=1), [A, A], [], A, [], 0),
    (heard(A, PART, turn=2), [A], [], None, [], 1),
    (heard(A, PART, turn=2), [A, PART, C], [], C, [], 0),
    (heard(A, PART, turn=2), [A, C], [], C, [], 0),
    (heard(A, CALL, turn=2), [RESULT], [], None, [RESULT], 0),
    (heard(A, CALL, RESULT, turn=3), [RESULT], [], None, [], 0),
    (heard(A, CALL, RESULT, turn=3), [RESULT, OTHER], [], None, [OTHER], 0),
    (heard(A, CALL, turn=2), [RESULT, C], [RESULT], C, [], 0),
    (heard(A, CALL, RESULT, CALL, turn=4), [A, CALL, RESULT, CALL, RESULT], [], None, [RESULT], 0),
    (heard(A, B, C, D), [A, B, C], [], None, [], 1),
    (heard(A, B, C, D, A, B), [A, B, C], [], C, [], 0),
    (heard(user("x"), A_), [A, B, C], [A, B], C, [], 0),
]


@pytest.mark.parametrize(("log", "messages", "before", "question", "after", "stale"), NEW)
def test_what_is_new(log: Log, messages: Any, before: Any, question: Any, after: Any, stale: int) -> None:
    new = new_of(messages, log)
    assert new is not None
    assert (list(new.before), new.question, list(new.after), new.stale_count) == (
        before,
        question,
        after,
        stale,
    )


def test_where_the_log_reaches_not_far_enough_it_says_so() -> None:
    log = heard(*(user(str(number)) for number in range(KEYS_MAX + 1)))
    log.trim()
    assert new_of([user("0"), assistant("?"), user("new")], log) is None
    assert new_of([user("new")], log) is not None
    whole = heard(user("a"))
    whole.trim()
    assert new_of([user("0"), assistant("?"), user("new")], whole) is not None


def test_system_prompts_at_the_beginning_are_the_sessions() -> None:
    parts = [{"type": "text", "text": "Be brief."}]
    given = [{"role": "system", "content": "You help."}, {"role": "developer", "content": parts}, user("a")]
    assert split_system(given) == ("You help.\n\nBe brief.", [user("a")])
    assert split_system([user("a"), given[0]]) == (None, [user("a"), given[0]])


turns = st.lists(
    st.tuples(
        st.sampled_from(["ok", "好", "Track KX-1"]),
        st.integers(0, 2),  # rounds of tools
        st.sampled_from(["", "", "fails", "left"]),  # what goes wrong with the last call of the turn
        st.booleans(),  # whether the program keeps the part it has read
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=15)
@given(turns, st.sampled_from(["whole", "new", "window"]))
def test_a_session_hears_a_conversation_once_however_it_is_told(script: list[Any], how: str) -> None:
    async def main() -> None:
        provider = Provider()
        async with remembering(provider) as (client, runtime):
            program = Program(client, provider, how)
            for number, (words, rounds, fault, keeps) in enumerate(script):
                await program.turn(number, words, rounds, fault, keeps=keeps)
                session = await runtime.spawn("s", user="ada")
                assert [key_of(one_wire(one)) for one in await session.messages()] == program.expected
            assert [key_of(one) for one in provider.sent] == program.expected[: len(provider.sent)]

    anyio.run(main)


def one_wire(message: Any) -> dict[str, Any]:
    calls = [{"id": one.id} for one in message.tool_calls]
    return {
        "role": message.role,
        "content": message.text,
        "tool_calls": calls,
        "tool_call_id": message.tool_call_id,
    }


class Program:
    """A program that talks to the model, and hands over its messages in one of the ways there are."""

    def __init__(self, client: Any, provider: Provider, how: str) -> None:
        self.client, self.provider, self.how = client, provider, how
        self.history: list[Any] = []
        self.expected: list[Any] = []
        self.left = ""  # what was asked last, where its reply was left early

    async def turn(self, number: int, words: str, rounds: int, fault: str, *, keeps: bool) -> None:
        words += (
            "!" if self.how == "new" and words == self.left else ""
        )  # else it would ask for another reply
        self.left = words if fault == "left" else ""
        new: list[Any] = [user(words)]
        for round_number in range(rounds):
            id = f"c{round_number}"  # the same in each turn, as some servers number them
            self.provider.script.append(call(id))
            await self.say(new)
            self.heard({"role": "assistant", **call(id)})
            new = [result(id, f"{number}.{round_number}")]
        if fault == "fails":
            self.provider.script.append(httpx2.Response(500))
            with pytest.raises(openai.APIError):
                await self.client.chat.completions.create(messages=self.told(new), **ADA)
        self.provider.script.append("A reply of some length.")
        if fault == "left":
            async with await self.client.chat.completions.create(
                messages=self.told(new), stream=True, **ADA
            ) as stream:
                await anext(stream)
                await anext(stream)
            self.took(new)
            self.expected.append(key_of(assistant("A re")))
            if keeps:
                self.history.append(assistant("A re"))
            return
        await self.say(new)
        self.heard(assistant("A reply of some length."))

    async def say(self, new: list[Any]) -> None:
        await self.client.chat.completions.create(messages=self.told(new), **ADA)
        self.took(new)

    def took(self, new: list[Any]) -> None:
        self.history += new
        self.expected += map(key_of, new)

    def heard(self, message: Any) -> None:
        self.history.append(message)
        self.expected.append(key_of(message))

    def told(self, new: list[Any]) -> list[Any]:
        whole = [*self.history, *new]
        if self.how == "new":
            return new
        if self.how == "whole":
            return whole
        questions = [place for place, one in enumerate(whole) if one["role"] == "user"]
        return whole[questions[-2] :] if len(questions) > 1 else whole


def test_a_message_is_known_by_a_mark_that_holds_none_of_its_words() -> None:
    message = {"role": "user", "content": "My secret is Timbuktu."}
    assert "Timbuktu" not in str(key_of(message))
    assert key_of(message) == key_of(
        {"role": "user", "content": [{"type": "text", "text": message["content"]}]}
    )
    assert key_of(message) != key_of({"role": "user", "content": "My secret is Lhasa."})
