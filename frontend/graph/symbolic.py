"""`SymbolicTensor`: a value of a graph, which has no elements yet.

It does what a tensor does as far as that needs no elements; where Python wants them (`if t:`,
`int(t)`, `for x in t`) it raises `SymbolicError`, which names the user's line and what to write
instead. A tensor of a trace that has ended is said to have leaked (`LeakedTensorError`): the
message names the function and the line that made it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn

from ...errors import GraphError, printed_as
from ...ir.types.dims import Dim
from ...ir.types.dtypes import DType
from ...ir.types.tensor import Array, TensorSpec
from ..eager.tensor import Tensor
from ..values import dtypes
from ..values.context import Context, executing_eagerly
from ..values.dtypes import DataType
from ..values.origin import short, user_line
from ..values.run_errors import OperatorNotAllowedInGraphError

CHOICE = "use gravure.cond or gravure.where, or let the function be converted (autograph=True)"


@printed_as(RuntimeError)
class FinalizedGraphError(GraphError, RuntimeError):
    """Something was added to a graph that is finalized."""

    code = "GV2201"


@printed_as(ValueError)
class ForeignTensorError(GraphError, ValueError):
    """A tensor of one graph was used in another, or outside of the function that made it."""

    code = "GV2202"


@printed_as(KeyError)
class NoSuchNameError(GraphError, KeyError):
    """A graph has no operation or tensor of this name."""

    code = "GV2203"

    def __str__(self) -> str:
        return repr(GraphError.__str__(self))  # (as Python shows keys)


@printed_as(ValueError)
class NameFormError(GraphError, ValueError):
    """A name is not written as the name of an operation or a tensor."""

    code = "GV2204"


def as_text(name: object, of: str) -> str:
    """Return the name of an operation or a tensor, or raise `TypeError` for what is none."""
    if not isinstance(name, str):
        raise TypeError(f"{of} names are strings (or similar), not {type(name).__name__}.")
    return name


@printed_as(OperatorNotAllowedInGraphError)
class SymbolicError(OperatorNotAllowedInGraphError):
    """The elements of a tensor were asked for while a graph is being made: it has none yet.

    Python's `if`, `while` and `for` run when a function is traced. For a choice or a loop that
    is to happen in the graph write `gravure.cond` or `gravure.while_loop`, or let the function be
    converted: `function(autograph=True)`, which is so in `tf.function`. Generators, and functions
    whose source is not to be had, are not converted.
    """

    code = "GV2337"


class LeakedTensorError(SymbolicError, ValueError):
    """A tensor is used outside of the function or graph that it belongs to.

    It was kept (in a list, a global, an attribute) while a function was traced, and used after
    that. Return it from the function instead.
    """

    code = "GV2338"


class SymbolicTensor(Tensor):
    """A value of a graph."""

    __slots__ = ("_spec", "graph")
    direct: ClassVar[bool] = False
    eager: ClassVar[bool] = False
    graph: Context
    """The context that made it."""
    _spec: TensorSpec

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape as the IR states them."""
        return self._spec

    @property
    def row(self) -> DType:
        """Return the element type as the IR states it."""
        return self._spec.dtype

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return dtypes.as_dtype(self._spec.dtype)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Return the extent of each axis: a number or an expression of symbols."""
        return self._spec.dims

    @property
    def size(self) -> Dim | None:
        """Return the number of elements."""
        return self._spec.size

    @property
    @abstractmethod
    def source(self) -> str:
        """Return the line of the user's program that made it, or an empty text."""

    @abstractmethod
    def alias(self) -> Tensor:
        """Return another tensor of the same value, which recorders do not know."""

    def home(self) -> Context:
        """Return the graph if it takes operations although it is not the present context.

        The default graph always does. Another one does while a graph is the present context:
        where operations run at once, its tensors have no value.
        """
        if not self.graph.is_open or (executing_eagerly() and not self.graph.is_default):
            raise leaked(self)
        return self.graph

    def numpy(self) -> NoReturn:
        """Refuse: there are no elements."""
        self._refuse("numpy()", "return it from the function, or fetch it by a session")

    def __len__(self) -> int:
        extent = self.shape[0] if self.ndim else None
        if not isinstance(extent, int):
            self._refuse("len()", "use .shape[0]")
        return extent

    def __iter__(self) -> Iterator[Tensor]:
        if not (self.ndim and isinstance(self.shape[0], int)):
            self._refuse("a loop", "use gravure.while_loop or gravure.scan")
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self) -> NoReturn:  # noqa: PLE0304  (raises)
        self._refuse("bool(), `if`, `while`, `and`, `not`", CHOICE)

    def __int__(self) -> NoReturn:
        self._refuse("int()", "use gravure.astype")

    def __float__(self) -> NoReturn:
        self._refuse("float()", "use gravure.astype")

    def __complex__(self) -> NoReturn:
        self._refuse("complex()", "use gravure.astype")

    def __index__(self) -> NoReturn:  # noqa: PLE0305  (raises)
        self._refuse("an index or range()", "use gravure.take, or gravure.while_loop")

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        self._refuse("a numpy function", "use gravure's function, or gravure.py_function")

    def __dlpack__(self, **options: object) -> NoReturn:
        self._refuse("DLPack", "return it from the function")

    def __setitem__(self, key: object, value: object) -> NoReturn:
        self._refuse("an assignment to elements", "use gravure.where or gravure.scatter_nd")

    def __reduce__(self) -> NoReturn:
        self._refuse("pickle", "return it from the function")

    def _refuse(self, what: str, instead: str) -> NoReturn:
        if self.graph.is_finished:
            raise leaked(self)
        raise SymbolicError(
            f"{what} wants the elements of a tensor that {self.graph.name} only describes "
            f"({self.described()})",
            location=short(user_line()),
            hint=instead,
        )

    def described(self) -> str:
        """Return type, and the line that made it."""
        line = f", made at {short(self.source)}" if self.source else ""
        return f"{self.spec}{line}"

    def __repr__(self) -> str:
        return f"gravure.SymbolicTensor({self.spec}, {self.graph.name})"


def leaked(tensor: SymbolicTensor, start: str = "") -> LeakedTensorError:
    """Return the error for a tensor that is used outside of where it belongs."""
    return LeakedTensorError(
        f"{start}a tensor of {tensor.graph.name} is used outside of it, where it is out of scope "
        f"({tensor.described()})",
        location=short(user_line()),
        hint="return it from there, and use what is returned",
    )
