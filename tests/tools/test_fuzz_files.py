"""Changed files are read or refused: a few of each kind here, more by `gravure fuzz files`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gravure.errors import GravureError
from gravure.frontend.programs.load import load_program
from gravure.tools.fuzz import mutate
from gravure.tools.fuzz.subjects import SUBJECTS, examples_of
from gravure.tools.fuzz.workers import FAULT, READ, REFUSED, outcomes

CASES = {"onnx": 25, "text": 40, "ir": 40, "library": 20}


@pytest.mark.parametrize("name", SUBJECTS)
def test_changed_files_are_read_or_refused(name: str) -> None:
    subject = SUBJECTS[name]
    for example in examples_of(subject):
        assert subject.judge(example)[0] == READ
    counts = {READ: 0, REFUSED: 0}
    for number in range(CASES.get(name, 150)):
        kind, text = subject.judge(subject.case(2026, number))
        assert kind == READ or text
        counts[kind] += 1
    assert name == "cache" or counts[REFUSED]


def test_a_seed_and_a_number_are_a_case() -> None:
    subject = SUBJECTS["text"]
    assert subject.case(1, 2) == subject.case(1, 2)
    assert len({subject.case(1, number) for number in range(50)}) > 40


@pytest.mark.parametrize(
    "change",
    [mutate.bytes_changed, mutate.text_changed, mutate.json_changed, mutate.records_changed],
)
def test_changes_take_anything(change: Any) -> None:
    random = Random(3)
    for _ in range(200):
        data = random.randbytes(random.randrange(20))
        assert isinstance(change(data, random), bytes)


def test_a_fault_of_a_child_is_its_cases() -> None:
    def judge(number: int) -> tuple[int, str]:
        if number == 2:
            raise ValueError("no error of ours")
        if number == 4:
            os.abort()
        if number == 6:
            time.sleep(60)
        if number == 7:
            while True:
                pass
        if number == 8:
            bytearray(1 << 40)
        return READ, ""

    found = list(outcomes(judge, 0, 10, seconds=2, memory=4 << 30))
    assert [outcome.number for outcome in found] == list(range(10))
    faults = {o.number: o.text.splitlines()[-1] for o in found if o.kind == FAULT}
    assert faults == {
        2: "ValueError: no error of ours",
        4: "crash: SIGABRT",
        **dict.fromkeys((6, 7), "hang: more than 2 seconds"),
        8: "MemoryError",
    }


def test_who_gets_little_of_the_processor_does_not_hang() -> None:
    def judge(number: int) -> tuple[int, str]:
        for _ in range(25):
            time.sleep(0.1)
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
        return READ, ""

    assert [o.kind for o in outcomes(judge, 0, 1, seconds=1, memory=4 << 30)] == [READ]


def test_the_command_counts_and_keeps(gravure: Any, tmp_path: Path) -> None:
    found = gravure(
        "fuzz", "files", "--kind", "weights", "--kind", "note", "--cases", "40", "--json"
    )
    assert found.status == 0, found.out
    rows = {row["kind"]: row for row in found.json["kinds"]}
    assert rows.keys() == {"weights", "note"}
    for row in rows.values():
        assert row["read"] + row["refused"] == 40
        assert not row["faults"]
    assert gravure("fuzz", "files", "--kind", "nothing").status == 2
    assert gravure("fuzz", "files", "--example", tmp_path / "none.onnx").status == 66


MODEL = "model m(x: f32[4]) -> (y) {{ y = {} }}"
VAST = 99_999_999_999_999_999_999
MAIN = "func.func @main(%x: {0}) -> {0} {{\n{1}\nfunc.return %x : {0} }}"
FOUND = {
    "one pad of an axis": MAIN.format(
        "tensor<4xf32>",
        '%0 = gv.pad %x {pads = [array<i64: 1>], mode = "edge"} : (tensor<4xf32>) -> tensor<5xf32>',
    ),
    "functions of two blocks": MAIN.format(
        "tensor<4xf32>", "func.return %x : tensor<4xf32>\n^next:"
    ),
    "one pad of a window": MAIN.format(
        "tensor<1x1x4xf32>",
        "%0 = gv.conv %x, %x {pads = [array<i64: 1>], strides = [1], dilations = [1]}"
        " : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x2xf32>",
    ),
    "a vast integer": "module attributes {a = array<i4294967296: 8, 16>} {}",
    "integers of no bits": "module attributes {a = array<i0: 8>} {}",
    "a vast dimension": MODEL.format("broadcast_to(x, shape=[4611686018427387904, 4])"),
    "a vast attribute": MODEL.format(f"reshape(x, shape=[{VAST}, 4])"),
    "a vast argument": MAIN.format(f"tensor<{VAST}xf32>", ""),
    "upstream operations": MAIN.format("f32", "%0 = arith.addf %x, %x : f32"),
    "weights": "\x14\0\0\0\0\0\0\0" + '{"a": 1}            ',
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_refused(name: str) -> None:
    with pytest.raises(GravureError):
        load_program(FOUND[name].encode())


def test_less_memory_than_a_case_may_take_is_no_fault() -> None:
    program = (
        "import resource\n"
        "limit = 1 << 40\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "from gravure.tools.fuzz.workers import READ, outcomes\n"
        "found = [*outcomes(lambda number: (READ, 'fine'), 0, 3, seconds=60.0, memory=1 << 41)]\n"
        "assert [x.kind for x in found] == [READ] * 3, found\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
