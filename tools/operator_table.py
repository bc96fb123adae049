"""Print the page of ONNX operators, which a test compares with `docs/operators.md`.

python -m gravure.tools.operator_table > docs/operators.md
"""

from __future__ import annotations

from ..frontend.onnx.coverage import page

if __name__ == "__main__":
    print(page(), end="")
