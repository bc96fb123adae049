"""`ExtensionType`: values whose fields are tensors and what does not change in a trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import ClassVar, get_type_hints

import numpy as np

from ....ir.op import Array
from ...data.batches import Pile, stacked
from ...eager.tensor import Tensor
from ...function.graph_data import COMPOSITES, WRITTEN, GraphTextError
from ...values import nest
from ..core.bridge import Common, TfTensor, dressed
from ..core.specs import TensorSpec
from ..core.structures import with_front, without_front
from ..nondense.composite import CompositeSpec, CompositeTensor
from ..ops.array_ops import shape
from ..ops.math_ops import FUNCTIONS, REDUCTIONS
from .fields import (
    Declared,
    check_declared,
    check_names,
    described,
    fitted,
    leaves,
    static_form,
    with_leaves,
)
from .stored import REGISTERED, read, register, written

MUTATED = "Cannot mutate attribute `{}` outside the custom constructor of {}."


class ArrayPile(Pile):
    """The tensors of a value as one part of an element."""

    def __init__(self, *parts: Array) -> None:
        self.parts = parts

    def arrays(self) -> Sequence[Array]:
        """Return them."""
        return self.parts

    @classmethod
    def piled(cls, given: Sequence[object]) -> ArrayPile:
        """Return several along a new first axis."""
        columns = zip(*[each.parts for each in given if isinstance(each, cls)], strict=True)
        return cls(*[stacked(column, number) for number, column in enumerate(columns)])

    def rows(self) -> list[ArrayPile]:
        """Return the parts along the first axis."""
        return [ArrayPile(*map(np.asarray, row)) for row in zip(*self.parts, strict=True)]


class HeldOnce(type):
    """The class of descriptions: what a constructor sets are the fields, which stay as they are."""

    def __call__(cls, *args: object, **kwargs: object) -> Declared:
        """Return a description."""
        made: Declared = cls.__new__(cls)  # type: ignore[call-overload]
        made.__dict__["_is_open"] = True
        made.__init__(*args, **kwargs)
        del made.__dict__["_is_open"]
        if "_held" not in made.__dict__:  # the constructor is the user's
            wanted = made.value_type.fields()
            made._hold({n: fitted(x, made.__dict__.get(n), n) for n, x in wanted.items()})
        validate: Callable[[], object] | None = getattr(made, "__validate__", None)
        if validate is not None:
            validate()
        return made


class ExtensionSpec(CompositeSpec, metaclass=HeldOnce):
    """What a value is like: its fields, with specs in place of tensors."""

    value_type: ClassVar[type[ExtensionType]]

    def __init__(self, *args: object, **kwargs: object) -> None:
        bound = self.value_type.constructor().bind(*args, **kwargs)
        bound.apply_defaults()
        wanted = self.value_type.fields()
        self._hold({n: fitted(wanted[n], x, n) for n, x in bound.arguments.items()})

    def __setattr__(self, name: str, value: object) -> None:
        if "_is_open" not in self.__dict__ and not name.startswith("_"):
            raise AttributeError(MUTATED.format(name, "ExtensionTypeSpec"))
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(MUTATED.format(name, "ExtensionTypeSpec"))

    def _hold(self, held: dict[str, object]) -> None:
        """Have the fields as attributes too."""
        self.__dict__.update(held)
        self._held = held

    @classmethod
    def holding(cls, held: dict[str, object]) -> Declared:
        """Return the description of fields."""
        made = cls.__new__(cls)
        made._hold(held)
        return made

    def specs_of_parts(self) -> list[TensorSpec]:
        """Return the specs of the tensors."""
        return leaves(self._held, TensorSpec)

    def made(self, parts: Sequence[TfTensor]) -> CompositeTensor:
        """Return a value of tensors."""
        made: CompositeTensor = self.value_type.holding(with_leaves(self._held, TensorSpec, parts))
        return made

    def _changed(self, change: Callable[[TensorSpec], object]) -> ExtensionSpec:
        found = with_leaves(self._held, TensorSpec, [change(spec) for spec in self._specs])
        made: ExtensionSpec = self.holding(found)
        return made

    def relaxed(self) -> ExtensionSpec:
        """Return the description of values of this rank and any size."""
        return self._changed(
            lambda s: s if s.shape.rank is None else TensorSpec([None] * s.shape.rank, s.dtype)
        )

    def stacked(self, extent: int | None) -> ExtensionSpec:
        """Return what several of them are like in a batch."""
        self._require_batches()
        return self._changed(lambda spec: with_front(spec, extent))

    def unstacked(self) -> ExtensionSpec:
        """Return what one row of it is like."""
        self._require_batches()
        return self._changed(without_front)

    def _require_batches(self) -> None:
        if not issubclass(self.value_type, BatchableExtensionType):
            raise TypeError(
                f"{self.value_type.__name__} cannot be put into batches: it is no "
                "BatchableExtensionType"
            )

    def form(self) -> Hashable:
        """Return what there is of the description besides specs of tensors."""
        return self.value_type, static_form(self._held)

    def written_form(self) -> tuple[str, Hashable]:
        """Return what it is saved as: the name of the class, and the fields."""
        return "ExtensionTypeSpec", written(self.value_type, self._held)

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether a value or a description is of this kind."""
        found = (
            spec_or_value.type_spec() if isinstance(spec_or_value, ExtensionType) else spec_or_value
        )
        if not isinstance(found, ExtensionSpec) or self.form() != found.form():
            return False
        pairs = zip(self._specs, found._specs, strict=True)
        return all(mine.is_compatible_with(theirs) for mine, theirs in pairs)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ExtensionSpec)
            and self.form() == other.form()
            and self._specs == other._specs
        )

    __hash__ = CompositeSpec.__hash__

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self._held.items())
        return f"{type(self).__name__}({told})"


class FieldFirst:
    """A field that is called like what values of several tensors have themselves: it wins."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: object, kind: type) -> object:
        if value is None or self.name not in vars(value):
            raise AttributeError(f"{kind.__name__!r} has no attribute {self.name!r}")
        return vars(value)[self.name]


class FieldsChecked(type):
    """The class of such types: fields are checked once a value is constructed."""

    def __call__(cls, *args: object, **kwargs: object) -> Declared:
        """Return a value, which does not change from then on."""
        if cls in HIDDEN:
            raise AssertionError(f"{cls.__name__} is an abstract base class.")
        made: Declared = cls.__new__(cls)  # type: ignore[call-overload]
        made.__dict__["_is_open"] = True
        made.__init__(*args, **kwargs)
        del made.__dict__["_is_open"]
        made._checked()
        return made


class ExtensionType(CompositeTensor, metaclass=FieldsChecked):
    """A value with the fields that its class declares: tensors, and what stays in a trace."""

    pile = ArrayPile
    Spec: ClassVar[type[ExtensionSpec]]
    _declared: ClassVar[dict[str, Declared] | None] = None
    _defaults: ClassVar[dict[str, object]] = {}

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = [name for name in inspect.get_annotations(cls) if name in cls.__dict__]
        taken = {name: cls.__dict__[name] for name in own if not name.startswith("__")}
        cls._defaults = {**cls._defaults, **taken}
        for name in taken:
            delattr(cls, name)
        cls._declared = None
        check_names(cls.__name__, [*inspect.get_annotations(cls), *vars(cls)])
        for name, declared in inspect.get_annotations(cls).items():
            check_declared(declared, name)
            if isinstance(getattr(cls, name, None), property):
                setattr(cls, name, FieldFirst(name))
        given = vars(cls).get("Spec")
        if given is not None and not isinstance(given, type):
            raise ValueError(f"{cls.__name__}.Spec must be a nested class; got {given!r}.")
        bases = (ExtensionSpec,) if given is None else (given, ExtensionSpec)
        kinds = {"value_type": cls, "__module__": cls.__module__}
        made: Declared = HeldOnce(f"{cls.__qualname__}.Spec", bases, kinds)
        cls.Spec = made
        register(cls)

    @classmethod
    def fields(cls) -> dict[str, Declared]:
        """Return what the class and those it is made of declare."""
        if cls._declared is None:
            hints: dict[str, Declared] = {}
            for base in reversed(cls.__mro__):
                if base not in HIDDEN:
                    own = inspect.get_annotations(base)
                    try:
                        found = get_type_hints(base)
                    except NameError as error:
                        raise TypeError(f"{base.__name__}: unresolved type: {error}") from error
                    hints |= {n: h for n, h in found.items() if n in own}
            hidden = {name for name in hints if name.startswith("__")}
            cls._declared = {n: h for n, h in hints.items() if n not in hidden}
        return cls._declared

    @classmethod
    def constructor(cls) -> inspect.Signature:
        """Return the parameters: the fields in their order, those with defaults last."""
        either = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = sorted(cls.fields(), key=lambda name: name in cls._defaults)
        found = {name: cls._defaults.get(name, inspect.Parameter.empty) for name in names}
        return inspect.Signature(
            [inspect.Parameter(name, either, default=default) for name, default in found.items()]
        )

    def __init__(self, *args: object, **kwargs: object) -> None:
        bound = self.constructor().bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)

    def _checked(self) -> None:
        """Convert the fields, and let the class look at the whole."""
        wanted = self.fields()
        missing = [name for name in wanted if name not in self.__dict__]
        missing += [n for n in self.__dict__ if n not in wanted and not n.startswith("_")]
        if missing:
            raise AttributeError(f"{type(self).__name__}: fields {missing} are missing or unknown")
        for name, declared in wanted.items():
            self.__dict__[name] = fitted(declared, self.__dict__[name], name)
        self.__validate__()

    def __validate__(self) -> None:
        """Raise if fields do not fit together: for classes to fill in."""

    def __setattr__(self, name: str, value: object) -> None:
        if "_is_open" not in self.__dict__:
            raise AttributeError(MUTATED.format(name, "ExtensionType"))
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"Cannot delete attribute `{name}` outside the custom constructor of ExtensionType."
        )

    def _held(self) -> dict[str, object]:
        return {name: self.__dict__[name] for name in self.fields()}

    def type_spec(self) -> ExtensionSpec:
        """Return what it is like."""
        held = {name: described(x) for name, x in self._held().items()}
        made: ExtensionSpec = self.Spec.holding(held)
        return made

    def components(self) -> list[TfTensor]:
        """Return the tensors of all fields."""
        return leaves(self._held(), Common)

    def with_components(self, parts: Sequence[object]) -> object:
        """Return such a value of other tensors; of anything else, what it is like."""
        tensors = [dressed(x) for x in parts if isinstance(x, Tensor)]
        if len(tensors) != len(parts):
            return self.type_spec().with_components(parts)
        return self.holding(with_leaves(self._held(), Common, tensors))

    @classmethod
    def holding(cls, held: Mapping[str, object]) -> Declared:
        """Return a value of fields, unchecked: a constructor may take something else."""
        made: Declared = object.__new__(cls)
        made.__dict__.update(held)
        return made

    def with_gradients(self, parts: Sequence[object]) -> object:
        """Return the gradients of its tensors in a value, None if there is none at all."""
        if all(x is None for x in parts):
            return None
        pairs = zip(self.components(), parts, strict=True)
        return self.with_components([x * 0 if part is None else part for x, part in pairs])

    def gradients_of_parts(self, gradient: object) -> list[object]:
        """Return the gradients of its tensors out of a value of them."""
        if not isinstance(gradient, ExtensionType):
            raise TypeError(f"the gradient of a {type(self).__name__} is {gradient!r}")
        return [*gradient.components()]

    def __eq__(self, other: object) -> Declared:
        if type(self) is not type(other) or not isinstance(other, ExtensionType):
            return False
        if self.form() != other.form():
            return False
        both = [*zip(self.components(), other.components(), strict=True)]
        if not all(x.shape.is_compatible_with(y.shape) for x, y in both):
            return False
        equal = [REDUCTIONS["reduce_all"](FUNCTIONS["equal"](x, y)) for x, y in both]
        made: object = True
        for each in equal:
            made = each if made is True else FUNCTIONS["logical_and"](made, each)
        return made

    def __ne__(self, other: object) -> Declared:
        equal = self == other
        return not equal if isinstance(equal, bool) else FUNCTIONS["logical_not"](equal)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self._held().items())
        return f"{type(self).__name__}({told})"


class BatchableExtensionType(ExtensionType):
    """One of which several make one, along a new first axis of each tensor."""

    @property
    def rows(self) -> TfTensor:
        """Return how many slices there are along the first axis."""
        made: TfTensor = shape(self.components()[0])[0]
        return made


@cache
def anonymous(name: str, fields: tuple[str, ...]) -> Declared:
    """Return the class of values that were saved, of which nobody has the class."""
    kinds: dict[str, object] = {"_declared": None, "_saved_as": name}
    made: Declared = FieldsChecked("AnonymousExtensionType", (ExtensionType,), kinds)
    made._declared = dict.fromkeys(fields, object)
    return made


class StoredSpec:
    """Makes descriptions of what was saved."""

    def __new__(cls, name: str, fields: object) -> CompositeSpec:  # type: ignore[misc]
        """Return the description of values of a class, or of anonymous ones."""
        held = read(fields)
        if not isinstance(held, dict):
            raise GraphTextError(f"fields {fields!r} of an extension type {name!r}")
        kind = REGISTERED.get(name)
        found = kind if kind is not None and issubclass(kind, ExtensionType) else None
        if found is None or set(found.fields()) != set(held):
            found = anonymous(name, tuple(held))
        made: CompositeSpec = found.Spec.holding(held)
        return made

    def form(self) -> Hashable:
        """Return nothing: descriptions are written by themselves."""
        return ()


WRITTEN.append(ExtensionSpec)
COMPOSITES["ExtensionTypeSpec"] = StoredSpec
HIDDEN = {*CompositeTensor.__mro__, ExtensionType, BatchableExtensionType}
"""The classes whose annotations are no fields."""
assert issubclass(ExtensionType, nest.TensorGroup), "structures are flattened into its tensors"
