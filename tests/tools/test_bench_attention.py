"""The tool that times attention beside others, tried without any."""

import pytest

from gravure.tools.measuring.bench_attention import main


def test_a_row_of_each_case_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--sequence", "16", "--heads", "2", "--width", "16", "--seconds", "0"]
    assert main([*options, "--cases", "causal", "decode"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["causal", "16", "gravure"],
        ["decode", "16", "gravure"],
    ]
