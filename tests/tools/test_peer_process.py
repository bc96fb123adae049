"""Other runtimes that are measured beside libraries, in a process of their own."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gravure.tools.measuring.peer_process import openvino


class Port:
    """A port of a compiled model, by all of its names."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.any_name = names[0]

    def get_names(self) -> set[str]:
        return set(self.names)


class Request:
    """Gives twice what the input `x` is."""

    def infer(self, named: dict[str, Any], **_: bool) -> None:
        self.made = named["x"] * 2

    def get_output_tensor(self, _: int) -> Any:
        return SimpleNamespace(data=self.made)


def runtime_of(*names: str) -> Any:
    compiled = SimpleNamespace(
        inputs=[Port(*names)], outputs=[Port("y")], create_infer_request=Request
    )
    core = SimpleNamespace(compile_model=lambda *_: compiled)
    return SimpleNamespace(Core=lambda: core, __version__="1")


def test_a_port_is_found_by_any_of_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", runtime_of("behind", "x"))
    call, _ = openvino("model.onnx", {"x": np.ones(3)}, 1)
    np.testing.assert_array_equal(call()[0], 2 * np.ones(3))


def test_a_port_without_an_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", runtime_of("a", "b"))
    with pytest.raises(KeyError, match=r"names .'a', 'b'.*inputs are .'x'"):
        openvino("model.onnx", {"x": np.ones(3)}, 1)
