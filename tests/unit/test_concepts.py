"""What words speak of, and what that is worth to a query."""

import numpy as np

from actormem.core.recall.concepts import (
    CONCEPT_COUNT,
    concept_names,
    concepts_of,
    entries,
    kinship,
)
from actormem.core.recall.concepts_en import CONCEPTS_EN
from actormem.core.recall.concepts_zh import CONCEPTS_ZH
from actormem.core.recall.partition import Partition, Query
from actormem.core.recall.words import Words
from actormem.core.values import Item, Owner

OWNER = Owner("", "ada")
NOTES = (
    "The terrier chewed the rug again",
    "A meeting with the auditors on Monday",
    "The bus was full",
    "用户养了一只鹦鹉",
)


def partition_of(*texts: str) -> Partition:
    partition = Partition(8)
    for number, text in enumerate(texts):
        partition.put(Item(id=f"i{number}", owner=OWNER, text=text, kind="fact", sequence=number))
    return partition


def found(partition: Partition, text: str) -> list[str]:
    return [
        hit.item.text
        for hit in partition.search(Query(text=text, now_ms=0))
        if hit.why.get("concept", 0.0) > 0
    ]


def test_both_languages_have_the_same_concepts_of_words_that_are_terms() -> None:
    words = Words()
    english, chinese = entries(CONCEPTS_EN), entries(CONCEPTS_ZH)
    assert list(english) == list(chinese)
    assert len(english) == CONCEPT_COUNT
    for listed in (english, chinese):
        for name, text in listed.items():
            held = text.split()
            assert len(held) == len(set(held)) >= 3, name
            for word in held:
                terms = words.terms(word)
                assert len(terms) == 1 if word.isascii() else word in terms, word
    assert all(len(word) <= 2 for text in chinese.values() for word in text.split())


def test_words_speak_of_concepts() -> None:
    words = Words()
    assert concept_names(words.terms("My terriers and a goldfish")) == ("pets",)
    assert "pets" in concept_names(words.terms("家里的宠物"))
    assert concept_names(words.terms("nothing of the sort")) == ()
    numbers = concepts_of(words.terms("dinner at the restaurant 饭店"))
    assert numbers == sorted(set(numbers))


def test_a_word_finds_what_speaks_of_the_same_in_either_language() -> None:
    partition = partition_of(*NOTES)
    assert set(found(partition, "any pets?")) == {NOTES[0], NOTES[3]}
    assert set(found(partition, "有什么宠物")) == {NOTES[0], NOTES[3]}
    assert found(partition, "zzzz qqqq") == []


def test_a_word_that_is_held_does_not_count_twice() -> None:
    assert NOTES[0] not in found(partition_of(*NOTES), "terrier")


def test_what_is_removed_is_no_longer_spoken_of() -> None:
    fresh, used = partition_of(*NOTES), partition_of(*NOTES)
    used.put(Item(id="later", owner=OWNER, text="The hamster and the parrot", kind="fact", sequence=9))
    query = Query(text="any pets?", now_ms=0)
    assert used.search(query) != fresh.search(query)
    used.remove("later")
    assert used.search(query) == fresh.search(query)


def test_a_rarer_matter_and_a_more_telling_word_are_worth_more() -> None:
    spoken = np.zeros((2, CONCEPT_COUNT), bool)
    pets, meal = concepts_of(["pet"]), concepts_of(["meal"])
    spoken[0, pets] = True
    spoken[1, meal] = True
    rarity = np.zeros(CONCEPT_COUNT)
    rarity[pets], rarity[meal] = 0.8, 0.2
    held = np.zeros((2, 2), bool)
    shares = kinship(("pet", "meal"), np.array([1.0, 3.0]), held, spoken, rarity)
    assert np.allclose(shares, [0.8, 0.6])
    held[0, 0] = True
    assert np.allclose(kinship(("pet", "meal"), np.array([1.0, 3.0]), held, spoken, rarity), [0.0, 0.6])
    assert not kinship((), np.zeros(0), held[:0], spoken, rarity).any()
