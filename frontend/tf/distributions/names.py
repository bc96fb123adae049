"""The names of `compat.v1.distributions`."""

from __future__ import annotations

from ..core.space import Space
from . import base, continuous, discrete

distributions = Space(
    "compat.v1.distributions",
    **{
        n: getattr(base, n)
        for n in (
            *("Distribution", "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "RegisterKL"),
            *("ReparameterizationType", "kl_divergence"),
        )
    },
    **{
        n: getattr(continuous, n)
        for n in (
            *("Beta", "Dirichlet", "Exponential", "Gamma", "Laplace", "Normal", "StudentT"),
            "Uniform",
        )
    },
    **{
        n: getattr(discrete, n)
        for n in ("Bernoulli", "Categorical", "DirichletMultinomial", "Multinomial")
    },
)
