"""What tests of single conversions are run with: all of them at once, by a public name."""

import contextlib
import io

from decorators import tf
from public_names import NotPublicError


class ConversionCase(tf.compat.v1.test.TestCase):
    """Tests in a graph; `transform` converts a function as `tf.autograph.to_graph` does."""

    def setUp(self):
        """Begin a graph."""
        super().setUp()
        self._entered = tf.Graph().as_default()
        self._entered.__enter__()

    def tearDown(self):
        """End the graph."""
        self._entered.__exit__(None, None, None)
        super().tearDown()

    @contextlib.contextmanager
    def assertPrints(self, expected_result):  # noqa: N802
        """Compare what is printed."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            yield
        assert printed.getvalue() == expected_result

    def transform(self, f, converter_module, include_ast=False, ag_overrides=None):
        """Return a function converted; trees, and parts put in their place, are not public."""
        del converter_module
        if include_ast or ag_overrides:
            raise NotPublicError("transform")
        return tf.autograph.to_graph(f)
