"""Checkpoints that are damaged, or of something else: refused with their place, nothing changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import gravure as gv
from gravure import tf
from gravure.errors import CheckpointError
from gravure.frontend.files.weights import digest_of_weights
from gravure.frontend.graph.checkpoint_ops import (
    DamagedCheckpointError,
    NoCheckpointError,
    UnfitCheckpointError,
)

v1 = tf.compat.v1


def saved(folder: Path, name: str = "c") -> str:
    a, b = tf.Variable([1.0, 2.0]), tf.Variable(3)
    return str(tf.train.Checkpoint(a=a, b=b).save(str(folder / name)))


def test_one_variable_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path)
    a, b = tf.Variable([7.0, 7.0]), tf.Variable([[7]])
    target = tf.train.Checkpoint(a=a, b=b)
    with pytest.raises(UnfitCheckpointError, match=r"does not fit: b: int32\[\], expected") as told:
        target.restore(path)
    assert isinstance(told.value, CheckpointError)
    assert a.numpy().tolist() == [7.0, 7.0]
    assert b.numpy().tolist() == [[7]]
    assert not target.pending


def test_all_that_does_not_fit_is_listed(tmp_path: Path) -> None:
    path = saved(tmp_path)
    target = tf.train.Checkpoint(a=np.zeros(3, np.float32), b=tf.Variable(1.0))
    with pytest.raises(UnfitCheckpointError, match=r"a: float32\[2\].*; b: int32\[\]"):
        target.restore(path)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128, np.bool_, np.float16, np.int8])
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 2)])
def test_every_type_comes_back(tmp_path: Path, dtype: Any, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(3)
    array = (random.integers(0, 5, shape) + random.integers(0, 5, shape) * 1j).astype(
        dtype if np.dtype(dtype).kind == "c" else np.complex128
    )
    value = array if np.dtype(dtype).kind == "c" else array.real.astype(dtype)
    one, other = tf.Variable(value), tf.Variable(np.zeros(shape, dtype))
    path = tf.train.Checkpoint(x=one).save(str(tmp_path / "c"))
    tf.train.Checkpoint(x=other).restore(path).assert_consumed()
    np.testing.assert_array_equal(other.numpy(), value)
    assert other.dtype == one.dtype
    load_file(f"{path}.safetensors")  # what others read, too


def test_complex_variables_of_a_session(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        x = tf.Variable(np.array([1 + 2j, 3 - 4j]), name="x")
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            path = saver.save(session, str(tmp_path / "m"))
            session.run(v1.assign(x, x * 0))
            saver.restore(session, path)
            assert session.run(x).tolist() == [1 + 2j, 3 - 4j]


DAMAGES = {
    "empty": lambda data: b"",
    "short": lambda data: data[:5],
    "cut": lambda data: data[:-3],
    "long header": lambda data: (1 << 62).to_bytes(8, "little") + data[8:],
    "no json": lambda data: data[:8] + b"\xff" * (len(data) - 8),
    "list": lambda data: (2).to_bytes(8, "little") + b"[]",
    "row": lambda data: (9).to_bytes(8, "little") + b'{"a": 12}',
    "dtype": lambda data: data.replace(b'"F32"', b'"X32"'),
    "shape": lambda data: data.replace(b"[2]", b"[3]"),
    "negative": lambda data: data.replace(b"[2]", b"[-2]"),
    "a bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "a name": lambda data: data.replace(b'"a/', b'"e/'),
    "objects": lambda data: data.replace(b"leaves", b"leaver"),
    "metadata": lambda data: data.replace(b'{"_CHECKPOINTABLE', b'["_CHECKPOINTABLE'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_with_its_place(tmp_path: Path, damage: str) -> None:
    path = saved(tmp_path)
    file = Path(path + ".safetensors")
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    a = tf.Variable([7.0, 7.0])
    for use in (
        tf.train.Checkpoint(a=a).restore,
        tf.train.load_checkpoint,
        tf.train.list_variables,
        lambda path: tf.train.load_variable(path, "a"),
    ):
        with pytest.raises(DamagedCheckpointError, match=r"c-1\.safetensors"):
            use(path)
    assert a.numpy().tolist() == [7.0, 7.0]


@pytest.mark.parametrize(
    "text",
    [
        '{"latest": "/etc/passwd"}', '{"latest": "../c-1"}', '{"latest": 3}', "{}", "[]", "", "{",
        '{"latest": "c-1", "all": ["a/b"]}', '{"latest": "c-1", "all": 1}', '{"latest": ".."}',
        '{"latest": "c-1", "dropped": ["/etc/passwd"]}', '{"latest": "a\\u0000b"}', "[" * 100_000,
        "some text", 'model_checkpoint_path: "../c-1"', 'model_checkpoint_path: "/etc/passwd"',
        'all_model_checkpoint_paths: "c-1"', 'model_checkpoint_path: "c-1"\nmore', "\xff\xfe\0",
        'model_checkpoint_path: "c-1"\n# dropped: "../c-2"', "model_checkpoint_path: 3.5",
    ],
)  # fmt: skip
def test_a_note_that_leads_elsewhere_is_refused(tmp_path: Path, text: str) -> None:
    saved(tmp_path)
    (tmp_path / "checkpoint").write_text(text)
    with pytest.raises(DamagedCheckpointError, match=rf"{tmp_path}/checkpoint: "):
        tf.train.latest_checkpoint(str(tmp_path))
    with pytest.raises(gv.GravureError, match="checkpoint: "):
        tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1)), tmp_path)


@pytest.mark.parametrize("form", ['"{}/{}"', '"{1}"'])
def test_the_note_of_tensorflow_is_read(tmp_path: Path, form: str) -> None:
    path = saved(tmp_path, 'a "b" \u00e9')
    name = r"a \"b\" \303\251-1"
    rows = [
        "model_checkpoint_path: " + form.format(tmp_path, name),
        "all_model_checkpoint_paths: " + form.format(tmp_path, "gone-0"),
        "all_model_checkpoint_paths: " + form.format(tmp_path, name),
        "all_model_checkpoint_timestamps: 1700000000.5",
        "last_preserved_timestamp: 1.7e+09",
    ]
    (tmp_path / "checkpoint").write_text("\n".join(rows) + "\n")
    assert tf.train.latest_checkpoint(tmp_path) == path
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state is not None
    assert [Path(each).name for each in state.all_model_checkpoint_paths] == [
        "gone-0",
        Path(path).name,
    ]
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1)), tmp_path)
    assert manager.checkpoints == [path]


def test_a_note_has_the_form_of_tensorflows(tmp_path: Path) -> None:
    names = ["a-1", 'a"-2', "a\u00e9-3"]
    tf.train.update_checkpoint_state(str(tmp_path), names[-1], names)
    rows = (tmp_path / "checkpoint").read_text().splitlines()
    assert rows == [
        'model_checkpoint_path: "a\u00e9-3"',
        'all_model_checkpoint_paths: "a-1"',
        r'all_model_checkpoint_paths: "a\"-2"',
        'all_model_checkpoint_paths: "a\u00e9-3"',
    ]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state is not None
    assert [Path(each).name for each in state.all_model_checkpoint_paths] == names


@pytest.mark.parametrize("note", ["some text", "", "{", 'model_checkpoint_path: "/elsewhere/m-1"'])
def test_no_note_stops_a_save(tmp_path: Path, note: str) -> None:
    (tmp_path / "checkpoint").write_text(note)
    with tf.Graph().as_default():
        tf.Variable(1.0, name="x")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            path = v1.train.Saver().save(session, str(tmp_path / "m"), 7)
    assert tf.train.latest_checkpoint(tmp_path) == path


def test_what_is_dropped_is_noted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1)), tmp_path, max_to_keep=1
    )
    manager.save()
    with monkeypatch.context() as patched:  # as if it was killed before the first deletion
        patched.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(OSError("killed")))
        with pytest.raises(OSError, match="killed"):
            manager.save()
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-2")
    assert (tmp_path / "ckpt-1.safetensors").exists()
    assert '# dropped: "ckpt-1"' in (tmp_path / "checkpoint").read_text().splitlines()
    tf.train.CheckpointManager(manager.checkpoint, tmp_path, max_to_keep=1)
    assert not (tmp_path / "ckpt-1.safetensors").exists()
    assert (tmp_path / "ckpt-2.safetensors").exists()


def test_what_is_no_checkpoint_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "none" / "c", Path(__file__) / "c"):
        with pytest.raises(NoCheckpointError, match="not a valid checkpoint"):
            tf.train.Checkpoint(v=tf.Variable(1)).restore(str(path))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"values": "../v"}', '{"values": 3}', "nul"])
def test_a_damaged_module_is_refused(tmp_path: Path, text: str) -> None:
    module = tf.Module()
    module.v = tf.Variable(1.0)
    tf.saved_model.save(module, str(tmp_path))
    assert float(tf.saved_model.load(str(tmp_path)).v) == 1.0
    (tmp_path / "graph.json").write_text(text)
    with pytest.raises(gv.GravureError, match=r"graph\.json"):
        tf.saved_model.load(str(tmp_path))


def test_a_module_with_another_value_is_refused(tmp_path: Path) -> None:
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    tf.saved_model.save(module, str(tmp_path))
    [path] = tmp_path.glob("values-*.safetensors")
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(gv.GravureError, match=r"values-.*: the values are not those"):
        tf.saved_model.load(str(tmp_path))


@pytest.mark.parametrize("kind", [object, "U2", "S2"])
def test_texts_have_the_digest_that_older_modules_are_named_by(kind: Any) -> None:
    digest = digest_of_weights({"t": np.array(["a", "bc"], kind)})
    assert digest == "4fb7ad857b7cc7d8c752e7f33de35702"


def test_a_module_with_a_damaged_graph_is_refused(tmp_path: Path) -> None:
    module = tf.Module()
    module.v = tf.Variable(1.0)
    tf.saved_model.save(module, str(tmp_path))
    data = json.loads((tmp_path / "graph.json").read_text())
    for key in data:
        for other in (None, 3, [], {}, [{}], {"a": 1}, "text"):
            if other != data[key] and not (key in ("version", "nodes") or not data[key]):
                (tmp_path / "graph.json").write_text(json.dumps({**data, key: other}))
                with pytest.raises(gv.GravureError):
                    tf.saved_model.load(str(tmp_path))


def test_a_manager_saves_by_its_interval(tmp_path: Path) -> None:
    step, begun = tf.Variable(1, dtype=tf.int64), []
    checkpoint = tf.train.Checkpoint(step=step)
    made = tf.train.CheckpointManager(
        *(checkpoint, tmp_path, 5), step_counter=step, checkpoint_interval=2,
        init_fn=lambda: begun.append(1),
    )  # fmt: skip
    assert made.restore_or_initialize() is None
    assert begun == [1]
    saved_at = []
    for number in range(1, 7):
        step.assign(number)
        saved_at.append(made.save() is not None)
    assert saved_at == [True, False, True, False, True, False]  # (as TensorFlow 2.21 does)
    assert made.save(check_interval=False) == str(tmp_path / "ckpt-4")
    again = tf.train.CheckpointManager(
        checkpoint, tmp_path, 5, step_counter=step, checkpoint_interval=2
    )
    assert again.restore_or_initialize() == str(tmp_path / "ckpt-4")
    assert again.save() is None
    with pytest.raises(ValueError, match="step_counter"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 5, checkpoint_interval=2)
    with pytest.raises(ValueError, match="positive"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 0)


def test_one_checkpoint_of_some_hours_stays(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1))
    made = tf.train.CheckpointManager(checkpoint, tmp_path, 1, keep_checkpoint_every_n_hours=2.0)
    for _ in range(4):
        made.save()
    assert made.checkpoints == [str(tmp_path / "ckpt-4")]
    left = sorted(path.name for path in tmp_path.glob("*.safetensors"))
    assert left == ["ckpt-1.safetensors", "ckpt-4.safetensors"]
