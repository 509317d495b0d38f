"""Exact values outlive every compaction: in the context while their share lasts, in the note once words name them."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from actormem import Budget
from actormem.core.context.assembly import assemble
from actormem.core.context.blocks import plan_compaction
from actormem.core.session.decide import Draft, add_message, fit, swap_block
from actormem.core.wire import message_tokens, parse_message
from tests.drafts import TOKENIZER, begun
from tests.runtimes import ScriptedLLM, answered, opened, words
from tests.value_logs import coding_log, probes_of, service_log


def add(draft: Draft, message: dict[str, Any]) -> None:
    parsed = parse_message(message)
    add_message(draft, parsed, message_tokens(parsed, TOKENIZER.count), TOKENIZER)


def compact(draft: Draft) -> None:
    """Whatever is due is compacted, and the summary says nothing."""
    plan = plan_compaction(draft.state)
    if plan is not None:
        swap_block(draft, plan, "", "model", TOKENIZER, 1)


def shown(draft: Draft) -> str:
    fit(draft, TOKENIZER, 1)
    assert draft.state.tokens <= draft.state.settings.budget.context
    return "\n".join(part.wire for part in assemble(draft.state))


@pytest.mark.parametrize("log", [service_log, coding_log])
@pytest.mark.parametrize(("room", "system"), [(500, ""), (500, "Be brief. " * 300), (700, ""), (1_000, "")])
def test_what_a_tool_is_called_with_is_in_sight_though_the_summaries_say_nothing(
    log: Callable[[], list[dict[str, Any]]], room: int, system: str
) -> None:
    messages = log()
    prompt = begun(Budget(context=10_000), system).state.fixed_tokens
    draft = begun(Budget(context=prompt + room), system)
    probes = probes_of(messages)
    missed: list[tuple[int, str, int]] = []
    for place, message in enumerate(messages):
        here = [probe for probe in probes if probe[0] == place]
        if here:
            text = shown(draft)
            missed += [probe for probe in here if probe[1] not in text]
        add(draft, message)
        compact(draft)
    assert len(probes) > 20
    assert len(missed) <= (1 if room == 500 else 0), missed


@pytest.mark.parametrize(
    ("say", "few"),
    [
        (
            "My order is KX-{0:05d} and the parcel {0} is late. ",
            "My budget is $4,310 and my flight is UA1877.",
        ),
        ("我的订单号是 KX-{0:05d}，第 {0} 件还没到。", "我的预算是 4310 元，航班号是 UA1877。"),
    ],
)
def test_fifty_compactions_that_drop_everything_lose_no_value_of_the_table_and_keep_the_rare_ones_in_sight(
    say: str, few: str
) -> None:
    draft = begun(Budget(context=600))
    add(draft, {"role": "user", "content": few})
    number = 0
    while draft.state.compaction_count < 50:
        add(draft, {"role": "user", "content": "".join(say.format(number + more) for more in range(8))})
        add(draft, {"role": "assistant", "content": "OK."})
        shown(draft)
        compact(draft)
        number += 8
        assert number < 2_000
    values = {row.entity.value for row in draft.state.entities.rows.values()}
    assert {f"KX-{one:05d}" for one in range(number)} <= values
    text = shown(draft)
    assert "UA1877" in text
    assert "4310" in text.replace(",", "")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("prefix", "rare", "asked"),
    [
        (
            "Order ",
            "My budget is $4,310, my flight UA1877 and my phone 415-555-0132.",
            [
                ("What was my budget again?", "$4,310"),
                ("When does my flight leave?", "UA1877"),
                ("Where is the order that ends in 0777-B?", "KX-0777-B"),
                ("Which phone did I give you?", "415-555-0132"),
            ],
        ),
        (
            "订单号 ",
            "我的预算是 4310 元，航班号是 UA1877，电话是 13718820466。",
            [
                ("我的预算是多少来着？", "4310 元"),
                ("我的航班是哪一班？", "UA1877"),
                ("尾号 0777-B 的那一单到哪了？", "KX-0777-B"),
                ("我留的电话是什么？", "13718820466"),
            ],
        ),
    ],
)
async def test_of_two_thousand_values_the_note_brings_back_those_whose_key_or_part_is_named(
    prefix: str, rare: str, asked: Sequence[tuple[str, str]]
) -> None:
    async with opened(llm=ScriptedLLM(lambda _: "")) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=900, entities=0))
        await session.add({"role": "user", "content": rare})
        for place in range(0, 2_000, 100):
            ids = ", ".join(f"KX-{number:04d}-B" for number in range(place, place + 100))
            await session.add({"role": "user", "content": prefix + ids})
        for said, value in asked:
            messages = await answered(session, said)
            assert value in words(messages[-2:]), said
            await answered(session, "Thank you, that will do." if said.isascii() else "好的，谢谢。")
