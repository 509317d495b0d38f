"""A state as bytes: read back as it was, or not at all."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actormem.core.context.assembly import assemble
from actormem.core.prices import Prices
from actormem.core.session import snapshot as snapshots
from actormem.core.session.snapshot import decode_state, encode_state
from actormem.core.session.working import Ready, Working
from actormem.core.values import Message
from tests.conversations import Driver, conversations, replayed

many = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def state_of_a_life() -> Working:
    driver = Driver()
    budget = snapshots.Settings().budget
    driver.take(("configure", msgspec.structs.replace(budget, context=400), "Be brief.", "", "gpt-4o"))
    for number in range(12):
        driver.take(("message", "user", f"订单 KX-{number:05d} 呢？" + "word " * 20))
        driver.take(("group", [("c1", '{"q": 1}')], None, ["x " * 400]))
        driver.take(("swap", "摘要"))
    return driver.state


@many
@given(conversations)
def test_any_state_is_read_back_as_it_was(conversation: Any) -> None:
    driver = Driver()
    driver.take(conversation[0])
    for step, _ in conversation[1]:
        driver.take(step)
    back = decode_state(encode_state(driver.state))
    assert back == driver.state == replayed(driver.events)
    assert assemble(back) == assemble(driver.state)


def test_a_summary_that_waits_and_blocks_out_of_view_are_read_back() -> None:
    state = state_of_a_life_once()
    assert state.blocks
    ready = Ready(first=1, last=state.entries[-1].sequence, merges=True, summary="摘要", method="llm")
    waiting = msgspec.structs.replace(state, ready=ready, dropped=state.blocks, blocks=())
    assert decode_state(encode_state(waiting)) == waiting


def test_every_field_of_the_state_is_in_its_snapshot() -> None:
    assert set(Working.__struct_fields__) == set(snapshots.Snapshot.__struct_fields__) - {"version"}


def test_an_entry_row_holds_every_field_of_a_message_that_its_wire_does_not() -> None:
    state = state_of_a_life()
    entries = [
        msgspec.structs.replace(
            entry,
            message=msgspec.structs.replace(
                entry.message, id=f"é-{place}", time_ms=-place, offset_minutes=-330
            ),
        )
        for place, entry in enumerate(state.entries)
    ]
    changed = msgspec.structs.replace(state, entries=tuple(entries), out=frozenset({3, 1}))
    assert decode_state(encode_state(changed)) == changed
    assert {"id", "time_ms", "offset_minutes", "wire"} < set(Message.__struct_fields__)


@given(st.data())
def test_a_flipped_bit_anywhere_gives_nothing(data: st.DataObject) -> None:
    body = bytearray(encode_state(state_of_a_life_once()))
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] ^= 1 << data.draw(st.integers(0, 7))
    assert decode_state(bytes(body)) is None


def test_bytes_cut_off_at_any_place_give_nothing() -> None:
    body = encode_state(state_of_a_life_once())
    for end in range(0, len(body), 7):
        assert decode_state(body[:end]) is None
    assert decode_state(body + b"\0") is None


@pytest.mark.parametrize(
    "body", [b"", b"\0", b"\x90", b"\xc1" * 40, b"{}", b"\x80", b"[" * 100_000, b"\x91" * 100_000]
)
def test_bytes_of_something_else_give_nothing(body: bytes) -> None:
    assert decode_state(body) is None
    assert decode_state(snapshots._check(body) + body) is None


@pytest.mark.parametrize("wire", ["{", "[1]", "7", '{"role":"root"}', '{"role":"user","content":7}', ""])
def test_a_snapshot_with_a_message_that_is_none_gives_nothing(wire: str) -> None:
    state = state_of_a_life_once()
    entry = state.entries[0]
    forged = msgspec.structs.replace(entry, message=msgspec.structs.replace(entry.message, wire=wire))
    assert decode_state(encode_state(msgspec.structs.replace(state, entries=(forged,)))) is None


def test_a_snapshot_keeps_how_the_model_is_counted_and_one_without_it_is_read() -> None:
    state = state_of_a_life_once()
    counted = msgspec.structs.replace(
        state.settings, prices=Prices(image_base_tokens=7), factor=1.25, wide=True, extra_tokens=20
    )
    state = msgspec.structs.replace(state, settings=counted)
    assert decode_state(encode_state(state)) == state
    fields = msgspec.msgpack.decode(encode_state(state)[snapshots.CHECK_BYTES :])
    for name in ("prices", "factor", "wide", "extra_tokens"):
        del fields["settings"][name]
    older = msgspec.msgpack.encode(fields)
    read = decode_state(snapshots._check(older) + older)
    assert read is not None
    assert (read.settings.factor, read.settings.prices) == (0.0, Prices())


def test_a_snapshot_of_another_version_gives_nothing() -> None:
    body = encode_state(state_of_a_life_once())[snapshots.CHECK_BYTES :]
    fields = msgspec.msgpack.decode(body)
    fields["version"] += 1
    other = msgspec.msgpack.encode(fields)
    assert decode_state(snapshots._check(other) + other) is None
    fields["version"] -= 1
    same = msgspec.msgpack.encode(fields)
    assert decode_state(snapshots._check(same) + same) is not None


def test_a_snapshot_holds_the_words_so_that_what_erases_words_must_erase_it() -> None:
    assert json.dumps("KX-00011")[1:-1].encode() in encode_state(state_of_a_life_once())


LIFE: list[Working] = []


def state_of_a_life_once() -> Working:
    if not LIFE:
        LIFE.append(state_of_a_life())
    return LIFE[0]
