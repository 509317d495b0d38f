"""`actormem stress`: a bundled dialogue that is hard to remember rightly, and what was remembered wrongly of it.

Contradictions, repeats, negations, what others are and do, suppositions, quotations, small talk and reversals, by an
English and a Chinese speaker. Law: rules alone, no LLM, no network; the same dialogue gives the same table.
"""

import argparse
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Literal

import msgspec

import actormem
from actormem import Item, Runtime
from actormem.cli.show import LINE_COLUMNS, clip, plain, table

__all__ = ["Mistake", "Truth", "add_stress", "judged", "stress"]

RIGHT_SHARE_MIN = 0.7  # of the truths; below it extraction has become worse than it was when this was written
JUNK_MAX = 2  # items that nobody should have remembered
ABOUT = """\
Plays a bundled dialogue in English and Chinese, full of contradictions, repeats, negations, irrelevant talk and
reversals, through a runtime of its own: no LLM, no key, no network. Then compares what is remembered with what a
careful listener would have, and prints what was missed, what is stale, and what is junk."""


class Said(msgspec.Struct, frozen=True):
    """A turn."""

    user: str
    reply: str


class Truth(msgspec.Struct, frozen=True):
    """Something a careful listener knows at the end.

    Attributes:
        about: What it is.
        attributes: Those that an item of it may have; any where there is none.
        values: One of these stands in a live item; none need be where there is none.
        gone: None of these stands in a live item.
    """

    about: str
    attributes: list[str]
    values: list[str]
    gone: list[str]


class Dialogue(msgspec.Struct, frozen=True):
    """What one speaker says, and what is true of him at the end."""

    user: str
    turns: list[Said]
    truth: list[Truth]


class Mistake(msgspec.Struct, frozen=True):
    """Something remembered wrongly: `missed`, `stale` (what is no longer so, or never was) or `junk`."""

    user: str
    kind: Literal["missed", "stale", "junk"]
    about: str
    item: str = ""


class Judgement(msgspec.Struct, frozen=True):
    """All of it."""

    truth_count: int
    right_count: int
    mistakes: list[Mistake]

    @property
    def passes(self) -> bool:
        """Whether it is no worse than the stated floor."""
        junk_count = sum(one.kind == "junk" for one in self.mistakes)
        return self.right_count >= RIGHT_SHARE_MIN * self.truth_count and junk_count <= JUNK_MAX


def add_stress(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    play = add_parser(
        "stress",
        help="play a dialogue of reversals and noise: what was remembered wrongly?",
        description=ABOUT,
    )
    play.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    play.set_defaults(run=stress)


async def stress(options: argparse.Namespace) -> int:
    """Play, compare, print; 1 where it is worse than the stated floor."""
    dialogues = msgspec.json.decode(
        files("actormem.cli").joinpath("stress_dialogue.json").read_bytes(), type=list[Dialogue]
    )
    right_count, mistakes = 0, list[Mistake]()
    async with actormem.open(None, embedder="hashing") as runtime:
        for dialogue in dialogues:
            items = await _played(runtime, dialogue)
            found = judged(dialogue.user, dialogue.truth, items)
            wrong = {one.about for one in found}
            right_count += sum(one.about not in wrong for one in dialogue.truth)
            mistakes += found
    result = Judgement(sum(len(one.truth) for one in dialogues), right_count, mistakes)
    turns = sum(len(one.turns) for one in dialogues)
    print(_json(result) if options.json else _table(result, turns))
    return 0 if result.passes else 1


async def _played(runtime: Runtime, dialogue: Dialogue) -> tuple[Item, ...]:
    session = await runtime.spawn("stress", user=dialogue.user)
    for said in dialogue.turns:
        async with session.turn(said.user) as turn:
            turn.reply(said.reply)
    await runtime.settle()
    return await runtime.items(dialogue.user, kinds=["fact", "preference", "event"])


def judged(user: str, truth: Sequence[Truth], items: Sequence[Item]) -> list[Mistake]:
    """What is wrong with live items about the speaker himself; what is said of others is let be."""
    own = [item for item in items if item.subject == "user"]
    found: list[Mistake] = []
    explained: set[str] = set()
    for one in truth:
        near = [item for item in own if not one.attributes or item.attribute in one.attributes]
        right = {item.id for item in near if _holds(item, one.values)}
        stale = [item for item in near if _holds(item, one.gone) and item.id not in right]
        explained |= right | {item.id for item in stale}
        if one.values and not right:
            found.append(Mistake(user, "missed", one.about))
        found += [Mistake(user, "stale", one.about, item.text) for item in stale]
    found += [Mistake(user, "junk", item.attribute, item.text) for item in own if item.id not in explained]
    return found


def _holds(item: Item, words: Sequence[str]) -> bool:
    text = f"{item.value}\n{item.text}".casefold()
    return any(word.casefold() in text for word in words)


def _json(result: Judgement) -> str:
    body = {
        "truth_count": result.truth_count,
        "right_count": result.right_count,
        "passes": result.passes,
        "mistakes": result.mistakes,
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()


def _table(result: Judgement, turns: int) -> str:
    head = ("speaker", "mistake", "about", "what is remembered")
    rows = [
        (one.user, one.kind, one.about, clip(plain(one.item), LINE_COLUMNS // 2)) for one in result.mistakes
    ]
    floor = f"the floor is {RIGHT_SHARE_MIN:.0%}, and {JUNK_MAX} items of junk"
    told = f"{turns} turns: {result.right_count} of {result.truth_count} remembered rightly ({floor})."
    return f"{table([head, *rows])}\n\n{told}" if rows else told
