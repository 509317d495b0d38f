"""Documents are cut into passages that stand by themselves, Markdown and plain text, Chinese and English."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.core.knowledge.items import as_told, passage_item
from actormem.core.knowledge.markdown import blocks_of
from actormem.core.knowledge.split import Passage, split
from actormem.core.recall.words import token_count
from actormem.core.summary.excerpt import Asked
from actormem.core.values import Owner

FENCE = "```"


def texts(text: str, title: str = "", *, markdown: bool = True) -> list[str]:
    return [passage.text for passage in split(text, title=title, markdown=markdown)]


def test_every_passage_carries_the_headings_over_it() -> None:
    text = "# A\n\none\n\n## B ##\n\ntwo\n\n#### D\n\nthree\n\n## **E**\n\nfour\n\nF\n=\n\nfive"
    assert texts(text) == ["A\none", "A > B\ntwo", "A > B > D\nthree", "A > E\nfour", "F\nfive"]
    assert texts("## 退款\n\n七天到账。", "店规") == ["店规 > 退款\n七天到账。"]
    assert texts("# 店规\n\n七天到账。", "店规") == ["店规\n七天到账。"], "a title is not told twice"


def test_short_paragraphs_of_one_heading_stand_together_and_long_ones_are_cut_at_sentences() -> None:
    assert texts("one\n\ntwo\n\nthree") == ["one\n\ntwo\n\nthree"]
    sentence = "The kettle of shop number {} is boiled, emptied and dried before it is packed for the road."
    long = " ".join(sentence.format(number) for number in range(60))
    found = texts(long)
    assert " ".join(found) == long
    assert all(token_count(one) <= 200 and one.endswith("road.") for one in found)
    chinese = "".join(f"第{number}号仓库上午收货下午发货。" for number in range(80))
    found = texts(chinese)
    assert "".join(found) == chinese
    assert all(one.endswith("。") for one in found)
    wrapped = texts(long.replace(" is boiled", "\nis boiled"))
    assert " ".join(wrapped) == long, "where prose is wrapped says nothing"


def test_a_fence_is_not_cut_and_nothing_in_it_is_a_heading() -> None:
    code = "\n".join(
        [f"{FENCE}python", *(f"# step {number}\n\nrun({number})" for number in range(120)), FENCE]
    )
    found = texts(f"# Use\n\nBefore.\n\n{code}\n\nAfter.")
    assert [one for one in found if code in one] == [f"Use\n{code}"]
    assert found[0] == "Use\nBefore."
    assert found[-1] == "Use\nAfter."
    longer = "\n".join([FENCE, *(f"line {number} of the log" for number in range(900)), FENCE])
    pieces = texts(longer)
    assert len(pieces) > 1
    assert "\n".join(pieces) == longer, "too long to be one passage, it is cut between lines"


def test_a_long_table_is_cut_between_rows_and_each_piece_has_its_head() -> None:
    rows = [f"| 城市 {number} | {number} days by road and {number + 1} by sea |" for number in range(90)]
    head = "| city | time |\n|---|---|"
    found = texts("\n".join([head, *rows]))
    assert len(found) > 2
    assert all(one.startswith(head) for one in found)
    assert [row for one in found for row in one.splitlines()[2:]] == rows


def test_a_long_list_is_cut_between_its_points() -> None:
    points = [f"- point {number}: send it back in the box it came in" for number in range(60)]
    found = texts("\n".join(points))
    assert len(found) > 2
    assert "\n".join(found).splitlines() == points


def test_front_matter_is_left_out_and_a_rule_is_not_front_matter() -> None:
    assert texts("---\ntitle: Kettles\ntags:\n  - tea\n---\n\nBoil.") == ["Boil."]
    assert "Kettles are here" in texts("---\nKettles are here\n---\n\nBoil.")[0]


def test_plain_text_has_no_headings() -> None:
    assert texts("# not one\n\n```\nnor code", markdown=False) == ["# not one\n\n```\nnor code"]


@pytest.mark.parametrize("text", ["", " \n\t\n", "# Only a heading", "---\na: b\n---"])
def test_a_text_without_words_has_no_passages(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    "text", ["word" * 20_000, "字" * 50_000, "|" * 50_000, "- " * 30_000, "a\n\n" * 20_000]
)
def test_no_text_makes_a_passage_of_any_length(text: str) -> None:
    found = texts(text)
    assert max(map(len, found)) <= 4_100
    assert max(map(token_count, found)) <= 800


MARKS = st.sampled_from(
    ["# ", "## ", "```", "| a | b |", "|---|---|", "- ", "\n", "\n\n", "---", "===", "退款。", "Tea. ", "x"]
)


@settings(max_examples=150)
@given(st.lists(MARKS, max_size=40).map("".join))
def test_no_word_of_any_text_is_lost(text: str) -> None:
    found = "\n".join(f"{passage.path}\n{passage.words}" for passage in split(text, title="t"))
    lines = [
        line.strip("#`|-= \t") for block in blocks_of(text) if block.kind != "heading" for line in block.lines
    ]
    for word in ("退款。", "Tea.", "x"):
        assert found.count(word) >= sum(line.count(word) for line in lines)


def test_a_note_tells_the_sentences_that_answer() -> None:
    words = (
        "Tea is sold by weight. " * 20 + "A refund takes five days. " + "Cups are sold by the dozen. " * 20
    )
    item = passage_item(
        Owner("", "b"), "d", Passage("Shop > Money", words), number=1, time_ms=0, offset=0, now_ms=0
    )
    told = as_told(item, Asked("How long does a refund take?"), 120).text
    assert told.startswith("Shop > Money: ")
    assert "A refund takes five days." in told
    assert len(told) <= 120
    short = passage_item(
        Owner("", "b"), "d", Passage("", "七天到账。"), number=2, time_ms=0, offset=0, now_ms=0
    )
    assert as_told(short, Asked("到账"), 120).text == "七天到账。"
