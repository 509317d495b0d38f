"""The promises of `actormem.ports.VectorIndex`, over any index: `check(make)`.

`make` gives an empty index of vectors with so many dimensions.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import numpy as np

from actormem.errors import UsageError
from actormem.ports import Labels, VectorIndex, Vectors
from actormem.testing.contracts.checks import Check, promise, refused, require, same

__all__ = ["POOL", "VECTOR_INDEX", "IndexStep", "MakeVectorIndex", "lives_as_a_dictionary", "unit_vectors"]

MakeVectorIndex: TypeAlias = Callable[[int], VectorIndex]
IndexStep: TypeAlias = tuple[Literal["add", "remove", "search"], Sequence[int], Sequence[int]]
"""`add` these labels with these rows of `POOL`; `remove` these labels; `search` for each row with each k."""
DIMENSIONS: Final = 8
TOLERANCE: Final = 1e-5


def unit_vectors(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> Vectors:
    """Vectors of length 1 that follow from the seed."""
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def labels_of(*labels: int) -> Labels:
    return np.array(labels, np.int64)


POOL: Final = unit_vectors(6, seed=3)
"""Few different vectors, so that equal ones and ties are common."""


def lives_as_a_dictionary(index: VectorIndex, steps: Sequence[IndexStep]) -> None:
    """Fail the check unless, after each step, the index answers as a dictionary and a scan of it would."""
    rows: dict[int, int] = {}
    for verb, first, second in [*steps, ("search", (0,), (50,))]:
        if verb == "add":
            index.add(labels_of(*first), POOL[list(second)].reshape(-1, DIMENSIONS))
            rows |= dict(zip(first, second, strict=True))
        elif verb == "remove":
            index.remove(labels_of(*first))
            rows = {label: row for label, row in rows.items() if label not in first}
        else:
            for query, k in zip(first, second, strict=True):
                answers_as(rows, index, POOL[query], k)
        same(len(index), len(rows), "the length")


def answers_as(rows: dict[int, int], index: VectorIndex, query: Vectors, k: int) -> None:
    scores = {label: float(POOL[row] @ query) for label, row in rows.items()}
    expected = sorted(scores, key=lambda label: (-round(scores[label], 5), label))[:k]
    labels, found = index.search(query, k)
    same(labels.tolist(), expected, f"the labels of the best {k}")
    near(found, np.array([scores[label] for label in expected]), "the scores")


def near(found: Vectors, expected: object, what: str) -> None:
    require(
        np.allclose(found, np.asarray(expected), rtol=0, atol=TOLERANCE), f"{what}: {found}, not {expected}"
    )


def best(index: VectorIndex, query: Vectors, k: int = 1) -> list[int]:
    return index.search(query, k)[0].tolist()


@promise("VectorIndex", 1)
def the_best_come_first_and_scores_are_cosines(make: MakeVectorIndex) -> None:
    """`search` gives (labels, scores), best first; scores are cosines, larger is better."""
    index, rows = make(DIMENSIONS), unit_vectors(300)
    index.add(np.arange(300), rows)
    for query in unit_vectors(20, seed=9):
        labels, scores = index.search(query, 10)
        same((labels.dtype, scores.dtype), (np.dtype(np.int64), np.dtype(np.float32)), "the types of numbers")
        same(scores.tolist(), sorted(scores.tolist(), reverse=True), "the order of the scores")
        near(scores, rows[labels] @ query, "the scores")


@promise("VectorIndex", 1)
def what_is_nearest_is_found_among_hundreds(make: MakeVectorIndex) -> None:
    """Each of hundreds of vectors is the nearest to itself."""
    index, rows = make(DIMENSIONS), unit_vectors(400)
    index.add(np.arange(400), rows)
    same([best(index, row) for row in rows], [[one] for one in range(400)], "what is nearest to each row")


@promise("VectorIndex", 1)
def there_are_fewer_where_there_are_fewer(make: MakeVectorIndex) -> None:
    """There are at most k, and fewer where there are fewer: it never raises for want of rows."""
    index, rows = make(DIMENSIONS), unit_vectors(5)
    same(best(index, rows[0], 3), [], "what an empty index finds")
    index.add(np.arange(5), rows)
    for k, count in ((-1, 0), (0, 0), (3, 3), (1_000_000, 5)):
        labels, scores = index.search(rows[0], k)
        same((len(labels), len(scores)), (count, count), f"how many of 5 are found for k = {k}")
    index.remove(np.arange(4))
    same(best(index, rows[0], 3), [4], "what is found after the others were removed")
    index.remove(np.arange(5))
    same(best(index, rows[0], 3), [], "what is found after all were removed")


@promise("VectorIndex", 1)
def ties_keep_the_smaller_label_first(make: MakeVectorIndex) -> None:
    """Of equal scores the smaller label comes first."""
    index, row = make(DIMENSIONS), unit_vectors(1)
    index.add(labels_of(9, 3, 7, 1), np.repeat(row, 4, axis=0))
    same(best(index, row[0], 3), [1, 3, 7], "the first three of four equal rows")


@promise("VectorIndex", 1)
def a_query_without_direction_is_near_nothing(make: MakeVectorIndex) -> None:
    """A query of zeros finds nothing."""
    index = make(DIMENSIONS)
    index.add(np.arange(3), unit_vectors(3))
    same(best(index, np.zeros(DIMENSIONS, np.float32), 3), [], "what is near to zeros")


@promise("VectorIndex", 1)
def two_thousand_equal_rows_hide_no_other_row(make: MakeVectorIndex) -> None:
    """Two thousand equal rows hide no other row."""
    index, rows = make(DIMENSIONS), unit_vectors(201, seed=4)
    index.add(np.arange(2_000), np.repeat(rows[:1], 2_000, axis=0))
    index.add(np.arange(2_000, 2_200), rows[1:])
    found = [best(index, row) for row in rows[1:]]
    same(found, [[one] for one in range(2_000, 2_200)], "what is nearest to each other row")
    same(best(index, rows[0], 5), [0, 1, 2, 3, 4], "the best of the equal ones")


@promise("VectorIndex", 2)
def a_label_added_again_has_its_new_vector_only(make: MakeVectorIndex) -> None:
    """A label added again replaces its vector."""
    index, rows = make(DIMENSIONS), unit_vectors(2)
    index.add(labels_of(1, 1), rows)
    index.add(labels_of(1), rows[:1])
    labels, scores = index.search(rows[0], 5)
    same((labels.tolist(), len(index)), ([1], 1), "what is found, and the length")
    near(scores, [1.0], "its score")


@promise("VectorIndex", 2)
def removing_what_is_absent_does_nothing(make: MakeVectorIndex) -> None:
    """Removing a label that is absent does nothing, and a removed label can come back."""
    index, rows = make(DIMENSIONS), unit_vectors(3)
    for _ in range(5):
        index.add(np.arange(3), rows)
        index.remove(labels_of(0, 2, 77))
        same(best(index, rows[0], 3), [1], "what is left of 0, 1, 2 without 0, 2 and 77")
    index.add(labels_of(0), rows[:1])
    same(best(index, rows[0]), [0], "what is nearest to a row that came back")
    index.add(labels_of(), np.empty((0, DIMENSIONS), np.float32))
    index.remove(labels_of())
    same(len(index), 2, "the length after adding and removing nothing")


@promise("VectorIndex", 2)
def churn_keeps_every_answer_live(make: MakeVectorIndex) -> None:
    """However many labels are removed, only those that are there are found, and as many as asked for."""
    index, rows = make(DIMENSIONS), unit_vectors(600, seed=6)
    index.add(np.arange(600), rows)
    for start in range(0, 540, 60):
        index.remove(np.arange(start, start + 60))
        for query in rows[start : start + 60 : 20]:
            found = best(index, query, 20)
            require(len(found) == 20 and min(found) >= start + 60, f"{len(found)} are found: {found}")


@promise("VectorIndex", 2)
def after_any_history_it_answers_as_a_dictionary_would(make: MakeVectorIndex) -> None:
    """After any history of adding and removing it answers as a dictionary, and a scan of it, would."""
    chance = np.random.default_rng(17)
    for _ in range(20):
        steps: list[IndexStep] = []
        for _ in range(12):
            labels: list[int] = chance.integers(0, 13, chance.integers(0, 7)).tolist()
            steps.append(("add", labels, chance.integers(0, 6, len(labels)).tolist()))
            steps.append(("remove", chance.integers(0, 13, chance.integers(0, 5)).tolist(), ()))
            steps.append(("search", [int(chance.integers(0, 6))], [int(chance.integers(0, 21))]))
        lives_as_a_dictionary(make(DIMENSIONS), steps)


@promise("VectorIndex", 3)
def a_row_that_is_no_direction_is_refused_before_any_is_added(make: MakeVectorIndex) -> None:
    """Rows that are not finite or have no length are refused with UsageError, before any is added."""
    for number in (np.nan, np.inf, -np.inf):
        rows = unit_vectors(3)
        rows[2, 4] = number
        refuses(make(DIMENSIONS), np.arange(3), rows, f"a row with {number}")
    for number in (0.0, 1e-9):
        rows = unit_vectors(3)
        rows[1] = number
        refuses(make(DIMENSIONS), np.arange(3), rows, f"a row of {number}")


@promise("VectorIndex", 3)
def labels_and_rows_that_do_not_fit_are_refused(make: MakeVectorIndex) -> None:
    """Labels and rows of different number, another type or other dimensions are refused, before any is added."""
    rows = unit_vectors(3)
    refuses(make(DIMENSIONS), np.arange(2), rows, "2 labels for 3 rows")
    refuses(make(DIMENSIONS), np.arange(3), unit_vectors(3, dimensions=7), "rows of 7 dimensions")
    refuses(make(DIMENSIONS), np.arange(3), rows[0], "one row for 3 labels")
    refuses(make(DIMENSIONS), np.arange(3) + 0.5, rows, "a label of 0.5")
    refuses(make(DIMENSIONS), np.arange(4).reshape(2, 2), unit_vectors(2), "labels in two dimensions")


@promise("VectorIndex", 3)
def huge_and_small_rows_count_by_their_direction(make: MakeVectorIndex) -> None:
    """Rows of any length count by their direction."""
    index, rows = make(DIMENSIONS), unit_vectors(2)
    index.add(np.arange(2), rows * np.array([[1e30], [1e-4]], np.float32))
    near(index.search(rows[0], 1)[1], [1.0], "the score of a huge row")
    same(best(index, rows[1] * np.float32(1e30)), [1], "what is nearest to a huge query")


def refuses(index: VectorIndex, labels: object, rows: Vectors, what: str) -> None:
    with refused(UsageError, what):
        index.add(labels, rows)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    same(len(index), 0, f"the length after {what} was refused")


VECTOR_INDEX: Final[tuple[Check[[MakeVectorIndex]], ...]] = (
    the_best_come_first_and_scores_are_cosines,
    what_is_nearest_is_found_among_hundreds,
    there_are_fewer_where_there_are_fewer,
    ties_keep_the_smaller_label_first,
    a_query_without_direction_is_near_nothing,
    two_thousand_equal_rows_hide_no_other_row,
    a_label_added_again_has_its_new_vector_only,
    removing_what_is_absent_does_nothing,
    churn_keeps_every_answer_live,
    after_any_history_it_answers_as_a_dictionary_would,
    a_row_that_is_no_direction_is_refused_before_any_is_added,
    labels_and_rows_that_do_not_fit_are_refused,
    huge_and_small_rows_count_by_their_direction,
)
"""One check for each promise."""
