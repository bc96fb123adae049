"""A class for C++17, in one file with the header of C: named arguments, memory, exceptions."""

from __future__ import annotations

from ...runtime.artifact import ALIGNMENT, Description, TensorInfo
from .header import C_TYPES, header
from .members import largest_shape, members

RESERVED = frozenset(
    """alignas alignof and asm auto bitand bitor bool break case catch char class compl const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
    export extern false float for friend goto if inline int long mutable namespace new noexcept not
    nullptr operator or private protected public register reinterpret_cast return run short signed
    sizeof static static_assert static_cast struct switch template this thread_local throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while xor int8_t
    int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t std gravure
    check context workspace inputs outputs shapes status device""".split()  # noqa: SIM905
)
"""Names that a member cannot have: words of the language, and what the class uses itself."""

SHARED = """\
#ifndef GRAVURE_HPP
#define GRAVURE_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gravure {

/* A call of a model failed; `status` is what the C function returned. */
struct error : std::runtime_error {
    error(std::int32_t status, const char *what) : std::runtime_error(what), status(status) {}
    std::int32_t status;
};

/* An array in row-major order that owns its elements. */
template <class T>
struct tensor {
    std::vector<std::int64_t> shape;
    std::vector<T> data;

    /* Give it another shape; elements that are new are zero. */
    void resize(std::vector<std::int64_t> sizes) {
        std::size_t count = 1;
        for (std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
        shape = std::move(sizes);
        data.resize(count);
    }
    gravure_tensor view(std::int32_t dtype) const {
        return {const_cast<T *>(data.data()), shape.data(),
                static_cast<std::int32_t>(shape.size()), dtype};
    }
};

/* The memory of a run. */
class workspace {
  public:
    explicit workspace(std::size_t bytes)
        : data_(::operator new(bytes, std::align_val_t(ALIGNMENT))) {}
    ~workspace() { ::operator delete(data_, std::align_val_t(ALIGNMENT)); }
    workspace(const workspace &) = delete;
    workspace &operator=(const workspace &) = delete;
    void *data() const { return data_; }

  private:
    void *data_;
};

}  // namespace gravure

#endif  // GRAVURE_HPP
""".replace("ALIGNMENT", str(ALIGNMENT))


def cpp_header(model: Description, *, embedded: bool = True) -> str:
    """Return the text of a header for C++ that needs no other file."""
    inputs, outputs = members(model, {*RESERVED, model.tag})
    lines = [
        f"/* The model `{model.tag}` as a class of C++17. An object has the memory of one run, so",
        " * each thread that runs the model has an object of its own. */",
        f"class {model.tag} {{",
        "  public:",
        *_constructor(model, inputs),
        *(_input(*each) for each in zip(inputs, model.inputs, strict=True)),
        *(_output(*each) for each in zip(outputs, model.outputs, strict=True)),
        *_run(model, inputs, outputs),
        "  private:",
        *_private(model, inputs, outputs),
        "};",
    ]
    guard = f"GRAVURE_MODEL_{model.tag.upper()}_HPP"
    text = header(model, embedded=embedded)
    body = "\n".join(lines)
    return f"{text}\n{SHARED}\n#ifndef {guard}\n#define {guard}\n\n{body}\n\n#endif  // {guard}\n"


def _type(tensor: TensorInfo) -> str:
    plain = C_TYPES[tensor.dtype]
    if tensor.dtype in ("c64", "c128"):
        return f"std::complex<{plain}>"
    return plain if plain in ("float", "double") else f"std::{plain}"


def _input(name: str, tensor: TensorInfo) -> str:
    kind = _type(tensor)
    return f"    /* {tensor} */\n    gravure::tensor<{kind}> &{name}() {{ return {name}_; }}"


def _output(name: str, tensor: TensorInfo) -> str:
    kind = _type(tensor)
    return (
        f"    /* {tensor}, from the last run */\n"
        f"    const gravure::tensor<{kind}> &{name}() const {{ return {name}_; }}"
    )


def _constructor(model: Description, inputs: list[str]) -> list[str]:
    """Return the members that make and end an object."""
    tag = model.tag
    device = ", std::int32_t device = 0" if model.is_for_gpu else ""
    sizes = [
        f"        {name}_.resize({{{', '.join(map(str, largest_shape(model, tensor)))}}});"
        for name, tensor in zip(inputs, model.inputs, strict=True)
    ]
    begin = (
        [f"        check({tag}_create(workspace_.data(), &context_, device));"]
        if model.is_for_gpu
        else [
            f"        check({tag}_check_cpu());",
            "        context_.cpu = GRAVURE_CPU_CHECKED;  // no run has to ask again",
        ]
    )
    end = [f"    ~{tag}() {{ {tag}_destroy(workspace_.data()); }}"] if model.is_for_gpu else []
    return [
        "    /* Inputs have their largest shape at first. What a context leads to must outlive the",
        "     * object. */",
        f"    explicit {tag}(const gravure_context *context = nullptr{device})",
        "        : context_(context == nullptr ? gravure_context{} : *context),",
        f"          workspace_({tag.upper()}_WORKSPACE_BYTES) {{",
        *sizes,
        *begin,
        "    }",
        *end,
    ]


def _views(names: list[str], tensors: tuple[TensorInfo, ...]) -> str:
    """Return the views of arrays; there is one at the least, which C++ asks for."""
    views = [
        f"{name}_.view(GRAVURE_{tensor.dtype.upper()})"
        for name, tensor in zip(names, tensors, strict=True)
    ]
    return ", ".join(views or ["{}"])


def _run(model: Description, inputs: list[str], outputs: list[str]) -> list[str]:
    """Return the member that runs the model."""
    pairs = list(zip(outputs, model.outputs, strict=True))
    shapes = ", ".join(f"{name}_.shape.data()" for name, _ in pairs)
    return [
        "    /* Compute the outputs, with the shapes they come to. Throws gravure::error. */",
        "    void run() {",
        f"        const gravure_tensor inputs[] = {{{_views(inputs, model.inputs)}}};",
        *(f"        {name}_.shape.resize({len(tensor.shape)});" for name, tensor in pairs),
        f"        std::int64_t *const shapes[] = {{{shapes}}};",
        f"        check({model.tag}_output_shapes(inputs, shapes));",
        *(f"        {name}_.resize(std::move({name}_.shape));" for name, _ in pairs),
        f"        const gravure_tensor outputs[] = {{{_views(outputs, model.outputs)}}};",
        f"        check({model.tag}_run(inputs, outputs, workspace_.data(), &context_));",
        "    }",
        "",
    ]


def _private(model: Description, inputs: list[str], outputs: list[str]) -> list[str]:
    """Return what an object holds."""
    arguments = (*zip(inputs, model.inputs, strict=True), *zip(outputs, model.outputs, strict=True))
    return [
        "    static void check(std::int32_t status) {",
        f"        if (status != 0) throw gravure::error(status, {model.tag}_status(status));",
        "    }",
        "",
        "    gravure_context context_;",
        "    gravure::workspace workspace_;",
        *(f"    gravure::tensor<{_type(tensor)}> {name}_;" for name, tensor in arguments),
    ]
