"""The record's promises about items read in pages: every page is the owner's alone, in order, and as it was stored."""

import pytest

from actormem.core.values import Item, Owner
from actormem.ports import PutItems, PutTombstones, PutVectors, Record
from tests.contract.records import Place

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
BOB = Owner("shop", "bob")


def item(number: int, owner: Owner = ADA) -> Item:
    return Item(id=f"m{number}", owner=owner, kind="fact", text=f"Jar {number} is on the shelf.")


def vector(number: int) -> bytes:
    return bytes([number]) * 8


async def stored(record: Record) -> None:
    """Ada has the odd numbers to 9 and Bob the even ones; Ada's m5 has no vector of `e`."""
    await record.sync(
        [
            PutItems(tuple(item(number, ADA if number % 2 else BOB) for number in range(1, 11))),
            PutVectors(ADA, "e", tuple((f"m{number}", vector(number)) for number in (1, 3, 7, 9))),
            PutVectors(ADA, "f", (("m5", vector(5)),)),
            PutVectors(BOB, "e", tuple((f"m{number}", vector(number)) for number in (2, 4))),
            PutTombstones(ADA, ("gone",)),
        ]
    )


async def test_the_newest_items_come_by_number_with_their_vectors_and_the_count_of_all(place: Place) -> None:
    async with place.open() as record:
        await stored(record)
        newest = await record.load_items(ADA, "e", 3)
        assert [one.id for one in newest.items] == ["m5", "m7", "m9"]
        assert dict(newest.vectors) == {"m7": vector(7), "m9": vector(9)}
        assert (newest.item_count, newest.tombstones) == (5, {"gone"})
        assert await record.load_items(ADA, "e", 9) == await record.load_items(ADA, "e")
        assert (await record.load_items(Owner("shop", "eve"), "e", 3)).item_count == 0


async def test_pages_of_items_hold_all_of_the_owners_and_nobody_elses(place: Place) -> None:
    async with place.open() as record:
        await stored(record)
        pages = [await record.items_after(ADA, number, 2) for number in (0, 3, 7, 9)]
        assert [[one.id for one in page] for page in pages] == [["m1", "m3"], ["m5", "m7"], ["m9"], []]
        assert await record.items_after(Owner("shop", "eve"), 0, 2) == ()


async def test_items_asked_for_by_number_are_only_the_owners(place: Place) -> None:
    async with place.open() as record:
        await stored(record)
        assert await record.items_of(ADA, [9, 2, 1, 77, 1]) == (item(1), item(9))
        assert await record.items_of(ADA, []) == ()


async def test_pages_of_vectors_come_newest_first_each_by_number_and_of_one_embedder(place: Place) -> None:
    async with place.open() as record:
        await stored(record)
        first = await record.vectors_before(ADA, "e", None, limit=3, size_bytes=8)
        assert first.numbers == (3, 7, 9)
        assert first.vectors == vector(3) + vector(7) + vector(9)
        second = await record.vectors_before(ADA, "e", 3, limit=3, size_bytes=8)
        assert (second.numbers, second.vectors) == ((1,), vector(1))
        assert (await record.vectors_before(ADA, "e", 1, limit=3, size_bytes=8)).numbers == ()
        assert (await record.vectors_before(ADA, "f", None, limit=3, size_bytes=8)).numbers == (5,)


async def test_a_page_of_vectors_says_where_the_next_one_begins(place: Place) -> None:
    async with place.open() as record:
        await stored(record)
        rest: list[int | None] = [None]
        while len(rest) == 1 or rest[-1] is not None:
            page = await record.vectors_before(ADA, "e", rest[-1], limit=2, size_bytes=8)
            rest.append(page.rest)
        assert rest == [None, 7, 1, None], "and the last one is empty, for the one before was full"


async def test_vectors_of_another_size_are_in_no_page(place: Place) -> None:
    async with place.open() as record:
        await stored(record)
        await record.sync([PutVectors(ADA, "e", (("m7", vector(7) * 2),))])
        page = await record.vectors_before(ADA, "e", None, limit=9, size_bytes=8)
        assert (page.numbers, page.rest, page.damaged_count) == ((1, 3, 9), None, 0)


async def test_a_damaged_vector_is_in_no_page_and_is_counted(folder: Place) -> None:
    async with folder.open() as record:
        await stored(record)
    [file] = folder.path.glob("*.db")
    content = file.read_bytes()
    assert content.count(vector(7)) == 1
    file.write_bytes(content.replace(vector(7), b"\x07" * 7 + b"\x08"))
    async with folder.open() as record:
        page = await record.vectors_before(ADA, "e", None, limit=2, size_bytes=8)
        assert (page.numbers, page.vectors, page.rest, page.damaged_count) == ((9,), vector(9), 7, 1)
        assert record.statistics().damaged_rows == 1
