"""Functions of texts that give several texts, or take several: pieces, characters, joined ones.

What gives one text for each is in `ops.strings`. Texts are the host's: each function is one step
of it, and rows of results are ragged tensors.
"""
