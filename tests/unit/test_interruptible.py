"""`interruptible`: what a future comes to, however long it takes."""

from concurrent.futures import Future

import pytest

from actormem import interruptible
from actormem.interruptible import result_of


class Late(Future[str]):
    """Has nothing the first times it is asked, as a future of slow work."""

    def __init__(self, late_count: int) -> None:
        super().__init__()
        self.asked_s: list[float | None] = []
        self._late_count = late_count

    def result(self, timeout: float | None = None) -> str:
        self.asked_s.append(timeout)
        if len(self.asked_s) > self._late_count and not self.done():
            self.set_result("late")
        return super().result(0)


def test_a_wait_goes_on_until_there_is_an_answer_and_wakes_meanwhile() -> None:
    future = Late(3)
    assert result_of(future) == "late"
    assert future.asked_s == [interruptible.AWAKE_S] * 4


def test_an_answer_that_comes_as_the_wait_ends_is_taken() -> None:
    class JustNow(Late):
        def result(self, timeout: float | None = None) -> str:
            if self.asked_s:
                return super().result(timeout)
            self.asked_s.append(timeout)
            self.set_result("just now")
            raise TimeoutError

    assert result_of(JustNow(0)) == "just now"


@pytest.mark.parametrize("error", [TimeoutError("its own"), ValueError("no"), KeyboardInterrupt()])
def test_an_error_comes_out_as_it_is(error: BaseException) -> None:
    future: Future[str] = Future()
    future.set_exception(error)
    with pytest.raises(type(error)) as raised:
        result_of(future)
    assert raised.value is error
