"""Pages that show models: what is in them, and that they work in a browser, offline."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Page, browser, find_browser
from onnx import TensorProto, helper, numpy_helper, save

import gravure as gv
from gravure.errors import GravureError
from gravure.frontend.programs.load import load_program
from gravure.passes.analysis.memory.chart import peak_of
from gravure.passes.manager import run as run_passes
from gravure.tools.viewing.histograms import row_of
from gravure.tools.viewing.snapshots import Snapshots

MODELS = Path(__file__).parents[1] / "models"
EVIL = "</script><img src=x onerror=boom()>"


CONTRAST = """(() => {
  const part = (x) => (x / 255 <= 0.04045 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4);
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(part);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.body);
  const [a, b] = [light(style.color), light(style.backgroundColor)];
  return [b < 0.5, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
})()"""
"""Whether the background is dark, and the contrast of the text to it, by the rule of WCAG 2."""


def scoped(path: Path, blocks: int) -> Path:
    """Write a model whose nodes stand in scopes, three in each block; one has an evil name."""
    random, nodes, weights, x = np.random.default_rng(0), [], [], "x"
    for block in range(blocks):
        scope = f"/layer{block // 4}/block{block % 4}"
        array = random.standard_normal((16, 16)).astype(np.float32)
        weights.append(numpy_helper.from_array(array, f"{scope}/w"))
        last = f"{scope}/{EVIL}" if block == blocks - 1 else f"{scope}/relu"
        nodes += [
            helper.make_node("MatMul", [x, f"{scope}/w"], [f"{scope}/m"], name=f"{scope}/matmul"),
            helper.make_node("Add", [f"{scope}/m", x], [f"{scope}/a"], name=f"{scope}/add"),
            helper.make_node("Relu", [f"{scope}/a"], [f"{scope}/r"], name=last),
        ]
        x = f"{scope}/r"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, 16]) for n in ("x", x)]
    graph = helper.make_graph(nodes, "scoped", ends[:1], ends[1:], weights)
    opsets = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def data_of(path: Path) -> dict[str, Any]:
    """Return the data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text())
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def replayed(steps: list[dict[str, Any]]) -> dict[int, Any]:
    """Return the operations behind the last step, by their number, from the differences."""
    rows: dict[int, Any] = {}
    for step in steps:
        for number in step["dropped"]:
            del rows[number]
        rows.update((row[0], row) for row in step["changed"])
        assert len(rows) == step["count"]
    return rows


def test_differences_of_passes_add_up_to_the_program() -> None:
    program = load_program(MODELS / "digits.onnx")
    seen = Snapshots()
    pipeline = "canonicalize,constant-fold,fold-batch-norm,decompose,cse,dce"
    run_passes(pipeline, program, observers=[seen], verify_each=False)
    rows = replayed([each.as_json() for each in seen.taken])
    ops = [op.name for op in program.main.walk() if op.name.startswith("gv.")]
    assert sorted(f"gv.{row[2]}" for row in rows.values()) == sorted(ops)
    quiet = next(each for each in seen.taken if each.name == "canonicalize")
    assert not any(row[2] == "batch_norm" for row in quiet.changed), "what stays is not new"


def test_a_page_has_kernels_memory_and_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.html"
    found = gv.view(MODELS / "conv_norm.onnx", path)
    data = data_of(path)
    assert len(data["kernels"]) == 3
    assert all(row["seconds"] > 0 and row["limit_share"] > 0 for row in data["kernels"])
    memory = data["memory"]
    model = gv.compile(MODELS / "conv_norm.onnx")
    assert memory["peak"] <= memory["end"] <= model.workspace_bytes
    assert [row["name"] for row in data["weights"]]
    assert "3 launches" in str(found)
    assert data["steps"][0]["name"] == "as it is read"


def test_nothing_runs_where_nothing_is_measured(tmp_path: Path) -> None:
    data = gv.view(MODELS / "mlp.onnx", tmp_path / "m.html", measure=False).data
    assert "seconds" not in data["kernels"][0]


def test_a_model_with_host_steps_has_its_graph(tmp_path: Path) -> None:
    ends = [helper.make_tensor_value_info("x", TensorProto.STRING, [2])]
    ends += [helper.make_tensor_value_info("y", TensorProto.STRING, [2])]
    node = helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action="LOWER")
    graph = helper.make_graph([node], "text", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    data = gv.view(model.SerializeToString(), tmp_path / "m.html").data
    assert "host steps" in data["why"]
    assert len(data["steps"]) == 1
    assert data["kernels"] == []


def test_the_most_bytes_at_one_time() -> None:
    rows = [
        {"first": 0, "last": 1, "bytes": 8, "offset": 0},
        {"first": 1, "last": 2, "bytes": 16, "offset": 8},
        {"first": 2, "last": 2, "bytes": 4, "offset": 0},
    ]
    assert peak_of(rows, 3) == {"live": [8, 24, 20], "peak": 24, "peak_at": 1, "end": 24}


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.0, np.nan, np.inf], np.float32), np.zeros((0, 3)), np.full(5, 2.0),
        np.array([b"a"], object), np.arange(6, dtype=np.int64), np.array([np.nan]),
    ],
)  # fmt: skip
def test_every_weight_has_a_row(array: Any) -> None:
    row = row_of("w", array)
    json.dumps(row, allow_nan=False)
    finite = np.isfinite(array).sum() if array.dtype.kind in "fi" else 0
    assert sum(row.get("counts", ())) == finite


def test_the_command_writes_pages(gravure: Any, tmp_path: Path) -> None:
    page = tmp_path / "m.html"
    found = gravure("inspect", MODELS / "mlp.onnx", "--html", page, "--no-measure")
    assert (found.status, page.is_file()) == (0, True)
    assert gravure("inspect", MODELS / "mlp.onnx", "--html", page, "--check").status == 2
    assert gravure("inspect", MODELS / "mlp.onnx", "--html", "-").status == 2
    gv.compile(MODELS / "mlp.onnx").save(tmp_path / "m.so")
    with pytest.raises(GravureError, match="not a library"):
        gv.view(tmp_path / "m.so", page)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with pages."""
    folder = tmp_path_factory.mktemp("pages")
    gv.view(scoped(folder / "m.onnx", 8), folder / "m.html", seconds=0.01)
    found = gv.bench(folder / "m.onnx", seconds=0.02, warm_up=0.0, layers=True)
    (folder / "bench.html").write_text(found.html())
    return folder


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[Page]:
    """Start a browser."""
    with browser(tmp_path / "profile") as page:
        yield page


in_a_browser = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason="there is no Chromium"),
]


class TestInABrowser:
    """What users do with the pages."""

    pytestmark = in_a_browser

    def test_scopes_open_and_close(self, chromium: Page, pages: Path) -> None:
        chromium.open(pages / "m.html")
        chromium.click("#close")
        assert chromium.evaluate("state.drawn.boxes.map(b => b.text)") == [
            "layer0 (12)", "layer1 (12)"
        ]  # fmt: skip
        chromium.click("[data-scope=layer1]")
        assert chromium.evaluate("state.drawn.boxes.length") == 5
        chromium.evaluate("centre(state.drawn.boxes[0])")
        x, y = chromium.evaluate(
            "(() => { const r = $('canvas').getBoundingClientRect(), b = state.drawn.boxes[0],"
            " v = state.view; return [r.x + r.width / 2 + v.x + v.scale * b.x,"
            " r.y + 20 + v.y + v.scale * (b.y + 13)]; })()"
        )
        chromium.click_at(x, y, times=2)
        assert chromium.evaluate("state.open.has('layer0')"), "a double click opens"
        chromium.click("#open")
        assert chromium.evaluate("state.drawn.boxes.length") == 24
        assert chromium.evaluate("state.painted") > 0
        assert chromium.faults == []

    def test_search_finds_and_shows(self, chromium: Page, pages: Path) -> None:
        chromium.open(pages / "m.html")
        chromium.click("#close")
        chromium.type("#search", "relu block2")
        assert chromium.evaluate("$('found').textContent") == "2 found"
        chromium.click("#hits li:last-child")
        text = chromium.evaluate("$('details').innerText")
        assert "/layer1/block2/relu" in text
        assert "4x16xf32" in text
        assert chromium.evaluate("state.open.has('layer1/block2')")
        chromium.type("#search", "onerror")
        assert chromium.evaluate("$('found').textContent") == "1 found"
        chromium.click("#hits li")
        assert EVIL in chromium.evaluate("$('details').innerText"), "a name is no markup"
        assert chromium.faults == []

    def test_passes_show_what_they_changed(self, chromium: Page, pages: Path) -> None:
        chromium.open(pages / "m.html")
        chromium.click("#next")
        assert chromium.evaluate("state.step") > 0
        assert chromium.evaluate("state.fresh.size") > 0
        chromium.click("#tab-passes")
        step = chromium.evaluate("data.steps.findIndex(s => s.name === 'fuse')")
        chromium.click(f"#passlist li[data-step='{step}']")
        before = chromium.evaluate("document.querySelectorAll('#what td.gone').length")
        after = chromium.evaluate("document.querySelectorAll('#what td.new').length")
        assert before > 0
        assert after > 0
        rows = chromium.evaluate("(go(data.steps.length - 1), state.rows.size)")
        chromium.evaluate("go(0)")
        assert chromium.evaluate("(go(data.steps.length - 1), state.rows.size)") == rows
        assert chromium.evaluate("data.steps[data.steps.length - 1].count") == rows
        assert chromium.faults == []

    def test_kernels_memory_weights(self, chromium: Page, pages: Path) -> None:
        chromium.open(pages / "m.html")
        chromium.click("#tab-kernels")
        assert chromium.evaluate("document.querySelectorAll('#kernels tbody tr').length") == 8
        chromium.click("#kernels tbody tr:nth-child(3)")
        assert "share of the limit" in chromium.evaluate("$('details').innerText")
        assert "/layer0/block2/matmul" in chromium.evaluate("$('details').innerText")
        chromium.click("#tab-memory")
        boxes = chromium.evaluate("document.querySelectorAll('#map rect').length")
        assert boxes == chromium.evaluate("data.memory.buffers.length")
        chromium.click("#tab-weights")
        assert chromium.evaluate("document.querySelectorAll('svg.histogram').length") == 8
        assert chromium.faults == []

    def test_colours_are_readable_in_dark_and_light(self, chromium: Page, pages: Path) -> None:

        chromium.open(pages / "m.html")
        for dark in (False, True):
            chromium.dark(on=dark)
            is_dark, contrast = chromium.evaluate(CONTRAST)
            assert is_dark is dark
            assert contrast > 7
        chromium.click("#theme")
        assert chromium.evaluate(CONTRAST)[0] is False

    def test_a_page_of_launches(self, chromium: Page, pages: Path) -> None:
        chromium.open(pages / "bench.html")
        chromium.click("#tab-layers")
        assert chromium.evaluate("document.querySelectorAll('#layers tbody tr').length") == 8
        chromium.click("#tab-roofline")
        assert chromium.evaluate("document.querySelectorAll('#roofline circle').length") == 8
        chromium.click("#tab-memory")
        assert chromium.evaluate("document.querySelectorAll('#map rect').length") > 0
        assert chromium.faults == []
