"""Whatever a model replies: nothing is raised, and what is believed stands in its message in these very characters."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.core.facts.found import Found
from actormem.core.facts.reply import read_facts
from actormem.core.facts.request import Said, extraction_request
from actormem.core.facts.worth import worth
from actormem.testing import strategies

TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "My cabin stands near Bergen, and the budget is 10,000 kroner until 2031-06-30.",
            "我女儿小雨每周三晚上学钢琴，学费一万元。",
            "> quoted\n```code``` İstanbul ﬁne ＡＢＣ１２３ 'I said so'",
        ]
    ),
)
PIECES = st.one_of(
    TEXTS, st.sampled_from(["Bergen", "10000", "小雨", "一万", "ABC123", "user", "friend 小雨"])
)


FACTS = st.lists(strategies.fact_rows(PIECES) | strategies.json_values(PIECES), max_size=3)


def holds(one: Found) -> bool:
    said, fact = one.said, one.fact
    return (
        fact.quote in said.text
        and fact.value in fact.quote
        and fact.value in fact.text
        and 0 <= fact.importance <= 1
        and 0 < fact.confidence <= 1
        and one.event_ms <= said.time_ms
    )


@settings(max_examples=60)
@given(
    text=TEXTS,
    facts=st.lists(strategies.fact_rows(PIECES) | strategies.json_values(PIECES), max_size=3),
    whole=st.booleans(),
)
def test_what_is_believed_of_any_reply_stands_in_its_message(
    text: str, facts: list[Any], whole: bool
) -> None:
    said = Said(session_id="s", message_id="u", text=text, time_ms=1_900_000_000_000)
    quoted = [{**one, "quote": text} if whole and isinstance(one, dict) else one for one in facts]
    read = read_facts(json.dumps({"facts": quoted}), [said])
    if read is not None:
        assert all(map(holds, read.found))
        assert len(read.found) + read.refused_count == len(facts)


@settings(max_examples=60)
@given(reply=st.text(max_size=80), text=st.text(max_size=80))
def test_no_reply_and_no_message_raises(reply: str, text: str) -> None:
    said = Said(session_id="s", message_id="u", text=text, before=reply)
    read_facts(reply, [said])
    assert 0 <= worth(text, previous=reply).score <= 1
    assert extraction_request([said], window_tokens=2_000, count=len).said == (said,)
