"""An ONNX model as the file that it is.

`wire` parts structure from weights, `read` parses, `data` gives tensors as arrays, `checks` and
`faults` say what is wrong; `summary` looks at a file, `surgery` changes it; `quantise`
and `narrow` make it compute in fewer bits.
"""
