"""Signs of life: who is silent is found, who stood still itself blames nobody."""

from typing import Any

import pytest

from gravure.runtime.comm.progress import PROGRESS
from gravure.runtime.comm.pulse import HEAD, OVER, THERE, Pulse


class Cable:
    """Carries signs to one rank, which a test sends."""

    def __init__(self) -> None:
        self.rank, self.size = 0, 3
        self.sent: list[tuple[int, int]] = []
        self.coming: list[tuple[int, bytes]] = []
        self.full: list[int] = []
        """To whom the next signs can't be sent."""

    def send_sign(self, sign: bytes, to: int) -> bool:
        if to in self.full:
            self.full.remove(to)
            return False
        self.sent.append((HEAD.unpack_from(sign)[0], to))
        return True

    def next_sign(self) -> tuple[int, bytes] | None:
        return self.coming.pop(0) if self.coming else None


@pytest.fixture
def pulse(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("GRAVURE_TIMEOUT", "4")
    for name, value in (("checkpoint", ""), ("when", 0.0)):
        monkeypatch.setattr(PROGRESS, name, value)
    clock = [100.0]
    made = Pulse(Cable(), lambda reason: None, lambda: clock[0])
    made.clock_of_test = clock  # type: ignore[attr-defined]
    return made


def at(pulse: Any, seconds: float, *coming: tuple[int, int]) -> str:
    """Let it be so long behind the start, with signs that have come; return what is said."""
    pulse.clock_of_test[0] = 100.0 + seconds
    pulse.wire.coming += [(rank, HEAD.pack(kind, 0.0)) for rank, kind in coming]
    said: str = pulse.beat()
    return said


def test_who_says_nothing_is_named(pulse: Any) -> None:
    for tenth in range(45):
        assert at(pulse, tenth / 10, (1, THERE)) == ""
    assert pulse.silent() == [2]
    assert at(pulse, 4.6, (1, THERE)) == "rank 0 has heard nothing from rank 2 for 4 s"
    assert pulse.wire.sent[:4] == [(THERE, 1), (THERE, 2)] * 2
    assert len(pulse.wire.sent) == 2 * 5  # a sign to each, every second


def test_who_has_come_to_the_end_is_not_missed(pulse: Any) -> None:
    at(pulse, 0, (1, OVER), (2, THERE))
    assert [at(pulse, t / 10, (2, THERE)) for t in range(100)] == [""] * 100


def test_who_stood_still_itself_blames_nobody(pulse: Any) -> None:
    at(pulse, 1, (1, THERE), (2, THERE))
    assert at(pulse, 60) == ""
    assert [at(pulse, 60 + t / 10) for t in range(40)] == [""] * 40
    assert "rank 1, rank 2" in at(pulse, 64.6)


def test_checkpoints_are_told_and_the_newest_counts(pulse: Any) -> None:
    for when, path in ((5.0, "/b"), (3.0, "/a")):
        pulse.wire.coming.append((1, HEAD.pack(THERE, when) + path.encode()))
    at(pulse, 1)
    assert PROGRESS.at() == "the last complete checkpoint is /b"


@pytest.mark.parametrize("full", [[], [2, 2]])
def test_the_last_to_end_says_so_too(pulse: Any, full: list[int]) -> None:
    at(pulse, 0, (1, OVER), (2, OVER))
    beat = pulse.beat

    def end_behind_it() -> str:
        said: str = beat()
        pulse.clock_of_test[0] += 0.5
        if not pulse.ending:
            pulse.ending, pulse.sent, pulse.wire.full = True, 0.0, full
        return said

    pulse.beat = end_behind_it
    pulse._run()
    assert {to for kind, to in pulse.wire.sent if kind == OVER} == {1, 2}
