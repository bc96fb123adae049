"""What lies in files beside a model: weights, records, IR text.

`beside` opens files that a model names, and only those in its folder; `weights` maps safetensors;
`ir_text` is a program of any level as a file; `records` are measured decisions.
"""
