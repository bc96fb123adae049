"""Files that a saved module takes along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gravure.tf as tf
from gravure.errors import GravureError


class Reader(tf.Module):
    """Knows a file, and says in a function and in a part of one where it lies."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.file = tf.saved_model.Asset(str(path))
        self.more = [tf.saved_model.Asset(path)]

    @tf.function(input_signature=[tf.TensorSpec([], tf.bool)])
    def place(self, told: tf.Tensor) -> tf.Tensor:
        """Return where the file lies."""
        return tf.strings.join([self.file.asset_path, "!"]) if told else tf.constant("none")


def saved(folder: Path) -> Path:
    """Save a module with a file, and move both elsewhere."""
    (folder / "words.txt").write_text("one\n")
    tf.saved_model.save(Reader(folder / "words.txt"), str(folder / "made"))
    (folder / "words.txt").unlink()
    return (folder / "made").rename(folder / "moved")


def test_a_file_is_found_where_its_module_is_loaded_from(tmp_path: Path) -> None:
    """The place that functions know is the new one."""
    folder = saved(tmp_path)
    made = tf.saved_model.load(str(folder))
    place = made.file.asset_path.numpy().decode()
    assert Path(place).read_text() == "one\n"
    assert Path(place).parent == folder / "assets"
    assert made.more[0].asset_path.numpy().decode() == place
    assert made.place(True).numpy().decode() == place + "!"
    assert made.place(False).numpy() == b"none"


def test_two_files_of_one_name_stay_two(tmp_path: Path) -> None:
    """They are told apart by a number."""
    module = tf.Module()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text(name)
        setattr(module, name, tf.saved_model.Asset(str(tmp_path / name / "x.txt")))
    tf.saved_model.save(module, str(tmp_path / "made"))
    made = tf.saved_model.load(str(tmp_path / "made"))
    for name in ("a", "b"):
        assert Path(getattr(made, name).asset_path.numpy().decode()).read_text() == name


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Nothing is saved without it."""
    module = tf.Module()
    module.file = tf.saved_model.Asset(str(tmp_path / "none.txt"))
    with pytest.raises(tf.errors.NotFoundError, match=r"none\.txt"):
        tf.saved_model.save(module, str(tmp_path / "made"))


@pytest.mark.parametrize("name", ["../words.txt", "", "..", "a/b"])
def test_a_name_that_leads_elsewhere_is_damage(tmp_path: Path, name: str) -> None:
    """A module that was loaded would read files that are not its own."""
    folder = saved(tmp_path)
    graph = folder / "graph.json"
    data = json.loads(graph.read_text())
    for each in data["objects"]:
        if each["kind"] == "asset":
            each["file"] = name
    graph.write_text(json.dumps(data))
    with pytest.raises(GravureError, match="no name of a file"):
        tf.saved_model.load(str(folder))
