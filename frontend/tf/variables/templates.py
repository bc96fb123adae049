"""Functions that make their variables at their first call, and share them later."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper

from ...values.context import executing_eagerly
from ..graph.graph_lists import global_variables, local_variables, trainable_variables
from ..graph.state import get_default_graph
from . import scopes as _sc

TRAINABLE = "trainable_variables"


class Template:
    """A function with a scope of its own, which is entered at each call."""

    def __init__(
        self,
        name: str,
        function: Callable[..., object],
        unique_name: str | None,
        getter: _sc.Getter | None,
        options: dict[str, object],
    ) -> None:
        update_wrapper(self, function)
        self.name, self._function, self._options = name, function, options
        self._unique_name, self._getter = unique_name, getter
        self._scope: _sc.VariableScope | None = None
        self._called = False

    def enter_once(self) -> None:
        """Make the scope now: its name is that of what is around here."""
        with _sc.variable_scope(
            self._unique_name, self.name, custom_getter=self._getter
        ) as self._scope:
            pass

    def __call__(self, *args: object, **more: object) -> object:
        """Call the function in the scope; variables are made at the first call only."""
        known, first = self._scope, not self._called
        place = self._unique_name if known is None else known
        getter = self._getter if known is None else None  # the scope that is known has it
        reuse = None if first or place is None else True
        with (
            _sc.kept(),
            _sc.variable_scope(place, self.name, reuse=reuse, custom_getter=getter) as scope,
        ):
            self._scope = known or scope
            before = len(get_default_graph().get_collection(TRAINABLE))
            result = self._function(*args, **{**self._options, **more})
            if not first and len(get_default_graph().get_collection(TRAINABLE)) > before:
                raise ValueError(
                    f"Trainable variable created when calling template {self.name!r} after the "
                    "first time, perhaps you used tf.Variable when you meant tf.get_variable"
                )
            self._called = True
            return result

    @property
    def variable_scope(self) -> _sc.VariableScope | None:
        """Return the scope, None before it was entered."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """Return the name of the scope."""
        if self._scope is None:
            return None
        return self._scope.name.removesuffix("/")

    def _of_scope(self, listed: Callable[[str], list[object]]) -> list[object]:
        """Return the variables of a list that are in the scope."""
        if self._scope is None:
            return []
        prefix = f"{self._scope.name}/"
        if executing_eagerly():
            known = _sc.scopes().variables.items()
            return [v for name, v in known if name.startswith(prefix)]
        return listed(prefix)

    @property
    def variables(self) -> list[object]:
        """Return all variables of the scope."""
        return [*self.global_variables, *([] if executing_eagerly() else self.local_variables)]

    @property
    def global_variables(self) -> list[object]:
        """Return the global variables of the scope."""
        return self._of_scope(global_variables)

    @property
    def local_variables(self) -> list[object]:
        """Return the local variables of the scope."""
        return [] if executing_eagerly() else self._of_scope(local_variables)

    @property
    def trainable_variables(self) -> list[object]:
        """Return the variables of the scope that optimisers change."""
        found = self._of_scope(trainable_variables)
        return [v for v in found if getattr(v, "trainable", True)]

    @property
    def non_trainable_variables(self) -> list[object]:
        """Return the variables of the scope that optimisers leave alone."""
        trained = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trained]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


def make_template(
    name_: str,
    func_: Callable[..., object],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: _sc.Getter | None = None,
    **kwargs: object,
) -> Template:
    """Return a function that makes its variables at its first call, and shares them later.

    Its scope is entered at that call, or now; a unique name stays as it is.
    """
    if name_ is None:
        raise ValueError("name cannot be None.")
    if unique_name_ is not None and executing_eagerly():
        raise ValueError("unique_name_ cannot be used when eager execution is enabled.")
    made = Template(name_, func_, unique_name_, custom_getter_, kwargs)
    if create_scope_now_:
        made.enter_once()
    return made
