"""How many threads a function runs on."""

import pytest

from gravure import tf
from gravure.frontend.models.threads import all_threads


@pytest.mark.parametrize("text", ["0", "-1", "two", "2.5", "1025"])
def test_a_number_of_threads_that_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """What is no number was left out without a word."""
    monkeypatch.setenv("GRAVURE_THREADS", text)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"GRAVURE_THREADS='{text}'"):
        all_threads()


def test_the_variable_says_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVURE_THREADS", "3")
    assert all_threads() == 3
