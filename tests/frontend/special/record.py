"""Record what TensorFlow gives for functions that few programs use, with their gradients.

python tests/frontend/special/record.py    # in a Python that has TensorFlow
"""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)
ALL = np.concatenate([[0.0, -0.5, 1e-6, 2.0, 20.0, -21.0, 60.0], RANDOM.uniform(-30, 30, 13)])
ABOVE = np.concatenate([[1e-6, 2.0, 20.0, 21.0, 60.0], RANDOM.uniform(0, 30, 11)])
A, B = RANDOM.uniform(0.1, 9, (2, 12))
X = np.concatenate([[0.0, 1.0, -0.1, 1.1], RANDOM.random(8)])
WAVES = np.array([1e-3, 0.2, 0.26, 0.5, 1.01, 1.49, 1.51, 2.1, 3.3, 5, 9, 11.5])
ENDS = {
    "dawsn": np.array([0.0, 30, 2e4, 1e9, np.inf, -np.inf, np.nan]),
    "expint": np.array([0.0, -1.0, 39.9, 40.1, 700, np.nan]),
    "fresnel_cos": np.array([0.0, 30, -60, np.inf, -np.inf, np.nan]),
    "fresnel_sin": np.array([0.0, 30, -60, np.inf, -np.inf, np.nan]),
    "spence": np.array([0.0, -1.0, 1.0, 30, 1e9, np.nan]),
    "bessel_j0": np.array([0.0, 24.9, 25.1, 300, -60, np.nan]),
}
SOUND = RANDOM.standard_normal((2, 70))
MATRIX = np.eye(4) * 3 + np.arange(16).reshape(4, 4) / 20
GRADES = np.concatenate([[0, -6, 6, 7, -7, 0.1], RANDOM.uniform(-8, 8, 12)]).astype(np.float32)


def sloped(f: Callable[..., Any], *values: Any, of: tuple[int, ...] = (0,)) -> Callable[[Any], Any]:
    """Return what gives the values of a function of tensors, and the gradients of some."""

    def run(tf: Any) -> Any:
        given = [tf.constant(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch([given[i] for i in of])
            made = f(tf, *given)
            total = tf.reduce_sum(made * made)
        return [made, *tape.gradient(total, [given[i] for i in of])]

    return run


def plain(f: Callable[..., Any], *values: Any) -> Callable[[Any], Any]:
    """Return what gives the values of a function of tensors."""
    return lambda tf: f(tf, *[tf.constant(value) for value in values])


def quantised(low: float, high: float, **options: Any) -> Callable[[Any], Any]:
    """Return what rounds to steps, with all gradients."""

    def run(tf: Any, x: Any, least: Any, most: Any) -> Any:
        return tf.quantization.fake_quant_with_min_max_vars(x, least, most, **options)

    return sloped(run, GRADES, np.float32(low), np.float32(high), of=(0, 1, 2))


EDGES = np.array([0.0, -1.0, 1.0, np.inf, np.nan, -np.inf, 1e-300, 700.0, 2e3])
SHAPES, PLACES = np.meshgrid([0.002, 0.3, 1.0, 4.5, 19.9, 20.1, 90.0], [0.01, 0.7, 3.0, 26.0, 97.0])
"""Of incomplete gamma functions: on both sides of where they are computed otherwise."""

RISING = np.sin(np.arange(42.0) ** 2).reshape(3, 14)
PICTURE = (np.add.outer(np.arange(24) * 9, np.arange(21) * 5)[..., None] + [0, 40, 90]).astype("u1")
SYSTEM = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
BOUNDS = {
    "around": (np.float32(0), np.float32(1), np.float32(-2), np.float32(2)),
    "far": (0.0, 1.0, 4.0, 9.0),
    "near": (np.float32(0), np.float32(1), np.float32(1), np.float32(1.5)),
    "below": (1.0, 2.0, -np.inf, -3.0),
    "rows": (np.zeros(1), np.ones((2, 3)), np.float64([-1, -2, -1000]), np.float64([[1e4], [1]])),
}


def bounded(name: str) -> Callable[[Any], Any]:
    """Return what draws normal numbers within bounds, with all gradients."""

    def run(tf: Any, *given: Any) -> Any:
        draw = tf.random.stateless_parameterized_truncated_normal
        return draw([9, 2, 3], [7, 17], *given)

    return sloped(run, *BOUNDS[name], of=(0, 1, 2, 3))


def conjugate(**options: Any) -> Callable[[Any], Any]:
    """Return what solves two systems step by step."""

    def run(tf: Any) -> Any:
        of = {"is_self_adjoint": True, "is_positive_definite": True}
        preconditioner = tf.linalg.LinearOperatorDiag(np.float64([0.25, 0.33, 0.5]), **of)
        given = {**options, "preconditioner": preconditioner} if "max_iter" in options else options
        return list(
            tf.linalg.experimental.conjugate_gradient(
                tf.linalg.LinearOperatorFullMatrix(SYSTEM, **of),
                tf.constant([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]], tf.float64), **given
            )
        )  # fmt: skip

    return run


CALLS: dict[str, Callable[[Any], Any]] = {
    **{
        f"{n} {x.dtype}": sloped(lambda tf, x, n=n: getattr(tf.math, f"bessel_{n}")(x), x)
        for n in ("i0e", "i1e")
        for x in (ALL[1:].astype(np.float32), ALL[1:])
    },
    **{
        n: sloped(lambda tf, x, n=n: getattr(tf.math, f"bessel_{n}")(x), ALL[abs(ALL) < 9])
        for n in ("i0", "i1")
    },
    **{
        n: plain(lambda tf, x, n=n: getattr(tf.math.special, f"bessel_{n}")(x), ALL)
        for n in ("k0", "k1", "k0e", "k1e")
    },
    **{
        f"{n} above": sloped(lambda tf, x, n=n: getattr(tf.math.special, f"bessel_{n}")(x), x)
        for n in ("k0", "k1", "k0e", "k1e")
        for x in (ABOVE[1:],)
    },
    **{
        f"{n} {x.dtype}": sloped(lambda tf, x, n=n: getattr(tf.math.special, n)(x), x)
        for n in ("dawsn", "fresnel_cos", "fresnel_sin", "bessel_j0", "bessel_j1")
        for x in (WAVES.astype(np.float32), np.concatenate([WAVES, -WAVES]))
    },
    **{
        f"{n} {x.dtype}": sloped(lambda tf, x, n=n: getattr(tf.math.special, n)(x), x)
        for n in ("expint", "spence", "bessel_y0", "bessel_y1")
        for x in (WAVES.astype(np.float32), WAVES)
    },
    **{
        f"{n} at the ends": plain(lambda tf, x, n=n: getattr(tf.math.special, n)(x), ENDS[n])
        for n in ("dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence", "bessel_j0")
    },
    **{
        f"{n} {kind}": plain(
            lambda tf, a, x, n=n: getattr(tf.math, n)(a, x),
            SHAPES.astype(kind), PLACES.astype(kind),
        )
        for n in ("igamma", "igammac")
        for kind in ("float32", "float64")
    },
    **{
        f"{n} at the ends": plain(
            lambda tf, a, x, n=n: getattr(tf.math, n)(a, x), *np.meshgrid(EDGES, EDGES)
        )
        for n in ("igamma", "igammac")
    },
    "betainc": plain(lambda tf, a, b, x: tf.math.betainc(a, b, x), A, B, X),
    "betainc of numbers": plain(lambda tf, a, b, x: tf.math.betainc(a, b, x), 2.0, 3.0, 0.25),
    "betainc slope": sloped(
        lambda tf, a, b, x: tf.math.betainc(a, b, x), A[4:], B[4:], X[4:], of=(2,)
    ),
    **{
        f"{n} slopes {kind}": sloped(
            lambda tf, a, x, n=n: getattr(tf.math, n)(a, x),
            SHAPES[:, :6].astype(kind), PLACES[:, :1].astype(kind), of=(0, 1),
        )
        for n in ("igamma", "igammac")
        for kind in ("float32", "float64")
    },
    "igamma by the first at the ends": plain(
        lambda tf, a, x: tf.raw_ops.IgammaGradA(a=a, x=x), *np.meshgrid(EDGES, EDGES)
    ),
    **{
        f"isotonic {axis} {falls}": lambda tf, axis=axis, falls=falls: [
            *tf.nn.isotonic_regression(tf.constant(RISING), falls, axis),
            sloped(lambda tf, x: tf.nn.isotonic_regression(x, falls, axis)[0], RISING)(tf)[1],
        ]
        for axis in (0, 1)
        for falls in (True, False)
    },
    "isotonic of integers": lambda tf: [
        found for kind in ("int8", "int32", "int64")
        for found in tf.nn.isotonic_regression(tf.constant([[3, 1, 2, 2], [1, 3, 4, 0]], kind))
    ],
    **{f"normal {name}": bounded(name) for name in BOUNDS},
    "conjugate gradients": conjugate(),
    "conjugate gradients with a guess": conjugate(x=np.ones((2, 3)), max_iter=2),
    "conjugate gradients to the end": conjugate(tol=1e-12, max_iter=30),
    "sobol": plain(lambda tf: tf.math.sobol_sample(7, 20, skip=5)),
    "sobol of many axes": plain(
        lambda tf: tf.math.sobol_sample(400, 9, skip=100000, dtype=tf.float64)
    ),
    "scripts": plain(
        lambda tf, x: tf.strings.unicode_script(x),
        np.int32([[97, 0x4E00, 0x3B1], [-3, 0x10FFFF, 0x110000]]),
    ),
    **{
        f"jpeg {quality}": plain(
            lambda tf, x, q=quality: tf.image.adjust_jpeg_quality(x, q), PICTURE
        )
        for quality in (0, 30, 95)
    },
    "jpeg of floats": plain(
        lambda tf, x: tf.image.adjust_jpeg_quality(x, tf.constant(40), "INTEGER_ACCURATE"),
        (PICTURE[..., :1] / 255).astype(np.float32),
    ),
    "jpeg by chance": plain(
        lambda tf, x: tf.image.stateless_random_jpeg_quality(x, 20, 90, (1, 2)), PICTURE
    ),
    "sqrtm": plain(lambda tf, x: tf.linalg.sqrtm(x), np.stack([MATRIX, MATRIX.T + 1])),
    **{
        f"mdct {norm} {end}": plain(
            lambda tf, x, n=norm, e=end: tf.signal.mdct(x, 16, pad_end=e, norm=n), SOUND
        )
        for norm in (None, "ortho")
        for end in (False, True)
    },
    "mdct unseen": plain(lambda tf, x: tf.signal.mdct(x, 16, window_fn=None), SOUND),
    **{
        f"inverse mdct {norm}": plain(
            lambda tf, x, n=norm: tf.signal.inverse_mdct(x, norm=n), SOUND[:, :64].reshape(2, 8, 8)
        )
        for norm in (None, "ortho")
    },
    "inverse mdct unseen": plain(
        lambda tf, x: tf.signal.inverse_mdct(x, window_fn=None), SOUND[:, :64].reshape(2, 8, 8)
    ),
    "vorbis": plain(lambda tf: tf.signal.vorbis_window(16)),
    **{
        f"quantised {low} {high} {narrow}": quantised(low, high, narrow_range=narrow)
        for low, high in ((-6.0, 6.0), (-2.3, 5.0), (0.0, 4.0), (1.0, 3.0), (-3.0, -1.0), (0.0, 0))
        for narrow in (False, True)
    },
    "quantised to 4": quantised(-2.0, 5.0, num_bits=4),
    "quantised by numbers": sloped(
        lambda tf, x: tf.quantization.fake_quant_with_min_max_args(x, -3.0, 3.0), GRADES
    ),
    "quantised by channels": sloped(
        lambda tf, x, a, b: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, a, b),
        GRADES.reshape(6, 3), np.float32([-1, -2, 0]), np.float32([1, 3, 4]), of=(0, 1, 2),
    ),
    "moments without weight": plain(
        lambda tf, x, w: tf.nn.weighted_moments(x, [0], w),
        np.float32([[1, 2], [3, 4]]), np.float32([[0, 1], [0, 2]]),
    ),
    "moments of broadcast weights": plain(
        lambda tf, x, w: tf.nn.weighted_moments(x, [0, 1], w, keepdims=True),
        np.float32([[1, 2], [3, 4]]), np.float32([[0], [2]]),
    ),
}  # fmt: skip


def arrays(run: Callable[[Any], Any], tf: Any) -> list[Any]:
    """Return the results of a run as a list of arrays."""
    made = run(tf)
    return [np.asarray(x) for x in (made if isinstance(made, list | tuple) else [made])]


if __name__ == "__main__":
    tensorflow = importlib.import_module("tensorflow")
    found = {
        name: [(str(x.dtype), list(x.shape), x.ravel().tolist()) for x in arrays(run, tensorflow)]
        for name, run in CALLS.items()
    }
    Path(__file__).with_name("values.json").write_text(json.dumps(found))
