"""The tool that times training on two ranks: its pieces, and a run without other libraries."""

import json
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from gravure.tools.measuring import data_parallel
from gravure.tools.measuring.data_parallel import Pair, commands, main, serve, text_of


def test_a_process_makes_the_steps_that_it_is_asked_for(tmp_path: Path) -> None:
    made: list[str] = []

    def step(way: str) -> None:
        time.sleep(0.002)
        made.append(way)

    steps = {way: partial(step, way) for way in ("alone", "together")}
    pair = Pair("nobody", [], None, str(tmp_path / "meet"))
    with data_parallel.Listener(pair.meet, "AF_UNIX") as listener:
        threads = [threading.Thread(target=serve, args=(pair.meet, r, steps)) for r in (0, 1)]
        for thread in threads:
            thread.start()
        accepted = [listener.accept() for _ in threads]
    pair.ranks = [rank for _, rank in sorted((each.recv(), each) for each in accepted)]
    made.clear()
    for way, count in (("alone", 2), ("apart", 3), ("together", 4)):
        start = time.perf_counter()
        clock, processor = pair.block(way, count)
        assert 0.002 <= clock <= (time.perf_counter() - start) / count
        assert 0 <= processor <= clock
        assert made == ["together" if way == "together" else "alone"] * count * (
            1 if way == "alone" else 2
        )
        made.clear()
    pair.__exit__()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_peers_are_told_who_they_are() -> None:
    [(launch, _)] = commands("gravure", ["program.py"], None)
    assert launch[1:] == ["-m", "gravure", "launch", "-n", "2", "program.py"]
    rows = commands("tensorflow", ["program.py"], "python")
    assert [words for words, _ in rows] == [["python", "program.py"]] * 2
    told = [json.loads(variables["TF_CONFIG"]) for _, variables in rows]
    assert [each["task"]["index"] for each in told] == [0, 1]
    assert told[0]["cluster"] == told[1]["cluster"]
    assert len(set(told[0]["cluster"]["worker"])) == 2


def test_ratios_are_those_of_rounds() -> None:
    own, other = Pair("gravure", [], None, ""), Pair("torch", [], "python", "")
    for pair, factor in ((own, 1), (other, 4)):
        for seconds in (pair.clock, pair.processor):
            rounds = {"alone": [0.9, 0.08], "apart": [1.0, 0.1], "together": [1.0, 0.1]}
            seconds |= {way: [factor * x for x in rounds[way]] for way in rounds}
    lines = [line.split() for line in text_of([own, other]).splitlines()]
    assert lines[1][1:] == ["490.0", "550.0", "550.0", "0.850", "1.000"]
    assert lines[2][1:] == ["1960.0", "2200.0", "2200.0", "0.850", "1.000", "0.250"]


@pytest.mark.mpi
@pytest.mark.slow
def test_two_ranks_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    assert main(["convnet", "--size", "2", "--rounds", "1"]) == 0
    clock, row, processor, last = capsys.readouterr().out.splitlines()
    assert clock.split()[:3] == ["clock", "alone", "ms"]
    assert (row.split()[0], processor.split()[0], last.split()[0]) == (
        *("gravure", "processor", "gravure"),
    )
    assert all(float(word) > 0 for word in row.split()[1:])
