"""A module for Rust: the functions of the library, and a struct with named arguments over them."""

from __future__ import annotations

from ...runtime.artifact import ALIGNMENT, DTYPE_CODES, Description, TensorInfo
from .members import largest_shape, members

RESERVED = frozenset(
    """as async await break const continue crate dyn else enum extern false fn for if impl in let
    loop match mod move mut pub ref return self Self static struct super trait true type union
    unsafe use where while abstract become box do final macro override priv try typeof unsized
    virtual yield run new workspace gen""".split()  # noqa: SIM905
)
"""Names that a field cannot have."""
TYPES = {
    **{"bool": "u8", "f16": "u16", "bf16": "u16", "f32": "f32", "f64": "f64"},
    **{"c64": "[f32; 2]", "c128": "[f64; 2]"},
    **{f"{sign}{bits}": f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)},
}
"""What an element is in Rust; of those of fewer than 8 bits, a byte."""

SHARED = """\
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::ffi::{c_char, c_void, CStr};

/// An array in row-major order.
#[derive(Clone, Debug, Default)]
pub struct Tensor<T> {
    pub shape: Vec<i64>,
    pub data: Vec<T>,
}

impl<T: Clone + Default> Tensor<T> {
    /// Give it another shape; elements that are new are zero.
    pub fn resize(&mut self, shape: &[i64]) {
        self.shape = shape.to_vec();
        self.data.resize(shape.iter().product::<i64>() as usize, T::default());
    }

    fn view(&self, dtype: i32) -> View {
        let data = self.data.as_ptr() as *mut c_void;
        View { data, shape: self.shape.as_ptr(), rank: self.shape.len() as i32, dtype }
    }
}

/// A call of the model failed.
#[derive(Clone, Debug)]
pub struct Error {
    pub status: i32,
    pub message: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

#[repr(C)]
struct View {
    data: *mut c_void,
    shape: *const i64,
    rank: i32,
    dtype: i32,
}

#[repr(C)]
struct Context {
    nothing: [usize; 4],
    threads: i32,
    cpu: i32,
}

/// `Model::new` asked for the processor: no run has to ask again.
const CHECKED: Context = Context { nothing: [0; 4], threads: 0, cpu: 1 };
"""


def rust_module(model: Description) -> str:
    """Return the text of a module, for `mod` in a program that is linked with the library."""
    inputs, outputs = members(model, RESERVED)
    fields = [*zip(inputs, model.inputs, strict=True), *zip(outputs, model.outputs, strict=True)]
    return "\n".join(
        [
            f"//! The compiled model `{model.tag}`: link the library, then",
            "//! `let mut model = Model::new()?;`, fill its inputs, and `model.run()?`.",
            "#![allow(dead_code, non_snake_case)]",
            "",
            SHARED,
            *_functions(model.tag),
            "/// The memory of one run; each thread that runs the model has one of its own.",
            "pub struct Model {",
            *(
                f"    /// {tensor}\n    pub {name}: Tensor<{_type(tensor)}>,"
                for name, tensor in fields
            ),
            "    workspace: *mut u8,",
            "}",
            "",
            *_implementation(model, inputs, outputs),
        ]
    )


def _type(tensor: TensorInfo) -> str:
    return TYPES.get(tensor.dtype, "u8")


def _functions(tag: str) -> list[str]:
    """Declare the functions of the library."""
    return [
        'extern "C" {',
        f"    fn {tag}_run(inputs: *const View, outputs: *const View, workspace: *mut u8,",
        f"    {' ' * len(tag)}        context: *const Context) -> i32;",
        f"    fn {tag}_output_shapes(inputs: *const View, shapes: *const *mut i64) -> i32;",
        f"    fn {tag}_check_cpu() -> i32;",
        f"    fn {tag}_workspace_bytes() -> usize;",
        f"    fn {tag}_status(status: i32) -> *const c_char;",
        "}",
        "",
    ]


def _views(names: list[str], tensors: tuple[TensorInfo, ...]) -> str:
    return ", ".join(
        f"self.{name}.view({DTYPE_CODES[tensor.dtype]})"
        for name, tensor in zip(names, tensors, strict=True)
    )


def _implementation(model: Description, inputs: list[str], outputs: list[str]) -> list[str]:
    """Return what a model does."""
    tag = model.tag
    pairs = list(zip(outputs, model.outputs, strict=True))
    shapes = ", ".join(f"self.{name}.shape.as_mut_ptr()" for name, _ in pairs)
    begin = [
        f"        made.{name}.resize(&{[*largest_shape(model, tensor)]});"
        for name, tensor in zip(inputs, model.inputs, strict=True)
    ]
    return [
        "impl Model {",
        "    /// Inputs have their largest shape at first.",
        "    pub fn new() -> Result<Model, Error> {",
        f"        check(unsafe {{ {tag}_check_cpu() }})?;",
        "        let workspace = unsafe { alloc_zeroed(layout()) };",
        "        if workspace.is_null() {",
        "            handle_alloc_error(layout());",
        "        }",
        "        let mut made = Model {",
        *(f"            {name}: Tensor::default()," for name in (*inputs, *outputs)),
        "            workspace,",
        "        };",
        *begin,
        "        Ok(made)",
        "    }",
        "",
        "    /// Compute the outputs, whose shapes follow from the inputs'.",
        "    pub fn run(&mut self) -> Result<(), Error> {",
        f"        let inputs = [{_views(inputs, model.inputs)}];",
        *(f"        self.{name}.shape.resize({len(tensor.shape)}, 0);" for name, tensor in pairs),
        f"        let shapes: [*mut i64; {len(pairs)}] = [{shapes}];",
        f"        check(unsafe {{ {tag}_output_shapes(inputs.as_ptr(), shapes.as_ptr()) }})?;",
        *(
            f"        let shape = std::mem::take(&mut self.{name}.shape);\n"
            f"        self.{name}.resize(&shape);"
            for name, _ in pairs
        ),
        f"        let outputs = [{_views(outputs, model.outputs)}];",
        "        check(unsafe {",
        f"            {tag}_run(inputs.as_ptr(), outputs.as_ptr(), self.workspace, &CHECKED)",
        "        })",
        "    }",
        "}",
        "",
        "impl Drop for Model {",
        "    fn drop(&mut self) {",
        "        unsafe { dealloc(self.workspace, layout()) }",
        "    }",
        "}",
        "",
        "// SAFETY: the workspace belongs to the model alone.",
        "unsafe impl Send for Model {}",
        "",
        "fn layout() -> Layout {",
        f"    let size = unsafe {{ {tag}_workspace_bytes() }}.max({ALIGNMENT});",
        f'    Layout::from_size_align(size, {ALIGNMENT}).expect("a size that fits")',
        "}",
        "",
        "fn check(status: i32) -> Result<(), Error> {",
        "    if status == 0 {",
        "        return Ok(());",
        "    }",
        f"    let text = unsafe {{ CStr::from_ptr({tag}_status(status)) }};",
        "    Err(Error { status, message: text.to_string_lossy().into_owned() })",
        "}",
        "",
    ]
