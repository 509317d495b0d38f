"""Conversations under every layout, and what chat templates demand.

Law of the file: the checks know the wire alone. The templates refuse what the published ones of their family
refuse, in the same words as their Jinja source, written down here as code.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from actormem.core.context.assembly import Part, rendered, sections, total_tokens
from actormem.core.context.layout import Layout
from actormem.core.context.shorten import BARE_MARK
from actormem.core.session.decide import fit_joined
from actormem.core.wire import has_parts
from tests.conversations import NOW_MS, Driver, check_groups, stands_for, wire_tokens, words

LAYOUTS = tuple(
    Layout(notes=notes, join=join)
    for notes in ("append", "volatile", "head")
    for join in ("own", "none", "all")
)
Wire = Mapping[str, Any]


class TemplateError(Exception):
    """What `raise_exception` of a chat template is."""


def strict_template(messages: Sequence[Wire]) -> None:
    """Llama 2 and Gemma: one system message in front, then user and assistant in turn. They know no tools."""
    loop = messages[1:] if messages and messages[0]["role"] == "system" else messages
    for place, message in enumerate(loop):
        if (message["role"] == "user") != (place % 2 == 0) or message["role"] not in ("user", "assistant"):
            raise TemplateError(f"roles must alternate user/assistant/user/assistant: {message['role']}")


def tools_template(messages: Sequence[Wire]) -> None:
    """Mistral: as above, calls and their results not counted; results stand right behind their calls."""
    loop = messages[1:] if messages and messages[0]["role"] == "system" else messages
    spoken = [one for one in loop if one["role"] != "tool" and not one.get("tool_calls")]
    strict_template(spoken)
    for before, message in zip([{"role": ""}, *loop], loop, strict=False):
        if message["role"] not in ("user", "assistant", "tool"):
            raise TemplateError(f"only user, assistant and tool, not {message['role']}")
        if message["role"] == "tool" and before["role"] != "tool" and not before.get("tool_calls"):
            raise TemplateError("a result without its call")


class LayoutDriver(Driver):
    """A driver that checks each context as its layout promises."""

    def __init__(self, layout: Layout, counter: Any = None) -> None:
        super().__init__(layout=layout)
        self.parts: Sequence[Part] = ()
        self._counter = counter
        self._counted_by: Any = None
        self._shown: list[Any] = []
        self._shown_for = (-1, -1)

    @property
    def counter(self) -> Any:
        return self._counter or super().counter

    def _parts(self) -> Sequence[Part]:
        self._decide(self._fit_joined)
        return self.parts

    def _fit_joined(self, draft: Any) -> None:
        same = self._counted_by is self.counter
        known = {part.wire: part.tokens for part in self.parts} if same else {}
        self.parts, self._counted_by = fit_joined(draft, self.counter, NOW_MS, known), self.counter

    def _check(self) -> None:
        parts, settings = self._parts(), self.state.settings
        messages = json.loads(json.dumps(rendered(parts)))
        total = total_tokens(parts, settings)
        counted = wire_tokens(messages, settings.tools, self.counter.count)
        assert counted <= total <= settings.budget.context, "over the budget"
        assert total == sum(section.tokens for section in sections(parts, self.state))
        if self.state.settings.layout.join != "all":
            assert total == self.state.tokens
        self._check_roles(messages)
        newest = self.state.newest_user
        no_room = newest is None or (newest.sequence in self.state.out and has_parts(newest.message))
        if (
            self._user is not None and not no_room
        ):  # a picture that costs more than the budget cannot be shown
            assert any(self._holds(message) for message in messages), "no newest user message"
        self._check_prefix(messages)

    def _check_roles(self, messages: Sequence[Any]) -> None:
        check_groups(messages, self.state.open_calls)
        for message in messages:
            if "<memory-" in words(message.get("content")):
                assert message["role"] != "system" or message == messages[0]
        if self.state.settings.layout.join == "all":
            tools_template(messages)
            if not any(message["role"] == "tool" or message.get("tool_calls") for message in messages):
                strict_template(messages)

    def _holds(self, shown: Wire) -> bool:
        assert self._user is not None
        if self.state.settings.layout.join != "all":
            return stands_for(shown, self._user)
        old, new = words(self._user.get("content")), words(shown.get("content"))
        return shown["role"] == "user" and (
            old in new or "left out here by memory" in new or BARE_MARK in new
        )

    def _check_prefix(self, messages: list[Any]) -> None:
        newest = self.state.newest_user
        turn = newest.sequence if newest and not self.state.settings.layout.keeps_notes else 0
        shown_for = (self.state.epoch_count, turn)
        if shown_for == self._shown_for and self._shown:
            firm = len(self._shown) - (self.state.settings.layout.join == "all")
            assert messages[:firm] == self._shown[:firm], "the prefix of an epoch changed"
            if firm < len(self._shown):
                old, new = self._shown[firm], messages[firm]
                assert old["role"] == new["role"]
                assert words(new.get("content")).startswith(words(old.get("content")))
        self._shown, self._shown_for = messages, shown_for


class CostlyJoins:
    """Counts texts so that joined they take more than apart: the worst a vocabulary could do."""

    name, exact = "costly joins", True

    def count(self, text: str) -> int:
        return -(-len(text) // 9) + (len(text) // 64) ** 2

    def truncate(self, text: str, tokens: int) -> str:
        while self.count(text) > tokens:
            text = text[: len(text) * 7 // 8]
        return text
