"""Rows of a table by ids in rows of different lengths, combined to one row for each."""

from __future__ import annotations

from collections.abc import Callable

from ...values.dispatch import handles
from ..core.bridge import TfTensor
from ..nondense import embeddings
from .tensor import RaggedTensor


def of_rows(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    """Return a function of ragged ids and weights, of one of sparse ones."""

    def combined(
        params: object, ids: RaggedTensor, weights: object = None, *args: object, **options: object
    ) -> TfTensor:
        named = {"sparse_weights", "sp_weights"} & set(options)
        by = options.pop(named.pop()) if named else weights
        if not isinstance(ids, RaggedTensor) or not isinstance(by, RaggedTensor | None):
            raise TypeError(
                f"ids and weights must both be RaggedTensor, got {type(ids)} and {type(by)}"
            )
        scale = None if by is None else by.to_sparse()
        return function(params, ids.to_sparse(), scale, *args, **options)

    return combined


for _function in (embeddings.embedding_lookup_sparse, embeddings.safe_embedding_lookup_sparse):
    handles(RaggedTensor, _function)(of_rows(_function))
