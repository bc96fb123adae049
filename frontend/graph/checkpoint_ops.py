"""Saving variables and reading them again: files, and the nodes of graphs that do it.

The data is a safetensors file, replaced as a whole; beside it, `checkpoint` names the latest.
A node that saves reads all variables between two steps, so that they belong together.

Variables of several tasks are saved shard by shard, each by the task that has it, into
`NAME-00000-of-00002.safetensors` and so on; what stands at the name itself is written last, and
names the shards with their digests. Whoever reads it gets all values, whatever tasks there are now.

What TensorFlow saved under a name is read, too (`formats/bundles`), where nothing of ours has it.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import CheckpointError, ParseError, printed_as
from ...ir.op import Array
from ...ir.types.tensor import TensorSpec
from ...runtime.comm.progress import PROGRESS
from ...runtime.files import replacing, sweep
from ..files.weights import digest_of_weights, read_metadata, read_safetensors, write_safetensors
from ..formats.bundles import INDEX, is_bundle, names_in, other_ways, read_bundle
from ..values.arrays import as_listed
from ..values.run_errors import DataLossError, InvalidArgumentError, NotFoundError
from .frame import Frame, OutsideError, Store, Touched
from .graph import Kind, Operation
from .variables import Held, VariableState, fits, now

SUFFIX = ".safetensors"
DIGEST = "gravure.digest"
"""The key of what tells these values from others: a file in which a bit is another is refused."""
SHARDS = "gravure.shards"
"""The key of what names the files in which the values are, with their digests."""
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The key of what says which objects the values belong to."""


@printed_as(NotFoundError)
class NoCheckpointError(NotFoundError, ValueError):
    """There is no checkpoint of this name."""

    code = "GV2334"


class DamagedCheckpointError(DataLossError, CheckpointError, ValueError):
    """A file of saved values, or the note about them, is cut short, changed, or something else.

    Nothing of it was used. `latest_checkpoint` gives the newest one that was written whole.
    """

    code = "GV5510"


class UnfitCheckpointError(InvalidArgumentError, CheckpointError, ValueError):
    """Saved values do not fit the variables that they are restored into.

    All that differs is listed; no variable was changed.
    """

    code = "GV5520"


PART = "\0"
"""What stands between the name of a whole and which part of it is meant."""


@dataclass(frozen=True)
class Share:
    """Which part of a whole a value is.

    >>> Share.parse("10 3 5,5:-")
    Share(whole=(10, 3), begin=(5, 0), shape=(5, 3))
    """

    whole: tuple[int, ...]
    begin: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Share:
        """Return what TensorFlow's text says: the sizes of the whole, and for each axis a range."""
        *sizes, ranges = text.split(" ")
        try:
            whole = tuple(map(int, sizes))
            pairs = [
                (0, size) if each == "-" else tuple(map(int, each.split(",")))
                for size, each in zip(whole, ranges.split(":"), strict=True)
            ]
            begin, shape = (tuple(axis) for axis in zip(*((a, b) for a, b in pairs), strict=True))
        except ValueError:
            raise InvalidArgumentError(
                f"{text!r} says no part, expected 'SIZE ... BEGIN,SIZE:...'"
            ) from None
        inside = zip(begin, shape, whole, strict=True)
        if not all(at >= 0 and n > 0 and at + n <= size for at, n, size in inside):
            raise InvalidArgumentError(f"the part {text!r} is not inside of its whole")
        return cls(whole, begin, shape)

    def __str__(self) -> str:
        ranges = ":".join(f"{a},{n}" for a, n in zip(self.begin, self.shape, strict=True))
        return f"{' '.join(map(str, self.whole))} {ranges}"

    @property
    def places(self) -> tuple[slice, ...]:
        """Return where the part is."""
        return tuple(slice(a, a + n) for a, n in zip(self.begin, self.shape, strict=True))


def part_of(key: str) -> tuple[str, Share | None]:
    """Return the name of a value in a file, and which part of it is meant; None is the whole.

    >>> part_of("w")
    ('w', None)
    """
    name, _, part = key.partition(PART)
    return name, Share.parse(part) if part else None


def joined(values: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the wholes of values of which some are parts, and those parts that make no whole."""
    wholes: dict[str, Array] = {}
    parts: dict[str, list[tuple[Share, Array]]] = {}
    for key, value in values.items():
        name, share = part_of(key)
        if share is None:
            wholes[name] = value
        else:
            parts.setdefault(name, []).append((share, value))
    rest: dict[str, Array] = {}
    for name, each in parts.items():
        whole = each[0][0].whole
        made, there = np.zeros(whole, each[0][1].dtype), np.zeros(whole, np.bool_)
        for share, value in each:
            if share.whole == whole and value.shape == share.shape:
                made[share.places], there[share.places] = value, True
        if there.all():
            wholes[name] = made
        else:
            rest |= {f"{name}{PART}{share}": value for share, value in each}
    return wholes, rest


def write(path: str, values: Mapping[str, Array], objects: object = None) -> None:
    """Write arrays by name; the file is replaced only when all is written."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    wholes, parts = joined(values)
    plain = {name: np.array(value, order="C") for name, value in (wholes | parts).items()}
    more = {} if objects is None else {OBJECT_GRAPH: json.dumps(objects, sort_keys=True)}
    digest = _digest(plain, more)
    write_safetensors(Path(path + SUFFIX), plain, {**more, DIGEST: digest})
    rows = [f"{name} {each.dtype} {as_listed(each.shape)}\n" for name, each in wholes.items()]
    Path(path + INDEX).write_text("".join(sorted(rows)), errors="replace")


def _digest(values: Mapping[str, Array], more: Mapping[str, str]) -> str:
    """Return a text that is another for other values, or where other objects have them."""
    objects = hashlib.sha256(more.get(OBJECT_GRAPH, "").encode()).hexdigest()
    return f"{digest_of_weights(values)} {objects[:32]}"


@dataclass(frozen=True)
class Note:
    """What a folder says about its checkpoints."""

    latest: str
    kept: tuple[str, ...] = ()
    """The checkpoints that were kept, the newest last."""
    dropped: tuple[str, ...] = ()
    """Those that are to be deleted: who notes them deletes them next, unless it is killed."""

    @classmethod
    def read(cls, path: Path) -> Note | None:
        """Return what the file of a folder says; None where there is none."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        rows = _json_rows(data, path) if data[:1] in (b"{", b"[", b"") else _text_rows(data, path)
        lists = [rows.get("all", []), rows.get("dropped", [])]
        plain = [each for each in lists if isinstance(each, list)]
        names = [rows.get("latest"), *(n for each in plain for n in each)]
        if not all(map(_is_name, names)) or len(plain) < len(lists):
            wrong = next((name for name in names if not _is_name(name)), rows)
            raise DamagedCheckpointError(
                f"{str(wrong)[:80]!r} is no checkpoint of the folder, expected the name of a file",
                location=str(path),
            )
        latest = str(rows["latest"])
        PROGRESS.saved(str(path.parent / latest))
        return cls(latest, *map(tuple, plain))

    def write(self, path: Path) -> None:
        r"""Replace the file of a folder, in TensorFlow's form: with a comment.

        What that has no row for is the comment.

        >>> Note("c-2", dropped=("c-1",)).text()
        'model_checkpoint_path: "c-2"\n# dropped: "c-1"\n'
        """
        with replacing(path) as file:
            file.write(self.text().encode())
        PROGRESS.saved(str(path.parent / self.latest))

    def text(self) -> str:
        """Return the rows of the file."""
        named = {"latest": [self.latest], "all": self.kept, "dropped": self.dropped}
        rows = [f"{ROWS[key]}: {_quoted(name)}\n" for key, names in named.items() for name in names]
        return "".join(rows)


ROWS = {
    "latest": "model_checkpoint_path",
    "all": "all_model_checkpoint_paths",
    "dropped": "# dropped",
}
"""How a note calls what it says: TensorFlow's names, and a comment."""
KEYS = {row: key for key, row in ROWS.items()}


def _quoted(name: str) -> str:
    """Return a name between quotes, as messages are written as text."""
    return '"' + re.sub(r'(["\\])', r"\\\1", name).replace("\n", "\\n") + '"'


def _unquoted(text: str) -> str:
    """Return what stands between quotes: bytes may be written as numbers."""
    plain = text[1:-1].encode()
    return re.sub(rb"\\(\d{1,3}|.)", _unescaped, plain).decode(errors="replace")


def _unescaped(found: re.Match[bytes]) -> bytes:
    """Return the byte that stands behind a backslash."""
    what = found[1]
    return bytes([int(what, 8) & 255]) if what.isdigit() else {b"n": b"\n"}.get(what, what)


def _json_rows(data: bytes, path: Path) -> dict[str, object]:
    """Return what a note says that an older gravure wrote."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedCheckpointError(
            f"not a note of checkpoints: {error}", location=str(path)
        ) from error
    return found if isinstance(found, dict) else {}


def _text_rows(data: bytes, path: Path) -> dict[str, object]:
    """Return what a note says, be it TensorFlow's; paths in the folder itself are names."""
    rows: dict[str, list[str]] = {key: [] for key in ROWS}
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        row = re.fullmatch(r"""\s*((?:# )?\w+):\s*("(?:[^"\\]|\\.)*"|[-+.\w]+)\s*""", line)
        if row is None and line.strip() and not line.startswith("#"):
            raise DamagedCheckpointError(
                f"not a note of checkpoints: line {number} is {line[:80]!r}", location=str(path)
            )
        if row is not None and row[1] in KEYS:
            named = _unquoted(row[2])
            here = os.path.dirname(named) == os.path.abspath(path.parent)
            rows[KEYS[row[1]]].append(os.path.basename(named) if here else named)
    latest = rows["latest"][-1] if rows["latest"] else None
    return {"latest": latest, "all": rows["all"], "dropped": rows["dropped"]}


def _is_name(name: object) -> bool:
    """Say whether a name can only be that of a file in the same folder, which may be `./`."""
    if not isinstance(name, str) or name.removeprefix("./") in ("", ".", ".."):
        return False
    return not set(name.removeprefix("./")) & {"/", "\\", "\0"}


NOTE = "checkpoint"


def note_latest(path: str, kept: Sequence[str] = ()) -> None:
    """Note in the folder that a checkpoint is the latest one, and which others are kept."""
    names = tuple(os.path.basename(each) for each in kept)
    Note(os.path.basename(path), names).write(Path(path).parent / NOTE)


def keep_newest(path: str, kept: list[str], most: int | None, note: str = NOTE) -> None:
    """Note a new checkpoint, then delete the oldest of more than `most`, also from the list.

    See Note [Killed while saving].
    """
    kept[:] = [each for each in kept if each != path] + [path]
    gone = kept[: max(len(kept) - most, 0)] if most else []
    left = kept[len(gone) :]
    folder = Path(path).parent
    tidy(folder)
    names = [tuple(os.path.basename(each) for each in some) for some in (left, gone)]
    Note(os.path.basename(path), *names).write(folder / note)
    for each in gone:
        remove(Path(each + SUFFIX))
        kept.remove(each)


# Note [Killed while saving]
# A process may be killed between any two steps. The order is: the values under a name of their
# own; the note, which from then on names them as the latest; and only then old values go. So
# whatever the note names is there. What it says is to be deleted is deleted by the next who
# writes here, unless it is newer than the note: then a new checkpoint was given that name.


def remove(path: Path) -> None:
    """Delete a checkpoint, and the shards that it names, if there are any; TensorFlow's, too."""
    path.unlink(missing_ok=True)
    stem = str(path).removesuffix(SUFFIX)
    Path(stem + INDEX).unlink(missing_ok=True)
    name, parts = glob.escape(stem), f"-{'[0-9]' * 5}-of-{'[0-9]' * 5}"
    patterns = f"{name}{parts}{SUFFIX}", f"{name}{parts}{INDEX}", f"{name}.data{parts}"
    for shard in [found for pattern in patterns for found in glob.glob(pattern)]:
        Path(shard).unlink(missing_ok=True)


def tidy(folder: Path) -> None:
    """Delete what a process left that was killed while it saved."""
    if not folder.is_dir():
        return
    sweep(folder)
    try:
        note = Note.read(folder / NOTE)
    except DamagedCheckpointError:  # it names nothing to delete; whoever reads it is told
        return
    for name in note.dropped if note is not None else ():
        path = folder / (name + SUFFIX)
        if path.exists() and path.stat().st_mtime_ns <= (folder / NOTE).stat().st_mtime_ns:
            remove(path)


def noted(directory: str) -> list[str]:
    """Return the checkpoints that a folder's note says are kept, and which are there."""
    tidy(Path(directory))
    note = Note.read(Path(directory) / NOTE)
    paths = [os.path.join(directory, name) for name in (note.kept if note is not None else ())]
    return [path for path in paths if exists(path)]


def exists(path: str) -> bool:
    """Say whether there is a checkpoint of a name, of ours or TensorFlow's."""
    return os.path.exists(path + SUFFIX) or is_bundle(path)


def _is_theirs(path: str) -> bool:
    return not os.path.exists(path + SUFFIX) and is_bundle(path)


@contextmanager
def _reading_theirs() -> Iterator[None]:
    """Raise what is said of a damaged file of TensorFlow's as an error of checkpoints."""
    try:
        yield
    except ParseError as error:
        raise DamagedCheckpointError(error.message, location=error.location) from error


def _of_bundle(path: str) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays that TensorFlow saved, and the other names by which it reached objects."""
    with _reading_theirs():
        values = read_bundle(path)
        graph = values.pop(OBJECT_GRAPH, None)
        if graph is None or graph.shape or not isinstance(data := graph.item(), bytes):
            return values, {}
        return values, other_ways(data, path + INDEX)


def read(path: str) -> dict[str, Array]:
    """Return the arrays of a checkpoint, from all of its shards."""
    if _is_theirs(path):
        with _reading_theirs():
            return {name: x for name, x in read_bundle(path).items() if name != OBJECT_GRAPH}
    return _values(path, _bytes(path))


def read_objects(path: str) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays of a checkpoint, and the other names by which they were reached."""
    if _is_theirs(path):
        return _of_bundle(path)
    whole = _bytes(path)
    return _values(path, whole), _other_names(path, whole)


def _values(path: str, whole: Array) -> dict[str, Array]:
    """Return the arrays of a checkpoint whose file has these bytes, from all of its shards."""
    found: dict[str, Array] = {}
    for name, data in {path: whole, **shards_of(path, whole)}.items():
        try:
            values = read_safetensors(data, os.path.basename(name) + SUFFIX)
            more = read_metadata(data, os.path.basename(name) + SUFFIX)
        except ParseError as error:
            raise DamagedCheckpointError(error.message, location=name + SUFFIX) from error
        if DIGEST in more and more[DIGEST] != _digest(values, more):
            raise DamagedCheckpointError(
                "the values are not those that were saved", location=name + SUFFIX
            )
        found |= values
    wholes, parts = joined(found)
    if parts:
        lacking = sorted({part_of(key)[0] for key in parts})
        raise DamagedCheckpointError(
            f"not all parts are there of {', '.join(lacking)}", location=path + SUFFIX
        )
    return wholes


def shards_of(path: str, data: Array) -> dict[str, Array]:
    """Return the bytes of the shards that a checkpoint names; they must be those it is made of."""
    try:
        text = read_metadata(data, os.path.basename(path) + SUFFIX).get(SHARDS, "{}")
        named: dict[str, str] = dict(json.loads(text))
    except (ParseError, ValueError, TypeError) as error:
        raise DamagedCheckpointError(str(error), location=path + SUFFIX) from error
    found: dict[str, Array] = {}
    for name, digest in named.items():
        if not _is_name(name):
            raise DamagedCheckpointError(
                f"{str(name)[:80]!r} is no shard, expected the name of a file",
                location=path + SUFFIX,
            )
        shard = os.path.join(os.path.dirname(path), name)
        if not os.path.exists(shard + SUFFIX):
            raise DamagedCheckpointError("the shard is missing", location=shard + SUFFIX)
        found[shard] = _bytes(shard)
        if hashlib.sha256(found[shard].data).hexdigest() != digest:
            raise DamagedCheckpointError(
                "the shard is not the one that was saved", location=shard + SUFFIX
            )
    return found


def shard_path(path: str, number: int, count: int) -> str:
    """Return where a shard of a checkpoint is.

    >>> shard_path("model-7", 1, 2)
    'model-7-00001-of-00002'
    """
    return f"{path}-{number:05}-of-{count:05}"


def _bytes(path: str) -> Array:
    """Return the bytes of a checkpoint, read and not mapped: the file may be cut at any time."""
    try:
        found: Array = np.fromfile(path + SUFFIX, np.uint8)
    except (FileNotFoundError, NotADirectoryError):
        message = f"The passed save_path is not a valid checkpoint: {path}"
        raise NoCheckpointError(message) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise DamagedCheckpointError(f"cannot be read: {reason}", location=path + SUFFIX) from error
    return found


def has_objects(path: str) -> bool:
    """Say whether a checkpoint is one of objects."""
    if _is_theirs(path):
        with _reading_theirs():
            return OBJECT_GRAPH in names_in(path)
    try:
        return OBJECT_GRAPH in read_metadata(_bytes(path), os.path.basename(path) + SUFFIX)
    except ParseError as error:
        raise DamagedCheckpointError(error.message, location=path + SUFFIX) from error


def _other_names(path: str, whole: Array) -> dict[str, str]:
    """Return the other names by which objects of a checkpoint were reached, with those it has."""
    try:
        text = read_metadata(whole, os.path.basename(path) + SUFFIX).get(OBJECT_GRAPH, "{}")
        found = json.loads(text)
        others = found.get("others", {}) if isinstance(found, dict) else {}
        return {str(other): str(name) for other, name in dict(others).items()}
    except (ParseError, ValueError, TypeError) as error:
        raise DamagedCheckpointError(str(error), location=path + SUFFIX) from error


def other_type(value: Array, spec: TensorSpec) -> str:
    """Return what is said of a value that was saved with another element type."""
    return "" if value.dtype == spec.dtype.numpy else ", which does not equal its original dtype"


def refuse_unfit(
    path: str, values: Mapping[str, Array], specs: Mapping[str, TensorSpec], says: str = ""
) -> None:
    """Raise one error with every value that does not fit its variable."""
    wrong = [
        f"{name}: {values[name].dtype}{list(values[name].shape)}, expected {spec}"
        + other_type(values[name], spec)
        for name, spec in specs.items()
        if name in values and not fits(values[name], spec)
    ]
    if wrong:
        raise UnfitCheckpointError(f"{says}the checkpoint {path} does not fit: {'; '.join(wrong)}")


def path_of(value: object) -> str:
    """Return a path that is an element of text."""
    found = np.asarray(value)[()]
    return found.decode() if isinstance(found, bytes) else str(found)


class Files(Kind):
    """What saving and restoring have in common: variables by the names in the file."""

    stateful = True

    def __init__(self, states: Mapping[str, VariableState]) -> None:
        self._states = dict(states)

    @property
    def states(self) -> dict[str, VariableState]:
        """Return the variables by their keys: in a function those that are passed."""
        return {key: now(state) for key, state in self._states.items()}

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return nothing."""
        return ()

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Use the file that the input names."""
        if frame.is_staging:
            raise OutsideError("a checkpoint")
        self.use(frame.store, path_of(inputs[0]))
        return ()

    def changed(self, op: Operation) -> Sequence[VariableState]:
        """Return the variables, which are of one step."""
        return [*self.states.values()]

    def touched(self) -> Sequence[Touched]:
        """Return the variables."""
        return [*self.states.values()]

    def use(self, store: Store, path: str) -> None:
        """Use a file."""
        raise NotImplementedError


class SaveVariables(Files):
    """Write the variables; as one of so many shards, if there are any."""

    type = "SaveV2"

    def __init__(
        self, states: Mapping[str, VariableState], number: int = 0, count: int = 0
    ) -> None:
        super().__init__(states)
        self.number, self.count = number, count

    def use(self, store: Store, path: str) -> None:
        """Read all variables between two steps, and write them."""
        with Held([*self.states.values()]):
            values = {n: np.array(s.value_in(store)) for n, s in self.states.items()}
        write(shard_path(path, self.number, self.count) if self.count else path, values)


class SaveShards(Files):
    """Write the name of a checkpoint, behind its shards: from then on it is there."""

    type = "MergeV2Checkpoints"

    def __init__(self, count: int) -> None:
        super().__init__({})
        self.count = count

    def use(self, store: Store, path: str) -> None:
        """Name the shards with their digests."""
        named = {}
        for number in range(self.count):
            shard = shard_path(path, number, self.count)
            digest = hashlib.sha256(_bytes(shard).data).hexdigest()
            named[os.path.basename(shard)] = digest
        write_safetensors(Path(path + SUFFIX), {}, {SHARDS: json.dumps(named)})
        Path(path + INDEX).write_text("".join(f"{name}\n" for name in sorted(named)))


MISMATCH = (
    "Restoring from checkpoint failed: a mismatch between the current graph and the graph that was "
    "saved. Assign requires shapes of both tensors to match. "
)
"""What TensorFlow says where a graph's variables are others than those that were saved."""


class RestoreVariables(Files):
    """Give the variables what is in the file; nothing is changed if one is missing.

    `reshape` says that a value may have other axes than its variable.
    """

    type = "RestoreV2"

    def __init__(self, states: Mapping[str, VariableState], *, reshape: bool = False) -> None:
        super().__init__(states)
        self.reshape = reshape

    def use(self, store: Store, path: str) -> None:
        """Read the file."""
        found, wanted = read(path), {key: part_of(key) for key in self.states}
        missing = sorted({name for name, _ in wanted.values() if name not in found})
        if missing:
            raise NotFoundError(
                "Restoring from checkpoint failed: a Variable name or other graph key that is "
                f"missing: Key {', '.join(missing)} not found in checkpoint {path}"
            )
        if self.reshape:
            self._reshape(found)
        specs = {
            name: TensorSpec(self.states[key].spec.dtype, share.whole)
            if share
            else self.states[key].spec
            for key, (name, share) in wanted.items()
        }
        refuse_unfit(path, found, specs, MISMATCH)
        with Held([*self.states.values()]):
            for key, (name, share) in wanted.items():
                value = found[name][share.places].copy() if share else found[name]
                self.states[key].put_in(store, value)

    def _reshape(self, found: dict[str, Array]) -> None:
        """Give values the axes of their variables, where they have as many elements."""
        for key, state in self.states.items():
            name, share = part_of(key)
            dims = share.whole if share else state.spec.static_shape
            if found[name].size == math.prod(dims):
                found[name] = found[name].reshape(dims)
