"""Plugins: packages that are installed, files that are named, and what is wrong with some."""

import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gravure as gv
from gravure import extend, extensions, plugins
from gravure.codegen.backends.table import BACKENDS
from gravure.frontend.onnx.registry import RULES
from gravure.ir import REGISTRY
from gravure.passes.manager import OUTSIDE
from gravure.plugins import API, PluginError
from gravure.target import PROCESSORS

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "tests" / "examples" / "plugin"
X = np.linspace(-1, 1, 5, dtype=np.float32)
SHRUNK = np.array([-0.5, 0, 0, 0, 0.5], np.float32)
TEXT = "model m(x: f32[5]) -> (y) { y = shrink.soft(x, threshold=0.5) }"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pip has installed the example into, from a wheel and without the network."""
    folder = tmp_path_factory.mktemp("site")
    wheel = write_wheel(EXAMPLE, tmp_path_factory.mktemp("wheels"))
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"),
            *("--no-build-isolation", "--target", str(folder), str(wheel)),
        ],
        check=True,
    )
    return folder


def write_wheel(source: Path, folder: Path) -> Path:
    """Write the wheel of a project of plain Python: what its build back end would, by the format.

    The build back end itself may be too old here, and cannot be fetched.
    """
    project = tomllib.loads((source / "pyproject.toml").read_text())
    about = project["project"]
    name, version = about["name"].replace("-", "_"), about["version"]
    info = f"{name}-{version}.dist-info"
    groups = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items())
        for group, rows in about["entry-points"].items()
    ]
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(groups),
    }
    for package in project["tool"]["setuptools"]["packages"]:
        for path in sorted((source / package).glob("*.py")):
            files[f"{package}/{path.name}"] = path.read_text()
    files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in [*files, f"{info}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for each, text in files.items():
            wheel.writestr(each, text)
    return path


@dataclass
class Elsewhere:
    """Runs Python and the command in processes that see a folder of packages."""

    site: Path
    folder: Path
    more: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        paths = [str(self.site), str(ROOT), *filter(None, sys.path)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "GRAVURE_CACHE": str(self.folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.more,
        }
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr + done.stdout
        return done

    def python(self, code: str) -> list[str]:
        return self.run("-c", textwrap.dedent(code)).stdout.splitlines()

    def command(self, *arguments: str, status: int = 0) -> str:
        done = self.run("-m", "gravure", *arguments, status=status)
        return done.stderr if status else done.stdout


@pytest.fixture
def elsewhere(site: Path, tmp_path: Path) -> Elsewhere:
    return Elsewhere(site, tmp_path)


def onnx_model(folder: Path) -> Path:
    """Write a model with one node of the example's domain."""
    node = helper.make_node(
        "SoftThreshold", ["x"], ["y"], threshold=0.5, domain="org.example.shrink"
    )
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in "xy"]
    graph = helper.make_graph([node], "m", [info[0]], [info[1]])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("org.example.shrink", 1)]
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


@pytest.mark.slow
def test_an_installed_package_is_used_from_python(elsewhere: Elsewhere) -> None:
    onnx_model(elsewhere.folder)
    printed = elsewhere.python(f"""
        import numpy as np, gravure as gv
        from gravure import plugins
        x = np.linspace(-1, 1, 5, dtype=np.float32)
        print((gv.asarray(x) + 1).numpy()[0], plugins.STATE.is_searched)
        made = gv.compile({TEXT.encode()!r}, cache=False)
        print(made(x).tolist(), plugins.STATE.is_searched)
        print(gv.compile("m.onnx")(x).tolist())
        model = gv.compile("m.onnx", target="walked")
        print(model(x).tolist(), model.compiled.program.level)
        from gravure_shrink import soft_threshold
        f = gv.function(lambda v: soft_threshold(soft_threshold(v, 0.25), 0.25))
        t = gv.asarray(x)
        print(f(t).numpy().tolist(), soft_threshold(t, 0.5).numpy().tolist())
        with gv.GradientTape() as tape:
            tape.watch(t)
            y = gv.sum(f(t) * 3)
        print(tape.gradient(y, t).numpy().tolist())
        row = gv.list_plugins().rows[0]
        print(row.name, row.package, row.state, sorted(row.registers.items()))
    """)
    shrunk = str((SHRUNK + np.float32(0)).tolist())
    kinds = [
        ("ONNX rule", ["org.example.shrink.SoftThreshold"]),
        ("back end", ["walked"]),
        ("operation", ["shrink.soft"]),
        ("pass", ["merge-soft"]),
    ]
    assert [re.sub(r"-0\.0", "0.0", line) for line in printed] == [
        "0.0 False",
        f"{shrunk} True",
        shrunk,
        f"{shrunk} loops",
        f"{shrunk} {shrunk}",
        "[3.0, 0.0, 0.0, 0.0, 3.0]",
        f"shrink gravure-shrink 1.0 loaded {kinds}",
    ]


@pytest.mark.slow
def test_an_installed_package_is_used_from_the_command_line(elsewhere: Elsewhere) -> None:
    (elsewhere.folder / "m.gv").write_text(TEXT)
    model = str(onnx_model(elsewhere.folder))
    listed = json.loads(elsewhere.command("plugins", "--json"))
    assert [row["state"] for row in listed["plugins"]] == ["loaded"]
    assert "loops, by interpreter" in elsewhere.command("targets")
    assert "merge-soft" in elsewhere.command("passes")
    assert "shrink.soft" in elsewhere.command("ops")
    for target in ("native", "walked"):
        found = elsewhere.command("run", model, "--target", target, "--vs", "interp")
        assert "ok" in found
    text = elsewhere.command("compile", "m.gv", "--to", "import")
    assert "shrink.soft %" in text
    (elsewhere.folder / "m.mlir").write_text(text)
    assert "shrink.soft %" in elsewhere.command("opt", "m.mlir", "-p", "merge-soft,dce")
    assert elsewhere.command("compile", model, "-o", "m.so") is not None
    [y] = gv.load(elsewhere.folder / "m.so").run([X])
    np.testing.assert_array_equal(y, SHRUNK)
    said = elsewhere.command("compile", model, "--target", "walked", "-o", "w.so", status=69)
    assert "its back end runs programs in this process, and makes no files" in said
    elsewhere.more["GRAVURE_PLUGINS"] = "off"
    assert "unknown target 'walked'" in elsewhere.command("targets", "walked", status=2)


@pytest.mark.slow
def test_a_plugin_is_a_part_of_what_is_kept(elsewhere: Elsewhere, tmp_path: Path) -> None:
    onnx_model(tmp_path)
    elsewhere.site = tmp_path / "site"
    write_package(elsewhere.site, "shrink", copy_of(EXAMPLE / "gravure_shrink"), "gravure_shrink")
    code = """
        import numpy as np, gravure as gv
        made = gv.compile("m.onnx")
        print(made(np.ones(5, np.float32))[0], made.compiled.program is None)
    """
    assert [elsewhere.python(code) for _ in range(2)] == [["0.5 False"], ["0.5 True"]]
    changed = elsewhere.site / "gravure_shrink" / "onnx_rules.py"
    changed.write_text(changed.read_text().replace('("threshold", 1.0)', '("threshold") / 2'))
    assert [elsewhere.python(code) for _ in range(2)] == [["0.75 False"], ["0.75 True"]]
    (elsewhere.site / "gravure_shrink" / "table.txt").write_text("another")
    assert [elsewhere.python(code) for _ in range(2)] == [["0.75 False"], ["0.75 True"]]
    operation = elsewhere.site / "gravure_shrink" / "operation.py"
    operation.write_text(operation.read_text().replace("(-size, size)", "(-size, size * 2)"))
    assert elsewhere.python(code) == ["1.5 False"]
    elsewhere.more["GRAVURE_PLUGINS"] = "off"
    done = elsewhere.run("-c", textwrap.dedent(code), status=1)
    assert "SoftThreshold" in done.stderr


def copy_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.py")}


def write_package(
    site: Path, name: str, files: dict[str, str], module: str, package: str = ""
) -> None:
    """Write what pip leaves of a package with one plugin."""
    for file, text in files.items():
        path = site / module / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    package = package or f"gravure_{name}"
    info = site / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[gravure.plugins]\n{name} = {module}\n")


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plugins as in a process that has not looked for any."""
    monkeypatch.setattr(plugins, "STATE", plugins.PluginState())
    before = len(extensions.REGISTERED)
    modules = {*sys.modules}
    yield
    extensions.forget_behind(before)
    for name in {*sys.modules} - modules:
        if name.startswith(("gravure_", "broken")):
            del sys.modules[name]


Install = Callable[..., None]


@pytest.fixture
def install(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Write packages with plugins, and see them and no others."""
    del fresh
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def write(name: str, text: str, package: str = "", module: str = "") -> None:
        module = module or f"broken_{name}"
        write_package(tmp_path / "site", name, {"__init__.py": text}, module, package)
        sys.path_importer_cache.clear()

    return write


HEAD = "GRAVURE_API = 1\n"
HALF = """
from gravure.extend import Pass, Unary, register_operation, register_pass
@register_operation
class Half(Unary):
    "A half."
    name = "broken.half"
@register_pass
class Nothing(Pass):
    "Does nothing."
    name = "half-nothing"
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "x = 1\ny = x.z\n", r"__init__.py:3: .*: AttributeError: .*'z'"),
        (HEAD + "def f(:\n", r"__init__.py:2: .*: SyntaxError"),
        (HEAD + "import no_such_module_there\n", r"__init__.py:2: .*ModuleNotFoundError: "),
        ("GRAVURE_API = 7\n1 / 0\n", r"written for the interface 7, this is an older gravure"),
        ("GRAVURE_API = 0\n1 / 0\n", r"written for the interface 0, this is a newer gravure"),
        ("1 / 0\n", r"the module says no number, expected GRAVURE_API = 1"),
        ("GRAVURE_API = 1 + 0\n1 / 0\n", r"the module says no number"),
        (HEAD + HALF + "1 / 0\n", r"__init__.py:12: .*ZeroDivisionError"),
    ],
)
def test_a_fault_is_named_with_package_and_place(install: Install, text: str, said: str) -> None:
    install("bad", text)
    before = [*extensions.REGISTERED]
    for _ in range(2):  # it is told each time, as what was asked for may be in it
        with pytest.raises(PluginError) as raised:
            gv.list_passes(["half-nothing"])
        assert "plugin 'bad' of gravure_bad 1.0" in str(raised.value)
        assert re.search(said, str(raised.value).replace("\n", " "))
    assert before == extensions.REGISTERED
    assert "broken.half" not in REGISTRY
    assert "half-nothing" not in OUTSIDE
    assert "broken_bad" not in sys.modules
    [row] = gv.list_plugins().rows
    assert row.state == "fault"
    assert "gravure_bad 1.0" in row.fault
    assert gv.list_passes(["dce"]).rows[0].name == "dce"  # what is known is not looked for


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "gv.add"\nOne = register_operation(type("One", (Unary,), dict(name=name)))',
         "operation 'gv.add' is defined twice: gravure has it"),
        ('One = register_operation(type("One", (Unary,), dict(name="broken.o", ONNX="Relu")))',
         "ONNX rule 'Relu' is defined twice: gravure has it"),
        ('One = register_pass(type("One", (Pass,), dict(name="constant-fold")))',
         "pass 'constant-fold' is defined twice: gravure has it"),
        ('@rule("Softmax", "Own")\ndef f(node, x): ...',
         "ONNX rule 'Softmax' is defined twice: gravure has it"),
        ('One = register_operation(type("One", (Unary,), dict(name="broken.half")))',
         "operation 'broken.half' is defined twice: plugin 'a' of gravure_a 1.0 has it"),
        ('One = register_pass(type("One", (Pass,), dict(name="half-nothing")))',
         "pass 'half-nothing' is defined twice: plugin 'a' of gravure_a 1.0 has it"),
    ],
)  # fmt: skip
def test_names_that_are_taken_are_refused(install: Install, text: str, said: str) -> None:
    start = "from gravure.extend import Pass, Unary, register_operation, register_pass, rule\n"
    install("a", HEAD + HALF)
    install("b", HEAD + start + text)
    rows = {row.name: row for row in gv.list_plugins().rows}
    assert (rows["a"].state, rows["b"].state) == ("loaded", "fault")
    assert f"plugin 'b' of gravure_b 1.0 cannot be loaded: {said}" in rows["b"].fault
    assert "__init__.py:" in rows["b"].fault
    assert "broken.half" in REGISTRY
    assert all(each.rule.__module__ != "broken_b" for each in RULES.get(("", "Softmax"), ()))


def test_two_packages_cannot_have_a_plugin_of_one_name(install: Install) -> None:
    install("same", HEAD, "first", "broken_first")
    install("same", HEAD, "second", "broken_second")
    rows = [(row.name, row.package, row.state, row.fault) for row in gv.list_plugins().rows]
    fault = "plugin 'same' of second 1.0: first 1.0 has its name"
    assert rows == [("same", "first 1.0", "loaded", ""), ("same", "second 1.0", "fault", fault)]


def test_a_file_is_a_plugin(fresh: None, tmp_path: Path) -> None:
    del fresh
    path = tmp_path / "broken_file.py"
    path.write_text(HEAD + HALF)
    row = gv.load_plugin(path)
    assert (row.name, row.path, row.state) == ("broken_file", str(path), "loaded")
    assert row.registers == {"operation": ["broken.half"], "pass": ["half-nothing"]}
    assert gv.load_plugin(path) == row
    assert gv.list_passes(["half-nothing"]).rows[0].summary == "Does nothing."
    plugins.unload(plugins.STATE.found["broken_file"])
    assert "broken.half" not in REGISTRY
    path.write_text(HEAD + "raise KeyError('k')")
    with pytest.raises(PluginError, match=rf"{path}:2: plugin 'broken_file' of {path} cannot be"):
        gv.load_plugin(path)
    (tmp_path / "json.py").write_text(HEAD)
    with pytest.raises(PluginError, match="there is a module or plugin of that name already"):
        gv.load_plugin(tmp_path / "json.py")
    (tmp_path / "a-b.py").write_text(HEAD)
    with pytest.raises(PluginError, match="the name is no module's"):
        gv.load_plugin(tmp_path / "a-b.py")
    with pytest.raises(PluginError, match="no such plugin"):
        gv.load_plugin(tmp_path / "none.py")


def test_a_folder_is_a_plugin_and_can_be_taken_out_again(fresh: None) -> None:
    del fresh
    gv.load_plugin(EXAMPLE / "gravure_shrink")
    assert "walked" in BACKENDS
    found = gv.compile(TEXT.encode(), target="walked")(X)
    np.testing.assert_array_equal(found, SHRUNK)
    plugins.unload(plugins.STATE.found["gravure_shrink"])
    assert not {"walked"} & {*BACKENDS, *PROCESSORS}
    assert ("org.example.shrink", "SoftThreshold") not in {k for k, rows in RULES.items() if rows}


@pytest.mark.slow
def test_what_fails_in_a_plugin_is_its_mistake(elsewhere: Elsewhere, tmp_path: Path) -> None:
    model, file = str(onnx_model(tmp_path)), tmp_path / "broken_rules.py"
    file.write_text(
        HEAD
        + textwrap.dedent("""
        from dataclasses import dataclass
        from gravure.extend import Pass, register_pass, rule

        @rule("SoftThreshold", domain="org.example.shrink")
        def soft(node, x):
            return node.emit(None, x)

        @register_pass
        @dataclass(frozen=True)
        class Fails(Pass):
            "Fails."
            name = "fails"

            def apply(self, program):
                self.count("it")
                return {}["nothing"]
    """)
    )
    elsewhere.site = tmp_path / "none"
    said = elsewhere.command("run", model, "--plugin", str(file), status=69)
    assert re.search(rf"{file}:8: plugin 'broken_rules' of {file} failed: \w+Error", said)
    (tmp_path / "m.gv").write_text("model m(x: f32[5]) -> (y) { y = relu(x) }")
    said = elsewhere.command(
        "compile", "m.gv", "--to", "graph", "--plugin", str(file), "--passes", "fails", status=70
    )
    assert f"KeyError: 'nothing' ({file}:18)" in said
    assert f"a mistake in plugin 'broken_rules' of {file}" in said


def test_importing_looks_for_nothing() -> None:
    code = """
        import sys, gravure
        from gravure import plugins
        print(plugins.STATE.is_searched, "importlib.metadata" in sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stdout.decode().split() == ["False", "False"]


def test_the_number_is_that_of_the_example() -> None:
    text = (EXAMPLE / "gravure_shrink" / "__init__.py").read_text()
    assert f"GRAVURE_API = {API}\n" in text


PAGE = (ROOT / "docs" / "plugins.md").read_text()
COMMANDS = [
    line.removeprefix("gravure ").split()
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    for line in block.splitlines()
]


@pytest.mark.slow
def test_python_of_the_page(elsewhere: Elsewhere) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    wanted = re.findall(r"^ *print\(.*\)\s+# (.*)$", "".join(blocks), re.MULTILINE)
    elsewhere.folder, elsewhere.site = ROOT, elsewhere.folder
    elsewhere.more["GRAVURE_CACHE"] = "off"
    assert elsewhere.python("\n".join(blocks)) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_of_the_page(elsewhere: Elsewhere, command: list[str]) -> None:
    elsewhere.folder, elsewhere.site = ROOT, elsewhere.folder
    elsewhere.more["GRAVURE_CACHE"] = "off"
    assert elsewhere.command(*command)


def test_the_page_has_all_names() -> None:
    rows = re.findall(r"^\| [\w ]+ \| (.*) \|$", PAGE, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows[1:]))) == extend.__all__
    for name in extend.__all__:
        assert getattr(extend, name) is not None


def test_links_of_the_page_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)]+)\)", PAGE)
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
