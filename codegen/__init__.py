"""From planned IR to native code: kernel templates, emitters, libraries.

Imports `ir`, `passes` and `runtime` (for `artifact`, the data that both sides share, and for the
formats of files). llvmlite is imported in `codegen/llvm/` alone.

- `compile`: the whole way, from a program to a `Compiled`. Start here. `compiled`: what comes out.
- `objects`: the kernels' machine code, made while passes go on by `children` of this process.
- `kernels/`: a kernel function on tensors becomes loops, by the template of its kind.
- `llvm/`: loops become LLVM text, and text becomes objects; also the functions that callers see.
- `describe`: the planned program as plain data, from which entry, header and manifest are made.
- `prepare`: weights as the kernels want them.
- `aot/`: objects and weights become libraries, archives and headers, without a linker.
- `cache`: a folder of what was made before. `keys`: all that it depends on, as a name;
  `digests`: of files, remembered. `store`: whole compiled programs in that folder.
- `single`: single functions of arrays, for code that runs at once: the same bits as compiled.
- `serial`: functions of Python's own loops and numbers, for what goes step by step.
- `stages`: stop on the way down, or go on from there. `profile`: how long each launch takes, and
  when it began; `work`: what it is there for; `limits`: what it takes at least on this machine.
"""
