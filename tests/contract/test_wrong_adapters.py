"""An adapter that breaks a promise fails the check of that promise: tokenizers, indexes, embedders."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from actormem.adapters.bytes import BytesTokenizer
from actormem.adapters.flat import FlatIndex
from actormem.errors import UsageError
from actormem.testing import contracts
from actormem.testing.fakes import ScriptedEmbedder
from tests.contract.breaking import broken

# --- tokenizers ------------------------------------------------------------------------------------------


class StrictTokenizer(BytesTokenizer):
    """Raises for what is no UTF-8."""

    def count(self, text: str) -> int:
        return len(text.encode())


class SignTokenizer(BytesTokenizer):
    """Takes control words for signs."""

    def count(self, text: str) -> int:
        return super().count(text.replace("<|endoftext|>", "!"))


class SlackTokenizer(BytesTokenizer):
    """Does not count blanks."""

    def count(self, text: str) -> int:
        return super().count(text.replace(" ", ""))


class NamelessTokenizer(BytesTokenizer):
    """Does not say what it counts."""

    @property
    def name(self) -> str:
        return ""


class OverTokenizer(BytesTokenizer):
    """Cuts to more than it was told."""

    def truncate(self, text: str, tokens: int) -> str:
        return super().truncate(text, tokens + 1)


class TornTokenizer(BytesTokenizer):
    """Cuts at any code point."""

    def truncate(self, text: str, tokens: int) -> str:
        while self.count(text) > max(tokens, 0):
            text = text[:-1]
        return text


class StingyTokenizer(BytesTokenizer):
    """Cuts more than it must."""

    def truncate(self, text: str, tokens: int) -> str:
        return text if self.count(text) <= tokens else super().truncate(text, tokens // 2)


class FickleTokenizer(BytesTokenizer):
    """Counts differently each time."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def count(self, text: str) -> int:
        self.calls += 1
        return super().count(text) + self.calls % 2


TOKENIZERS = {
    StrictTokenizer: "promise_1_any_text_can_be_counted",
    SignTokenizer: "promise_1_control_words_are_plain_text",
    SlackTokenizer: "promise_1_long_runs_of_one_character_can_be_counted",
    NamelessTokenizer: "promise_2_it_says_what_its_count_is_of",
    OverTokenizer: "promise_3_a_cut_text_is_a_prefix_within_the_tokens",
    TornTokenizer: "promise_3_a_cut_is_never_inside_a_character",
    StingyTokenizer: "promise_3_most_of_the_tokens_are_used",
    FickleTokenizer: "promise_4_every_thread_counts_the_same",
}


@pytest.mark.parametrize("wrong", TOKENIZERS)
def test_a_wrong_tokenizer_fails_its_check(wrong: Callable[[], Any]) -> None:
    checks = [check for check in contracts.TOKENIZER if check.name == TOKENIZERS[wrong]]
    assert broken(checks, wrong) == {TOKENIZERS[wrong]}


def test_each_check_of_a_tokenizer_has_a_wrong_one() -> None:
    assert set(TOKENIZERS.values()) == {check.name for check in contracts.TOKENIZER}


# --- indexes ---------------------------------------------------------------------------------------------


class Index(FlatIndex):
    """One whose answers and arguments a subclass may spoil."""

    def search(self, vector: Any, k: int) -> Any:
        return self.spoiled(*super().search(vector, k))

    def spoiled(self, labels: Any, scores: Any) -> Any:
        return labels, scores


class Distances(Index):
    """Gives distances for scores."""

    def spoiled(self, labels: Any, scores: Any) -> Any:
        return labels, 1 - scores


class WorstFirst(Index):
    """Gives the best last."""

    def spoiled(self, labels: Any, scores: Any) -> Any:
        return labels[::-1], scores[::-1]


class Raising(Index):
    """Raises for want of rows."""

    def search(self, vector: Any, k: int) -> Any:
        if k > len(self):
            raise RuntimeError("fewer than k rows")
        return super().search(vector, k)


class LargeLabelsFirst(Index):
    """Keeps ties in the order of adding backwards."""

    def spoiled(self, labels: Any, scores: Any) -> Any:
        order = np.lexsort((-labels, -np.round(scores, 5)))
        return labels[order], scores[order]


class AlwaysFinding(Index):
    """Finds something near to nothing."""

    def search(self, vector: Any, k: int) -> Any:
        return super().search(vector if vector.any() else np.ones_like(vector), k)


class Small(Index):
    """Holds a hundred rows."""

    def add(self, labels: Any, vectors: Any) -> None:
        room = 100 - len(self)
        super().add(labels[:room], vectors[:room])


class KeepsTheFirst(Index):
    """Does not replace a vector."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.known: set[int] = set()

    def add(self, labels: Any, vectors: Any) -> None:
        new = [place for place, label in enumerate(labels.tolist()) if label not in self.known]
        self.known |= set(labels.tolist())
        super().add(labels[new], vectors[new])


class Unforgetting(Index):
    """Removes nothing."""

    def remove(self, labels: Any) -> None:
        pass


class Careless(Index):
    """Adds what it can of what is wrong."""

    def add(self, labels: Any, vectors: Any) -> None:
        count = min(len(labels), len(vectors))
        vectors = np.nan_to_num(np.resize(vectors, (count, 8))) + np.float32(1e-3)
        super().add(labels.ravel()[:count].astype(np.int64), vectors)


class Picky(Index):
    """Refuses what is not of length 1."""

    def add(self, labels: Any, vectors: Any) -> None:
        if not np.allclose(np.linalg.norm(vectors, axis=1), 1):
            raise UsageError("not of length 1")
        super().add(labels, vectors)


INDEXES: Mapping[Any, set[str]] = {
    Distances: {"promise_1_the_best_come_first_and_scores_are_cosines"},
    WorstFirst: {"promise_1_the_best_come_first_and_scores_are_cosines"},
    Raising: {"promise_1_there_are_fewer_where_there_are_fewer"},
    LargeLabelsFirst: {"promise_1_ties_keep_the_smaller_label_first"},
    AlwaysFinding: {"promise_1_a_query_without_direction_is_near_nothing"},
    Small: {
        "promise_1_what_is_nearest_is_found_among_hundreds",
        "promise_1_two_thousand_equal_rows_hide_no_other_row",
    },
    KeepsTheFirst: {
        "promise_2_a_label_added_again_has_its_new_vector_only",
        "promise_2_after_any_history_it_answers_as_a_dictionary_would",
    },
    Unforgetting: {
        "promise_2_removing_what_is_absent_does_nothing",
        "promise_2_churn_keeps_every_answer_live",
    },
    Careless: {
        "promise_3_a_row_that_is_no_direction_is_refused_before_any_is_added",
        "promise_3_labels_and_rows_that_do_not_fit_are_refused",
    },
    Picky: {"promise_3_huge_and_small_rows_count_by_their_direction"},
}


@pytest.mark.parametrize("wrong", INDEXES)
def test_a_wrong_index_fails_its_checks(wrong: Callable[[int], Any]) -> None:
    assert broken(contracts.VECTOR_INDEX, wrong) >= INDEXES[wrong]


def test_each_check_of_an_index_has_a_wrong_one() -> None:
    assert set().union(*INDEXES.values()) == {check.name for check in contracts.VECTOR_INDEX}


# --- embedders -------------------------------------------------------------------------------------------


class Embedder(ScriptedEmbedder):
    """One whose rows a subclass may spoil."""

    async def embed(self, texts: Sequence[str]) -> Any:
        return self.spoiled(await super().embed(texts), texts)

    def spoiled(self, rows: Any, texts: Sequence[str]) -> Any:
        return rows


class Doubled(Embedder):
    """Rows of length 2."""

    def spoiled(self, rows: Any, texts: Sequence[str]) -> Any:
        return rows * np.float32(2)


class Sorted(Embedder):
    """Rows in the order of the alphabet."""

    def spoiled(self, rows: Any, texts: Sequence[str]) -> Any:
        return rows[np.argsort(texts, kind="stable")]


class NeverZero(Embedder):
    """A row for every text, blank or not."""

    def spoiled(self, rows: Any, texts: Sequence[str]) -> Any:
        rows[~rows.any(axis=1), 0] = 1
        return rows


class Same(Embedder):
    """One row for all texts."""

    def spoiled(self, rows: Any, texts: Sequence[str]) -> Any:
        rows[rows.any(axis=1)] = np.eye(1, self.dimensions, dtype=np.float32)
        return rows


class Unnamed(Embedder):
    """Another name each time."""

    def __init__(self) -> None:
        super().__init__(name=f"at {id(self)}")


class Blocking(Embedder):
    """Lets no other task run."""

    async def embed(self, texts: Sequence[str]) -> Any:
        coroutine = super().embed(texts)
        try:
            while True:
                coroutine.send(None)
        except StopIteration as done:
            return done.value


class Utf8Only(Embedder):
    """Raises for a lone surrogate."""

    async def embed(self, texts: Sequence[str]) -> Any:
        for text in texts:
            text.encode()
        return await super().embed(texts)


class Once(Embedder):
    """May be started once."""

    async def start(self) -> None:
        await super().start()
        if self.start_count > 1:
            raise RuntimeError("already started")


EMBEDDERS: Mapping[Any, str] = {
    Doubled: "promise_1_rows_are_float32_and_of_length_1",
    Sorted: "promise_1_rows_are_in_the_order_of_the_texts",
    NeverZero: "promise_1_a_text_without_words_is_a_row_of_zeros",
    Same: "promise_1_the_same_text_has_the_same_vector",
    Unnamed: "promise_2_its_name_stays_and_tells_it_from_others",
    Blocking: "promise_3_other_tasks_run_while_it_embeds",
    Utf8Only: "promise_4_no_text_makes_it_raise",
    Once: "promise_4_it_may_be_started_again",
}


@pytest.mark.parametrize("wrong", EMBEDDERS)
def test_a_wrong_embedder_fails_its_check(wrong: Callable[[], Any]) -> None:
    assert EMBEDDERS[wrong] in broken(contracts.EMBEDDER, wrong)


def test_each_check_of_an_embedder_has_a_wrong_one() -> None:
    assert set(EMBEDDERS.values()) == {check.name for check in contracts.EMBEDDER}
