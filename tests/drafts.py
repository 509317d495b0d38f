"""The beginning of a session's working memory, for tests of what is decided without an actor."""

import json

from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.budget import Budget
from actormem.core.session import events as ev
from actormem.core.session.decide import Draft, configure
from actormem.core.session.working import Working

__all__ = ["TOKENIZER", "begun"]

TOKENIZER = ToktokTokenizer()


def begun(budget: Budget, system: str = "") -> Draft:
    draft = Draft(Working())
    asked = ev.Configured(
        model="",
        budget=budget,
        timezone="",
        nonce="5eed5eed",
        system_tokens=0,
        tools_tokens=0,
        time_ms=1,
        text=json.dumps({"system": system, "tools": ""}),
    )
    configure(draft, asked, TOKENIZER)
    return draft
