"""Operators whose sizes only a run knows, parts of batches of them, and what is made of two."""

import numpy as np
import pytest

import gravure.tf as tf

lin = tf.linalg
RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.normal(size=(2, 3, 3)) + 3 * np.eye(3)
LINE = RANDOM.normal(size=(2, 3)) + 4
COLUMNS = RANDOM.normal(size=(2, 3, 1))
full, diag = lin.LinearOperatorFullMatrix, lin.LinearOperatorDiag
KINDS = {
    "adjoint": lambda m, x, u: full(m).adjoint(),
    "inverse": lambda m, x, u: full(m).inverse(),
    "product": lambda m, x, u: lin.LinearOperatorComposition([full(m), full(m)]),
    "blocks": lambda m, x, u: lin.LinearOperatorBlockDiag([full(m), diag(x)]),
    "lower blocks": lambda m, x, u: lin.LinearOperatorBlockLowerTriangular(
        [[full(m)], [full(m), diag(x)]]
    ),
    "kronecker": lambda m, x, u: lin.LinearOperatorKronecker([full(m), diag(x)]),
    "update": lambda m, x, u: lin.LinearOperatorLowRankUpdate(full(m), u),
    "lower": lambda m, x, u: lin.LinearOperatorLowerTriangular(m),
    "scaled": lambda m, x, u: lin.LinearOperatorScaledIdentity(3, x[:, 0]),
    "householder": lambda m, x, u: lin.LinearOperatorHouseholder(x),
    "toeplitz": lambda m, x, u: lin.LinearOperatorToeplitz(x, x),
    "tridiag": lambda m, x, u: lin.LinearOperatorTridiag(m, "compact"),
    "circulant": lambda m, x, u: lin.LinearOperatorCirculant(x, "complex128"),
    "circles": lambda m, x, u: lin.LinearOperatorCirculant2D(m, "complex128"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_that_only_a_run_knows(kind: str) -> None:
    wanted = KINDS[kind](*map(tf.constant, (MATRIX, LINE, COLUMNS)))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        shapes = [[None] * x.ndim if kind == "circles" else None for x in (MATRIX, LINE, COLUMNS)]
        given = zip((MATRIX, LINE, COLUMNS), shapes, strict=True)
        made = KINDS[kind](*(tf.compat.v1.placeholder_with_default(*each) for each in given))
        x = tf.ones([2, wanted.domain_dimension, 1], wanted.dtype)
        found = session.run(
            [made.shape_tensor(), made.to_dense(), made.solve(x), made.determinant(), made.trace()]
        )
    x = tf.ones([2, wanted.domain_dimension, 1], wanted.dtype)
    dense = wanted.to_dense().numpy()
    assert found[0].tolist() == list(dense.shape)
    wanted = [dense, wanted.solve(x), np.linalg.det(dense), np.trace(dense, axis1=1, axis2=2)]
    for a, b in zip(found[1:], wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_of_a_batch(kind: str) -> None:
    made = KINDS[kind](*map(tf.constant, (MATRIX, LINE, COLUMNS)))
    part = made[1:]
    assert type(part) is type(made)
    np.testing.assert_allclose(part.to_dense(), made.to_dense()[1:])


def test_blocks_that_are_circulant_multiply_spectra_over_two_axes() -> None:
    spectrum = RANDOM.normal(size=(2, 3)) + 2
    x = RANDOM.normal(size=(2, 3)) + 0j
    made = lin.LinearOperatorCirculant2D(spectrum, "complex128")
    wanted = np.fft.ifft2(np.fft.fft2(x) * spectrum).ravel()
    np.testing.assert_allclose(made.matvec(x.ravel()), wanted)
    assert (made.block_depth, made.block_shape.as_list()) == (2, [2, 3])
    np.testing.assert_allclose(made.inverse().matvec(wanted), x.ravel())
    np.testing.assert_allclose(made.convolution_kernel(), np.fft.ifft2(spectrum), atol=1e-12)


def test_what_two_operators_are_together_is_as_simple_as_it_can_be() -> None:
    line, scaled = diag(LINE), lin.LinearOperatorScaledIdentity(3, np.array([2.0, 3.0]))
    assert type(line @ scaled) is type(scaled @ line) is type(line.solve(scaled)) is type(line)
    assert type(scaled @ scaled) is type(scaled.inverse()) is type(scaled)
    lower = lin.LinearOperatorLowerTriangular(MATRIX)
    assert type(lower @ line) is type(line @ lower) is type(lower)
    np.testing.assert_allclose((line @ lower).to_dense(), line.to_dense() @ lower.to_dense())
    np.testing.assert_allclose((lower @ line).to_dense(), lower.to_dense() @ line.to_dense())
    blocks = lin.LinearOperatorBlockDiag([line, scaled])
    assert type(blocks @ blocks) is type(blocks.adjoint()) is type(blocks.inverse()) is type(blocks)


def test_names_and_dimensions_of_operators() -> None:
    made = full(MATRIX, name="mine")
    assert (made.adjoint().name, made.inverse().name) == ("mine_adjoint", "mine_inv")
    assert lin.LinearOperatorComposition([made, made]).name == "mine_o_mine"
    assert made.range_dimension.value == 3
    with pytest.raises(ValueError, match="non-singular"):
        lin.LinearOperatorAdjoint(full(MATRIX, is_non_singular=True), is_non_singular=False)


def test_gradients_of_an_operator_and_of_every_variable_of_it() -> None:
    u = tf.Variable(COLUMNS)
    made = lin.LinearOperatorLowRankUpdate(diag(tf.Variable(LINE)), u)
    assert len(made.variables) == 2
    with tf.GradientTape() as tape:  # the operator is read while the tape looks on
        found = tape.gradient(made, made.variables)
    assert all(x is not None for x in found)


def test_an_operator_behind_its_adjoint_is_positive() -> None:
    made = full(MATRIX, is_non_singular=True)
    both = lin.LinearOperatorComposition([made, made.H])
    assert both.is_self_adjoint
    assert both.is_positive_definite
    assert not lin.LinearOperatorComposition([made, made]).is_self_adjoint


def test_a_part_of_a_batch_that_is_only_stated() -> None:
    unit = lin.LinearOperatorIdentity(2, batch_shape=[3, 2])[1:, 0]
    assert (type(unit), unit.shape) == (lin.LinearOperatorIdentity, [2, 2, 2])
    assert lin.LinearOperatorZeros(2, 3, batch_shape=[4])[2:].shape == [2, 2, 3]
    assert type(unit @ unit) is type(unit)


def test_hints_that_say_the_contrary_of_what_is_known_are_refused() -> None:
    made = full(MATRIX, is_non_singular=True)
    assert lin.LinearOperatorBlockDiag([made, made], is_non_singular=None).is_non_singular
    with pytest.raises(ValueError, match="always non-singular"):
        lin.LinearOperatorBlockDiag([made, made], is_non_singular=False)
    with pytest.raises(ValueError, match="is_non_singular"):
        lin.LinearOperatorInversion(full(MATRIX, is_non_singular=False))


def test_exponentials_of_matrices_whose_rows_only_a_run_counts() -> None:
    made = tf.function(lin.expm, input_signature=[tf.TensorSpec(None, tf.float64)])
    np.testing.assert_allclose(made(MATRIX), lin.expm(MATRIX))
    ranks = tf.function(lin.matrix_rank, input_signature=[tf.TensorSpec(None, tf.float64)])
    assert ranks(MATRIX).numpy().tolist() == [3, 3]
