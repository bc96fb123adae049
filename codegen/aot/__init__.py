"""Libraries, archives and headers: what a compiled model is given away as.

Everything here works on bytes: objects come in as LLVM wrote them, and files go out that need
neither a compiler nor a linker to be made. Read `elf` (objects apart), `library` (the linker),
`static` (archives), `header` and `manifest` (what tells callers how to call).
"""
