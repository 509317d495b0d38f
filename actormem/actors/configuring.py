"""Settling a session's settings: what a handle asks for, where it asks for it, and else what stood before."""

import msgspec

from actormem.actors.calibrating import Calibrator
from actormem.actors.messages import Configure
from actormem.actors.services import Services
from actormem.core.session import decide
from actormem.core.session.events import Configured

__all__ = ["settle_on"]


def settle_on(draft: decide.Draft, asked: Configure, calibrator: Calibrator, services: Services) -> None:
    """Decide the settings that follow from the draft's and what is asked, with how the model is counted."""
    old = draft.state.settings
    system = old.system if asked.system is None else asked.system
    tools = old.tools if asked.tools is None else asked.tools
    model = old.model if asked.model is None else asked.model
    found = calibrator.of(model, old)
    wanted = Configured(
        model=model,
        budget=asked.budget or old.budget,
        timezone=old.timezone if asked.timezone is None else asked.timezone,
        policy=asked.policy or old.policy,
        layout=asked.layout or old.layout,
        scope=old.scope if asked.scope is None else asked.scope,
        knowledge=old.knowledge if asked.knowledge is None else asked.knowledge,
        nonce=old.nonce or services.draw_nonce(),
        system_tokens=0,
        tools_tokens=0,
        time_ms=services.clock.now_ms(),
        prices=services.prices_for(model),
        factor=found.factor,
        wide=found.wide,
        extra_tokens=found.extra_tokens,
        text=msgspec.json.encode({"system": system, "tools": tools}).decode(),
    )
    decide.configure(draft, wanted, services.calibrated_for(model, found.factor, found.wide))
