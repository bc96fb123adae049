"""What kernels of an architecture can do, and want: what passes and emitters ask of a target.

    if not target.can.pack_panels:
        return

A pass never asks which machine it is. A back end that comes from outside says by a row of these
what its kernels are to look like.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """Answers that hold for every processor of an architecture; features answer for one.

    The defaults are those of a processor with vectors. Each reads as `target.can.pack_panels`.
    """

    pack_panels: bool = True
    """Products and convolutions read their weights in panels of the register tile, and may be
    merged with what is computed before them."""
    turn_weights: bool = False
    """Products and convolutions read their weights as neighbouring threads lie."""
    multiply_wide: bool = False
    """Narrow elements are multiplied, and summed in wider ones, by units of their own."""
    convolve_integers: bool = True
    """There are convolutions of integers of 8 bits."""
    attend_halves: bool = False
    """There is attention of floats of 16 bits."""
    reduce_columns: bool = False
    """A kernel of rows may have them across memory."""
    group_products: bool = False
    """Products whose rows are grouped by their weights are one kernel."""
    swap: bool = False
    """What is used again much later may lie in the memory of the host meanwhile."""
    share_blocks: int = 0
    """How many blocks of threads keep the machine busy; 0: a few threads share what there is."""
    stream: bool = True
    """Results may be stored past the caches, and what is read next is fetched ahead."""
    step_out: bool = True
    """Host steps may stand between pieces of a program: all of them work on arrays of Python's."""
    run_anywhere: bool = False
    """Programs run in this process, whatever machine it is on."""
    repeat_launches: bool = False
    """Launches may be repeated, with other weights each time: long chains of layers are loops."""
    check_sizes: bool = True
    """A run refuses sizes that a kernel cannot take; else what is out of range is clamped."""

    walk_vectors: bool = True
    """A unit of work walks vectors; else it is one thread of many, which does little."""
    write_fused: bool = True
    """A product and a sum are written as one operation where they may be; else the assembler of
    the machine's own code finds them."""
    convert_halves: bool = False
    """f16 is converted by an instruction, whatever the features."""
    convert_bfloats: bool = False
    """f32 is rounded to bf16 by an instruction."""
    approximate_exp2: bool = False
    """There is an instruction for 2^x, 2 ulp off."""
    load_unaligned: bool = True
    """A vector may be loaded from any element's address."""
    fill_masked: bool = True
    """A masked load puts values into lanes that are off."""
    tune_any: bool = True
    """Code for one processor may be scheduled for another: the features say what may be used."""


PLAIN = Capabilities(repeat_launches=True)
"""Of processors with vectors, as they are without anything optional."""
