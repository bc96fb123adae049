"""The C header of a model: its functions, its arguments, and an example of a call."""

from __future__ import annotations

from pathlib import Path

from ...ir.types.tensor import MAX_BYTES
from ...passes.bufferise import within_memory
from ...runtime.artifact import ALIGNMENT, DTYPES, LIBRARIES, TOLD, Description, TensorInfo

SHARED = Path(__file__).resolve().parents[2] / "runtime" / "include" / "gravure.h"
"""What the headers of all models have in common."""

C_TYPES = {
    **{"bool": "uint8_t", "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double"},
    **{"c64": "float", "c128": "double"},
    **dict.fromkeys(tuple(DTYPES)[15:], "uint8_t"),
    **{f"{sign}{bits}": f"{kind}{bits}_t" for sign, kind in (("i", "int"), ("u", "uint"))
       for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""What an element is in C; a complex number is two."""

NUMERICS = {
    "exact": "element-wise operations round as each does alone; sums are in an order of their own",
    "fast": "element-wise operations may be written in forms that round otherwise, too",
}
NEAR = "each element-wise operation is at most {} ulps from what it gives alone"


def header(model: Description, *, embedded: bool = True) -> str:
    """Return the text of a header that needs no other file."""
    tag = model.tag
    guard = f"GRAVURE_MODEL_{tag.upper()}_H"
    return "\n".join(
        [
            *_comment(model, embedded),
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            SHARED.read_text(encoding="utf-8"),
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            *_sizes(model),
            *_functions(model),
            *_more(model),
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            f"#endif /* {guard} */",
            "",
        ]
    )


def session_header() -> str:
    """Return the text of the header that loads any library by its path; it needs no other file."""
    text = SHARED.with_name("gravure_session.h").read_text(encoding="utf-8")
    return text.replace('#include "gravure.h"\n', SHARED.read_text(encoding="utf-8"), 1)


def _comment(model: Description, embedded: bool) -> list[str]:
    """Describe the arguments, and show a call."""
    lines = [f"The compiled model `{model.tag}`.", ""]
    for kind, tensors in (("inputs", model.inputs), ("outputs", model.outputs)):
        for number, tensor in enumerate(tensors):
            over = (
                "" if tensor.over is None else f"  (may be given the data of inputs[{tensor.over}])"
            )
            lines.append(f"    {kind}[{number}]  {tensor}  {_plain(tensor.name)}{over}")
            lines += _told(model, number) if kind == "outputs" else []
    if model.dims:
        ranges = (f"{dim.name} = {dim.low} to {dim.high}" for dim in model.dims)
        lines += ["", f"Dimensions: {', '.join(ranges)}."]
    numerics = str(model.extras.get("numerics", "fast"))
    said = NUMERICS.get(numerics) or NEAR.format(numerics.partition(":")[2])
    lines += ["", f"Numerics `{numerics}`: {said}."]
    other = "machines without such a GPU" if model.is_for_gpu else "other processors"
    lines += [f"Made for {model.target}; {other} get a status, not a crash."]
    if model.weights and not embedded:
        lines += ["The weights are not in here: map their file and set context.weights to byte"]
        lines += [f"4096 of it ({model.weights} bytes follow, aligned to {ALIGNMENT})."]
    lines += _libraries(model)
    where = "Outside of these calls, the" if model.libraries else "The"
    lines += [f"{where} bits of the results do not depend on the number of threads.", ""]
    lines += _example(model)
    escaped = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    return ["/* " + escaped[0], *(f" * {line}".rstrip() for line in escaped[1:]), " */"]


def _told(model: Description, number: int) -> list[str]:
    """Say how much of an output there is where only a run tells."""
    return [
        f"        of axis {row['axis']} the first *outputs[{row['by']}], behind them zeros"
        for row in model.extras.get(TOLD, ())
        if row["output"] == number
    ]


def _libraries(model: Description) -> list[str]:
    """Say which other libraries there have to be."""
    lines = []
    for name, called in model.extras.get(LIBRARIES, {}).items():
        lines += [f"Needs {_plain(name)} where the loader finds it, for {', '.join(called)}:"]
        lines += ["memory, threads and the order of sums are the library's in these calls."]
    return lines


def _plain(name: str) -> str:
    """Return a name that can stand in a comment of one line."""
    return name if name.isascii() and name.isprintable() else ascii(name)


def _example(model: Description) -> list[str]:
    """Return the lines of a call, with the largest dimensions."""
    tag, largest = model.tag, {dim.name: dim.high for dim in model.dims}
    lines, names = [], []
    for kind, tensors in (("in", model.inputs), ("out", model.outputs)):
        for number, tensor in enumerate(tensors):
            names.append(name := f"{kind}{number}")
            lines += _example_tensor(name, tensor, largest)
    inputs = ", ".join(name for name in names if name.startswith("in"))
    outputs = ", ".join(name for name in names if name.startswith("out"))
    return [
        "Example:",
        "",
        *(f"    {line}" for line in lines),
        f"    const gravure_tensor inputs[] = {{{inputs}}}, outputs[] = {{{outputs}}};",
        f"    void *workspace = aligned_alloc({ALIGNMENT}, {tag.upper()}_WORKSPACE_BYTES);",
        *_example_run(model),
        f"    if (status != 0) puts({tag}_status(status));",
    ]


def _example_run(model: Description) -> list[str]:
    """Return the lines that run the model."""
    if model.is_for_gpu:
        return [
            f"    int32_t status = {model.tag}_create(workspace, NULL, 0);",
            f"    if (status == 0) status = {model.tag}_run(inputs, outputs, workspace, NULL);",
        ]
    return [
        "    const gravure_context context = {.cpu = GRAVURE_CPU_CHECKED};  // asked once, here",
        f"    int32_t status = {model.tag}_check_cpu();",
        f"    if (status == 0) status = {model.tag}_run(inputs, outputs, workspace, &context);",
    ]


def _example_tensor(name: str, tensor: TensorInfo, largest: dict[str, int]) -> list[str]:
    """Return the lines that declare one argument."""
    shape = tensor.shape_for(largest)
    count = 2 if tensor.dtype in ("c64", "c128") else 1
    for size in shape:
        count *= size
    sizes = ", ".join(map(str, shape))
    where = f"{name}_shape" if shape else "NULL"
    lines = [f"static {C_TYPES[tensor.dtype]} {name}_data[{max(count, 1)}];"]
    lines += [f"const int64_t {name}_shape[] = {{{sizes}}};"] if shape else []
    code = f"GRAVURE_{tensor.dtype.upper()}"
    return [
        *lines,
        f"const gravure_tensor {name} = {{{name}_data, {where}, {len(shape)}, {code}}};",
    ]


def _sizes(model: Description) -> list[str]:
    """Define what is known before a call, for those who allocate nothing at run time."""
    tag = model.tag.upper()
    sizes = {
        f"{tag}_INPUTS": len(model.inputs),
        f"{tag}_OUTPUTS": len(model.outputs),
        f"{tag}_THREADS": model.slots,
        f"{tag}_WORKSPACE_BYTES": model.workspace_bytes,
        f"{tag}_WEIGHTS_BYTES": model.weights,
    }
    if model.is_for_gpu:
        sizes[f"{tag}_DEVICE_BYTES"] = int(model.extras["gpu"]["bytes"])
    if model.raw:
        sizes[f"{tag}_PREPARE_BYTES"] = model.prepare_bytes
    for dim in model.dims:
        sizes[f"{tag}_{dim.name.upper()}_MAX"] = dim.high
    largest = {dim.name: dim.high for dim in model.dims}
    for kind, tensors in (("INPUT", model.inputs), ("OUTPUT", model.outputs)):
        for number, tensor in enumerate(tensors):
            size = DTYPES[tensor.dtype]
            for each in tensor.shape_for(largest):
                size *= each
            within_memory(size, f"{kind.lower()} {tensor.name!r}", MAX_BYTES)
            sizes[f"{tag}_{kind}{number}_BYTES"] = size
    return ["/* Sizes in bytes are those at the largest dimensions. */"] + [
        f"#define {name} {value}{'u' if value < 1 << 31 else 'ull'}"
        for name, value in sizes.items()
    ] + [""]  # fmt: skip


def _functions(model: Description) -> list[str]:
    """Declare the functions of the model."""
    tag = model.tag
    prepare = [
        "",
        "/* Compute the weights from the raw ones, to be given in the context of runs. The",
        f" * workspace has {tag.upper()}_PREPARE_BYTES. */",
        f"int32_t {tag}_prepare(const void *const *raw, void *weights, void *workspace,",
        f"    {' ' * len(tag)}           const gravure_context *context);",
    ]
    return [
        "/* Run the model. The workspace is aligned to 64 bytes; context may be null. */",
        f"int32_t {tag}_run(const gravure_tensor *inputs, const gravure_tensor *outputs,",
        f"    {' ' * len(tag)}       void *workspace, const gravure_context *context);",
        "",
        "/* Compute the shape of each output from the shapes of the inputs. */",
        f"int32_t {tag}_output_shapes(const gravure_tensor *inputs, int64_t *const *shapes);",
        *(prepare if model.raw else []),
        "",
        "/* Ask whether this processor can run the model. */",
        f"int32_t {tag}_check_cpu(void);",
        "",
        f"size_t {tag}_workspace_bytes(void);",
        f"size_t {tag}_weights_bytes(void);",
        f"const char *{tag}_status(int32_t status);",
        "",
        "/* What the model is, and how it was made, as JSON. */",
        f"extern const char {tag}_manifest[];",
        "",
    ]


def _more(model: Description) -> list[str]:
    """Declare what there is for the kind of machine."""
    if model.is_for_gpu:
        return _device(model.tag)
    return _pool(model.tag) if model.triple.startswith("x86_64") else []


def _device(tag: str) -> list[str]:
    """Declare what makes a workspace ready for a GPU."""
    indent = f"    {' ' * len(tag)}        "
    return [
        "/* Make a workspace ready for runs on a device of this machine, by its number: find",
        " * libcuda.so.1, load the kernels, allocate memory there, and copy the weights to it",
        " * (those in the library, or context->weights). A failure is a status and leaves nothing.",
        " *",
        " * Each workspace has memory and a stream of its own; one run at a time uses it. Data of",
        " * tensors may lie on the device as well, aligned to 16 bytes: it is used where it is, so",
        " * it must be complete before the run; results are complete when the run returns. */",
        f"int32_t {tag}_create(void *workspace, const gravure_context *context,",
        f"{indent}int32_t device);",
        "",
        "/* Give back all that TAG_create took; a workspace that it failed on is left as it is. */",
        f"void {tag}_destroy(void *workspace);",
        "",
    ]


def _pool(tag: str) -> list[str]:
    """Declare the pool of threads."""
    return [
        "/* A pool for those who have none. The caller gives the memory (aligned to 64 bytes) and",
        " * threads - 1 threads that each run the worker until the pool is stopped:",
        " *",
        f" *     gravure_context context = {{{tag}_pool_parallel_for, pool, NULL,",
        f" *                                {tag}_pool_scope, threads}};",
        " *",
        " * Threads spin during a run and sleep when there is none. Any model may use the pool. */",
        f"int64_t {tag}_pool_bytes(int32_t threads);",
        f"void {tag}_pool_init(void *pool, int32_t threads);",
        f"void {tag}_pool_worker(void *pool);",
        f"void {tag}_pool_scope(void *pool, int32_t begins);",
        f"void {tag}_pool_parallel_for(void *pool, gravure_task task, void *context,",
        f"     {' ' * len(tag)}                   int64_t count);",
        f"void {tag}_pool_stop(void *pool);",
        "",
    ]
