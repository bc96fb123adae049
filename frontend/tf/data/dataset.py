"""`tf.data.Dataset`: a description of elements, which iterators carry out."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...data import ahead, batches, nested, order, sources, steps
from ...data.fingerprints import fingerprint
from ...data.stages import INFINITE, UNKNOWN, Given, Run, Stage, Stream, part
from ...eager.tensor import Tensor
from ...function.traces import ACTIVE
from ...graph.graph import Graph, Operation
from ...values import nest
from ...values.context import STATE
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, wrap
from ..core.nested import flatten, pack_sequence_as
from ..core.shapes import TensorShape
from ..core.specs import Specified, TensorSpec
from ..core.structures import (
    Part,
    Pipeline,
    classes_of,
    joined_spec,
    map_specs,
    normal,
    shapes_of,
    spec_of,
    tensor_of,
    types_of,
    with_front,
    without_front,
)
from ..core.values import convert, static
from ..ops.array_ops import reshape
from ..ragged.making import as_row
from ..runs.seeds import seeds_of
from . import combining, iterators, saving
from .arguments import PRINTED, check_calls, check_rows, empty, extent_of, flag_of, patterns
from .functions import scalar, trace, trace_element, trace_opening, trace_predicate
from .generating import generated
from .grouping import bucketed, grouped, reduced, traced_scan
from .handles import pipeline_tensor, staged
from .options import Options
from .padding import as_sparse
from .rows import DatasetRows, DatasetSpec, in_rows

AUTOTUNE = ahead.AUTOTUNE


def given(tensors: Sequence[Tensor], name: str = "x") -> dict[str, Given]:
    """Return tensors as options."""
    return {f"{name}{i}": Given(tensor) for i, tensor in enumerate(tensors)}


def seeds_for(seed: object) -> tuple[Given, Given] | None:
    """Return the two seeds of something random, None if nothing asks for certain ones."""
    from ..runs.seeds import Seeds  # noqa: PLC0415

    graph = STATE.context if isinstance(STATE.context, Graph) else None
    settled = Seeds.value is not None or (graph is not None and graph.seed is not None)
    if seed is None and not settled:
        return None
    if seed is None or isinstance(seed, int | np.integer):
        first, second = seeds_of(None if seed is None else int(seed), graph)
        return Given(convert(_signed(first))), Given(convert(_signed(second)))
    base = seeds_of(0, graph)[0]
    return Given(convert(_signed(base))), Given(scalar(seed))


def _signed(seed: int) -> np.int64:
    """Return a seed of 64 bits as a number with a sign, of the same bits."""
    return np.uint64(seed & 0xFFFFFFFFFFFFFFFF).astype(np.int64)


class Dataset(Pipeline, nest.TensorGroup, Specified):
    """Elements of one structure, which are made when they are asked for."""

    def __init__(self, stage: object, spec: object = None, options: Options | None = None) -> None:
        if not isinstance(stage, Stage):
            raise TypeError(
                "Dataset is made by from_tensor_slices, from_generator, range and the like, not by "
                f"a {type(stage).__name__}"
            )
        self._stage, self._spec = stage, spec
        self._options = options or Options()

    @property
    def element_spec(self) -> Any:
        """Return what elements are like."""
        return self._spec

    @property
    def part_spec(self) -> DatasetSpec:
        """Return what it is like as a part of an element."""
        return DatasetSpec(self._spec)

    def in_rows(self, tree: list[object]) -> DatasetRows:
        """Return the part that stands for datasets in lists, of which this is the first."""
        return in_rows(tree)

    def part_tensor(self) -> TfTensor:
        """Return the tensor that stands for it in a graph or an element."""
        return pipeline_tensor(self._stage)

    def components(self) -> list[TfTensor]:
        """Return the tensor that stands for it: functions take and give that."""
        return [self.part_tensor()]

    def with_components(self, parts: Sequence[object]) -> object:
        """Return the dataset of another tensor; of anything else, what it is like."""
        return self.part_spec.with_components(parts)

    def type_spec(self) -> DatasetSpec:
        """Return what it is like."""
        return self.part_spec

    def described(self) -> DatasetSpec:
        """Return what it is like."""
        return self.part_spec

    def form(self) -> Hashable:
        """Return what there is of its description besides the spec of its tensor."""
        return self.part_spec

    def staged_parts(self) -> list[object] | None:
        """Return the tensor that a choice gives and a loop carries."""
        return [convert(self.part_tensor())]

    def with_staged_parts(self, parts: Sequence[TfTensor]) -> Dataset:
        """Return the dataset of another tensor."""
        made = DatasetSpec(self._spec).dataset_of(parts[0])
        return Dataset(made._stage, self._spec, self._options)

    def staged_copy(self) -> Dataset:
        """Return the dataset: it does not change."""
        return self

    def staged_like(self, other: Dataset) -> Dataset:
        """Return what the other one is like."""
        return other

    def staged_shapes(self) -> list[object]:
        """Return the shape of the tensor."""
        return [None]

    def staged_joined(self, other: object, *, stays: bool) -> Dataset | None:
        """Return a dataset of elements like those of this one and of another one."""
        if not isinstance(other, Dataset):
            return None
        try:
            spec = joined_spec(self._spec, other._spec)
        except TypeError:
            return None
        if stays and spec != self._spec:
            return None
        return Dataset(self._stage, spec, self._options.merge(other._options))

    def options(self) -> Options:
        """Return what was told about how it is carried out."""
        return self._options

    def policy(self) -> object:
        """Return what is told about state outside of the pipeline, None if nothing is."""
        return self._options.experimental_external_state_policy

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Tell how it is carried out."""
        return Dataset(self._stage, self._spec, self._options.merge(options))

    def made(self, stage: Stage, spec: object) -> Dataset:
        """Return the dataset of a stage, which is told what this one was."""
        return Dataset(stage, spec, self._options)

    def step(self, kind: type[Stream], spec: object = None, **options: object) -> Dataset:
        """Return a dataset of what is done to this one."""
        found = self._spec if spec is None else spec
        return Dataset(staged(kind, [self], options), found, self._options)

    @staticmethod
    def from_tensors(tensors: object, name: str | None = None) -> Dataset:
        """Return a dataset of one element."""
        element = normal(tensors)
        parts = [tensor_of(leaf) for leaf in flatten(element)]
        return Dataset(staged(sources.Whole, (), given(parts)), spec_of(element))

    @staticmethod
    def from_tensor_slices(tensors: object, name: str | None = None) -> Dataset:
        """Return a dataset of the slices along the first axes."""
        element = normal(tensors)
        leaves = flatten(element)
        if not leaves:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        if any(isinstance(leaf, Part) and not hasattr(leaf, "rows") for leaf in leaves):
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        if any(leaf is None or isinstance(leaf, Part) for leaf in leaves):
            return Dataset.from_tensors(element).unbatch()
        for leaf in leaves:
            if leaf.shape.rank == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        check_rows(leaves)
        return Dataset(staged(sources.Slices, (), given(leaves)), without_front(spec_of(element)))

    @staticmethod
    def from_generator(
        generator: Callable[..., object],
        output_types: object = None,
        output_shapes: object = None,
        args: object = None,
        output_signature: object = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of what a generator of Python's gives."""
        stage, spec = generated(generator, output_types, output_shapes, args, output_signature)
        return Dataset(stage, spec)

    @staticmethod
    def range(*args: object, output_type: DTypeLike = "int64", name: str | None = None) -> Dataset:
        """Return a dataset of numbers: to a stop, or from a start, in steps."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be 1 to 3: {args}")
        start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
        spec = TensorSpec([], output_type)
        options = {n: Given(scalar(v)) for n, v in
                   (("start", start), ("stop", stop), ("step", step))}  # fmt: skip
        if options["step"].tensor.eager and int(options["step"].tensor.numpy()) == 0:
            raise InvalidArgumentError("`step` must be a non-zero integer.")
        return Dataset(
            staged(sources.Range, (), {**options, "dtype": spec._spec.dtype.numpy}), spec
        )

    @staticmethod
    def counter(
        start: object = 0,
        step: object = 1,
        dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of numbers without end."""
        end = sources.LARGEST if not isinstance(step, int) or step > 0 else -sources.LARGEST
        return Dataset.range(start, np.int64(end), step, output_type=dtype)

    @staticmethod
    def random(
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of random numbers without end."""
        options = {"seeds": seeds_for(seed), "anew": bool(rerandomize_each_iteration)}
        return Dataset(staged(sources.Numbers, (), options), TensorSpec([], "int64"))

    @staticmethod
    def list_files(
        file_pattern: object,
        shuffle: bool | None = None,
        seed: object = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of the files that fit patterns, in a random order unless told not to."""
        from ..io.files import matching_files  # noqa: PLC0415

        found = matching_files(file_pattern)
        if STATE.context is None and not found.shape.as_list()[0]:
            raise InvalidArgumentError(f"No files matched pattern: {patterns(file_pattern)}")
        made = Dataset.from_tensor_slices(found)
        if shuffle or shuffle is None:
            count = max(1, found.shape.as_list()[0] or 1) if STATE.context is None else UNKNOWN
            made = made.shuffle(count, seed=seed)
        return made

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Return a dataset of elements side by side, in a structure like that of the datasets."""
        if datasets is not None and args:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if datasets is None and not args:
            raise TypeError("Must pass at least one dataset to `zip`.")
        tree = datasets if datasets is not None else args[0] if len(args) == 1 else args
        found = flatten(tree) if not isinstance(tree, list) else None
        if found is None or not all(isinstance(each, Dataset) for each in found):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`tf.data.Dataset` objects, got {tree!r}"
            )
        spec = pack_sequence_as(tree, [each.element_spec for each in found])
        return Dataset(staged(steps.Zipped, found, {}), spec)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Return a dataset of these elements and then those of another."""
        spec = joined_spec(self._spec, dataset.element_spec)
        return Dataset(staged(steps.Joined, [self, dataset], {}), spec, self._options)

    def map(
        self,
        map_func: Callable[..., object],
        num_parallel_calls: object = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of what a function gives for each element."""
        traced = trace_element(map_func, self._spec, "map")
        if num_parallel_calls is None:
            return self.step(steps.Mapped, traced.spec, function=traced.program())
        check_calls(num_parallel_calls)
        calls = Given(scalar(num_parallel_calls))
        return self.step(ahead.MappedAhead, traced.spec, function=traced.program(), calls=calls)

    def filter(self, predicate: Callable[..., object], name: str | None = None) -> Dataset:
        """Return a dataset of the elements of which a function says yes."""
        program = trace_predicate(predicate, self._spec).program()
        return self.step(steps.Chosen, function=program)

    def take_while(self, predicate: Callable[..., object], name: str | None = None) -> Dataset:
        """Return a dataset of the elements up to the first one of which a function says no."""
        program = trace_predicate(predicate, self._spec).program()
        return self.step(steps.ChosenWhile, function=program)

    def flat_map(self, map_func: Callable[..., object], name: str | None = None) -> Dataset:
        """Return a dataset of the elements of the datasets that a function gives."""
        traced = trace_opening(map_func, self._spec)
        return self.step(nested.Flattened, traced.spec.element_spec, function=traced.opening())

    def interleave(
        self,
        map_func: Callable[..., object],
        cycle_length: object = None,
        block_length: object = None,
        num_parallel_calls: object = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of the elements of several datasets in turns."""
        if num_parallel_calls is not None:
            check_calls(num_parallel_calls)
        said = "The `map_func` argument must return a `Dataset` object."
        traced = trace_opening(map_func, self._spec, said)
        cycle = cycle_length if cycle_length not in (None, AUTOTUNE) else ahead.workers(-1)
        length = 1 if block_length is None else block_length
        return self.step(
            nested.InTurns, traced.spec.element_spec, function=traced.opening(),
            cycle=Given(scalar(cycle)), length=Given(scalar(length)),
        )  # fmt: skip

    def batch(
        self,
        batch_size: object,
        drop_remainder: bool = False,
        num_parallel_calls: object = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of elements stacked, so many at a time."""
        extent = extent_of(batch_size) if drop_remainder is True else None
        spec = with_front(self._spec, extent)
        return self.step(
            batches.Batched, spec, size=Given(scalar(batch_size)), whole=flag_of(drop_remainder)
        )

    def padded_batch(
        self,
        batch_size: TensorLike,
        padded_shapes: object = None,
        padding_values: object = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of elements filled up to one shape and stacked."""
        from .padding import padding  # noqa: PLC0415

        shapes, values, dims = padding(self._spec, padded_shapes, padding_values)
        extent = extent_of(batch_size) if drop_remainder is True else None
        filled = [TensorSpec(d, s.dtype) for d, s in zip(dims, flatten(self._spec), strict=True)]
        spec = with_front(pack_sequence_as(self._spec, filled), extent)
        return self.step(
            batches.Padded, spec, size=Given(scalar(batch_size)), whole=flag_of(drop_remainder),
            shapes=shapes, **{f"x{i}": v for i, v in enumerate(values)},
        )  # fmt: skip

    def unbatch(self, name: str | None = None) -> Dataset:
        """Return a dataset of the rows of the elements."""
        spec = without_front(self._spec)
        shapes = [getattr(leaf, "shape", TensorShape(None)) for leaf in flatten(self._spec)]
        heights = {shape.as_list()[0] for shape in shapes if shape.rank}
        if len(heights - {None}) > 1:
            raise ValueError(
                "`unbatch()` is only supported for datasets of elements whose components have a "
                f"matching leading dimension. Encountered {self._spec}."
            )
        height = heights.pop() if len(heights) == 1 else None
        return self.step(steps.Unstacked, spec, height=height)

    def rebatch(
        self, batch_size: object, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Return a dataset of the rows of the elements, stacked anew: in turn by each of sizes."""
        rows, sizes = self.unbatch(), convert(batch_size, "int64")
        told = static(sizes)
        known = told if isinstance(told, list) else [told] if isinstance(told, int) else []
        before = [leaf.shape.as_list()[0] for leaf in flatten(self._spec)
                  if isinstance(leaf, TensorSpec) and leaf.shape.rank]  # fmt: skip
        is_even = drop_remainder is True or all(
            n and n % known[0] == 0 for n in before if known and known[0]
        )
        extent = known[0] if len({*known}) == 1 and is_even else None
        if sizes.shape.rank == 0 and (extent is None or drop_remainder is True):
            return rows.batch(batch_size, drop_remainder)
        sizes = reshape(sizes, [-1])
        options = {"size": Given(sizes), "whole": flag_of(drop_remainder), **empty(rows._spec)}
        return rows.step(batches.Rebatched, with_front(rows._spec, extent), **options)

    def shuffle(
        self,
        buffer_size: object,
        seed: object = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of the elements in a random order, TensorFlow's for its seeds."""
        anew = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        return self.step(
            order.Shuffled, size=Given(scalar(buffer_size)), seeds=seeds_for(seed), anew=anew
        )

    def repeat(self, count: object = None, name: str | None = None) -> Dataset:
        """Return a dataset of the elements again and again, without end if nothing is said."""
        return self.step(steps.Repeated, count=Given(scalar(-1 if count is None else count)))

    def take(self, count: TensorLike, name: str | None = None) -> Dataset:
        """Return a dataset of the first elements."""
        return self.step(steps.Limited, count=Given(scalar(count)))

    def skip(self, count: object, name: str | None = None) -> Dataset:
        """Return a dataset without the first elements."""
        return self.step(steps.Skipped, count=Given(scalar(count)))

    def shard(self, num_shards: object, index: str | None, name: str | None = None) -> Dataset:
        """Return a dataset of every n-th element."""
        return self.step(
            steps.Sharded, shards=Given(scalar(num_shards)), index=Given(scalar(index))
        )

    def cache(self, filename: str | None = "", name: str | None = None) -> Dataset:
        """Return a dataset that keeps its elements, in memory or in a file."""
        if isinstance(filename, str) and not filename:
            return self.step(steps.Kept)
        from ...data.files import KeptInFile  # noqa: PLC0415

        return self.step(KeptInFile, path=Given(convert(filename, "string")))

    def snapshot(
        self,
        path: str,
        compression: str | None = "AUTO",
        reader_func: Callable[[Dataset], object] | None = None,
        shard_func: Callable[..., object] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset that writes its elements into a folder and reads them from then on.

        A folder keeps those of each dataset that is made in another way, by its fingerprint.
        """
        if compression == "SNAPPY":
            raise NotImplementedError("snapshot: compression='SNAPPY', expected AUTO, GZIP, NONE")
        made = saving.snapshot(self, Dataset, path, compression, reader_func, shard_func)
        return Dataset(made, self._spec, self._options)

    def sparse_batch(
        self, batch_size: TensorLike, row_shape: object, name: str | None = None
    ) -> Dataset:
        """Return a dataset of batches of dense elements as sparse tensors of one shape."""
        return self.map(lambda element: as_sparse(element, row_shape)).batch(batch_size)

    def ragged_batch(
        self,
        batch_size: TensorLike,
        drop_remainder: bool = False,
        row_splits_dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of batches, in which elements of open sizes are rows."""
        leaves = flatten(self._spec)

        def rowed(*element: object) -> object:
            given = element[0] if len(element) == 1 else element
            made = [
                as_row(x, spec, row_splits_dtype)
                for x, spec in zip(flatten(given), leaves, strict=True)
            ]
            return pack_sequence_as(given, made)

        return self.map(rowed).batch(batch_size, drop_remainder)

    def prefetch(self, buffer_size: object, name: str | None = None) -> Dataset:
        """Return a dataset whose elements are made before they are asked for."""
        size = AUTOTUNE if buffer_size is None else buffer_size
        return self.step(ahead.Prefetched, size=Given(scalar(size)))

    def window(
        self,
        size: object,
        shift: object = None,
        stride: object = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of datasets of elements that follow one another."""
        spec = map_specs(DatasetSpec, self._spec)
        sizes = {"size": size, "shift": size if shift is None else shift, "stride": stride}
        options = {n: Given(scalar(v)) for n, v in sizes.items()}
        return self.step(batches.Windowed, spec, whole=flag_of(drop_remainder), **options)

    def enumerate(self, start: object = 0, name: str | None = None) -> Dataset:
        """Return a dataset of numbers and elements."""
        return Dataset.zip((Dataset.range(start, np.int64(sources.LARGEST)), self))

    def unique(self, name: str | None = None) -> Dataset:
        """Return a dataset of the elements, each once."""
        return self.step(steps.Distinct)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Return a dataset of the elements that can be had."""
        return self.step(steps.Unfailing)

    def scan(
        self, initial_state: object, scan_func: Callable[..., object], name: str | None = None
    ) -> Dataset:
        """Return a dataset of what a function gives for a state and each element."""
        state = normal(initial_state)
        traced, spec = traced_scan(scan_func, state, self._spec)
        initial = given([tensor_of(x) for x in flatten(state)])
        return self.step(steps.Scanned, spec, function=traced.program(), **initial)

    def reduce(
        self, initial_state: object, reduce_func: Callable[..., object], name: str | None = None
    ) -> Any:
        """Return the last state that a function gives for a state and each element."""
        return reduced(self, initial_state, reduce_func)

    def get_single_element(self, name: str | None = None) -> Any:
        """Return the only element."""
        return iterators.single_element(self)

    def save(
        self,
        path: str | bytes | os.PathLike[str] | Tensor,
        compression: str | None = None,
        shard_func: Callable[..., object] | None = None,
        checkpoint_args: Mapping[str, object] | None = None,
    ) -> Operation | None:
        """Write the elements into a folder, in a form of gravure's own."""
        return saving.save(self, path, compression, shard_func, checkpoint_args)

    @staticmethod
    def load(
        path: object,
        element_spec: object = None,
        compression: str | None = None,
        reader_func: Callable[[Dataset], object] | None = None,
        wait: bool = False,
    ) -> Dataset:
        """Return the dataset that `save` wrote into a folder; the folder says how."""
        made = saving.load(Dataset, path, element_spec, reader_func, wait=wait)
        assert isinstance(made, Dataset), "it was made of one"
        return made

    def apply(self, transformation_func: Callable[[Dataset], object]) -> Dataset:
        """Return what a function makes of the dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(
                "`transformation_func` must return a `tf.data.Dataset` object, got "
                f"{type(made).__name__}."
            )
        return made

    def fingerprint(self) -> TfTensor:
        """Return a number for what it does: the same for datasets that are made alike."""
        return convert(np.uint64(fingerprint(self._stage)))

    def cardinality(self) -> TfTensor:
        """Return how many elements there are, -1 without end, -2 if nobody knows."""
        return convert(np.int64(self._stage.count))

    def __len__(self) -> int:
        count = self._stage.count
        if count < 0:
            raise TypeError("The dataset is infinite." if count == INFINITE
                            else "The dataset length is unknown.")  # fmt: skip
        return count

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> iterators.GraphIterator | iterators.EagerIterator:
        return iterators.iterator_of(self)

    def looped_in_graph(self) -> iterators.GraphIterator:
        """Return what a loop of a graph takes its elements from: it begins anew in each run."""
        return iterators.GraphIterator.within_function(self)

    def next_in_graph(self) -> tuple[object, object]:
        """Refuse: a loop takes elements from what `looped_in_graph` gives."""
        raise NotImplementedError("a dataset is not read twice at once: see looped_in_graph")

    def as_numpy_iterator(self) -> Iterator[object]:
        """Return an iterator whose elements are of numpy's."""
        return iterators.NumpyIterator(self)

    def __repr__(self) -> str:
        kind = self._stage.kind.__name__
        return f"<{PRINTED.get(kind, f'_{kind}Dataset')} element_spec={self._spec}>"

    group_by_window = grouped
    bucket_by_sequence_length = bucketed
    rejection_resample = combining.resampled
    choose_from_datasets = staticmethod(combining.choose_from_datasets)
    sample_from_datasets = staticmethod(combining.sample_from_datasets)

    def make_one_shot_iterator(self) -> iterators.EagerIterator | iterators.GraphIterator:
        """Return an iterator that begins by itself (the first version)."""
        return iterators.make_one_shot_iterator(self)

    def make_initializable_iterator(
        self, shared_name: str | None = None
    ) -> iterators.GraphIterator:
        """Return an iterator that begins when its initializer runs (the first version)."""
        return iterators.make_initializable_iterator(self, shared_name)

    output_shapes = property(lambda self: shapes_of(self._spec))
    output_types = property(lambda self: types_of(self._spec))
    output_classes = property(lambda self: classes_of(self._spec))


DatasetSpec.value_type = Dataset


def opened(dataset: Dataset) -> Stream:
    """Return a stream of a dataset whose tensors are all computed."""
    return Run(ACTIVE[-1]).open(dataset._stage)


__all__ = ["AUTOTUNE", "Dataset", "DatasetSpec", "opened", "part", "trace", "wrap"]
