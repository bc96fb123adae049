"""How operators of the domain `org.example.shrink` are read from ONNX models."""

from xdsl.ir import SSAValue

from gravure.extend import Node, rule

from .operation import Soft


@rule("SoftThreshold", domain="org.example.shrink")
def soft_threshold(node: Node, x: SSAValue) -> SSAValue:
    """Read a threshold, 1 if none is given."""
    made: SSAValue = node.emit(Soft, x, threshold=node.number("threshold", 1.0))
    return made
