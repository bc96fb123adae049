// test: fuse,outline-kernels,bufferise

// The last result is written into the output, the others into the workspace.
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4x4xf32> {gv.name = "arg0", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 64 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %arg0, %0 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     gv.launch %0, %result0 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
// }

// -----
// Weights and constants lie in one blob, each from a cache line of its own.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
  %1 = gv.constant {value = #gv.array<f32, "3", [1.0, 2.0, 3.0]>} : () -> tensor<3xf32>
  %2 = gv.mul %x, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = gv.add %2, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %3 : tensor<3xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = [["w", 0 : i64, 12 : i64], ["constant.0", 64 : i64, 12 : i64]]} {
//   func.func @main(%arg0: memref<3xf32> {gv.name = "arg0", gv.role = "input"}, %result0: memref<3xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 0 : i64} {
//     %0 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 3>} : (memref<?xi8>) -> memref<3xf32>
//     %1 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 3>} : (memref<?xi8>) -> memref<3xf32>
//     gv.launch %arg0, %0, %1, %result0 {inputs = 3 : i64, kernel = @k0} : (memref<3xf32>, memref<3xf32>, memref<3xf32>, memref<3xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<3xf32>, %0: tensor<3xf32>, %1: tensor<3xf32>) -> tensor<3xf32> attributes {gv.kind = "map"} {
//     %2 = gv.mul %x, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
//     %3 = gv.add %2, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
//     func.return %3 : tensor<3xf32>
//   }
// }

// -----
// A buffer is as large as its symbols can make it.
builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>}} {
  func.func @main(%x: tensor<?x4xf32, #gv.dims<"N, 4">>, %y: tensor<4x4xf32>) -> tensor<?x4xf32, #gv.dims<"N, 4">> {
    %0 = gv.matmul %x, %y : (tensor<?x4xf32, #gv.dims<"N, 4">>, tensor<4x4xf32>) -> tensor<?x4xf32, #gv.dims<"N, 4">>
    %1 = gv.matmul %0, %y : (tensor<?x4xf32, #gv.dims<"N, 4">>, tensor<4x4xf32>) -> tensor<?x4xf32, #gv.dims<"N, 4">>
    %2 = gv.matmul %1, %y : (tensor<?x4xf32, #gv.dims<"N, 4">>, tensor<4x4xf32>) -> tensor<?x4xf32, #gv.dims<"N, 4">>
    func.return %2 : tensor<?x4xf32, #gv.dims<"N, 4">>
  }
}

// ->
// builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>}, gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<?x4xf32, #gv.dims<"N, 4">> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<4x4xf32> {gv.name = "arg1", gv.role = "input"}, %result0: memref<?x4xf32, #gv.dims<"N, 4">> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 256 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = #gv.dims<"N, 4">} : (memref<?xi8>) -> memref<?x4xf32, #gv.dims<"N, 4">>
//     gv.launch %arg0, %arg1, %0 {dims = #gv.dims<"N">, inputs = 2 : i64, kernel = @k0} : (memref<?x4xf32, #gv.dims<"N, 4">>, memref<4x4xf32>, memref<?x4xf32, #gv.dims<"N, 4">>) -> ()
//     %1 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 128 : i64, shape = #gv.dims<"N, 4">} : (memref<?xi8>) -> memref<?x4xf32, #gv.dims<"N, 4">>
//     gv.launch %0, %arg1, %1 {dims = #gv.dims<"N">, inputs = 2 : i64, kernel = @k0} : (memref<?x4xf32, #gv.dims<"N, 4">>, memref<4x4xf32>, memref<?x4xf32, #gv.dims<"N, 4">>) -> ()
//     gv.launch %1, %arg1, %result0 {dims = #gv.dims<"N">, inputs = 2 : i64, kernel = @k0} : (memref<?x4xf32, #gv.dims<"N, 4">>, memref<4x4xf32>, memref<?x4xf32, #gv.dims<"N, 4">>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<?x4xf32, #gv.dims<"N, 4">>, %y: tensor<4x4xf32>) -> tensor<?x4xf32, #gv.dims<"N, 4">> attributes {gv.kind = "gemm", gv.symbols = ["N"]} {
//     %0 = gv.matmul %x, %y : (tensor<?x4xf32, #gv.dims<"N, 4">>, tensor<4x4xf32>) -> tensor<?x4xf32, #gv.dims<"N, 4">>
//     func.return %0 : tensor<?x4xf32, #gv.dims<"N, 4">>
//   }
// }

// -----
// A result behind two reshapes is written into the output, too.
func.func @main(%x: tensor<4x4xf32>) -> tensor<16xf32> {
  %0 = gv.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.reshape %0 {shape = array<i64: 2, 8>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %2 = gv.reshape %1 {shape = array<i64: 16>} : (tensor<2x8xf32>) -> tensor<16xf32>
  func.return %2 : tensor<16xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4x4xf32> {gv.name = "arg0", gv.role = "input"}, %result0: memref<16xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 0 : i64} {
//     %0 = gv.view %result0 {shape = array<i64: 4, 4>} : (memref<16xf32>) -> memref<4x4xf32>
//     gv.launch %arg0, %0 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %1 = gv.view %0 {shape = array<i64: 2, 8>} : (memref<4x4xf32>) -> memref<2x8xf32>
//     %2 = gv.view %1 {shape = array<i64: 16>} : (memref<2x8xf32>) -> memref<16xf32>
//     func.return
//   }
//   func.func private @k0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "map"} {
//     %0 = gv.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
// }

// -----
// A choice writes the output in both regions; what is only given is copied.
func.func @main(%p: tensor<i1>, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = gv.if %p, %x, %w ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
    %0 = gv.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    gv.yield %0 : (tensor<4x4xf32>) -> ()
  }, {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
    gv.yield %b : (tensor<4x4xf32>) -> ()
  }) : (tensor<i1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<i1> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<4x4xf32> {gv.name = "arg1", gv.role = "input"}, %arg2: memref<4x4xf32> {gv.name = "arg2", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 0 : i64} {
//     gv.choose %arg0 ({
//       gv.launch %arg1, %arg2, %result0 {inputs = 2 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//       gv.yield : () -> ()
//     }, {
//       gv.launch %arg2, %result0 {inputs = 1 : i64, kernel = @copy0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//       gv.yield : () -> ()
//     }) : (memref<i1>) -> ()
//     func.return
//   }
//   func.func private @k0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
//   func.func private @copy0(%0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<4x4xf32>
//   }
// }

// -----
// What a loop carries has buffers of its own.
func.func @main(%n: tensor<i32>, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %i, %r = gv.while %n, %x, %w ({
  ^bb0(%a: tensor<i32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %0 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
    %1 = gv.greater %a, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    gv.yield %1 : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %0 = gv.constant {value = #gv.array<i32, "", [1]>} : () -> tensor<i32>
    %1 = gv.sub %a, %0 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = gv.matmul %b, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    gv.yield %1, %2 : (tensor<i32>, tensor<4x4xf32>) -> ()
  }) {carried = 2 : i64} : (tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>)
  func.return %r : tensor<4x4xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<i32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<4x4xf32> {gv.name = "arg1", gv.role = "input"}, %arg2: memref<4x4xf32> {gv.name = "arg2", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 256 : i64} {
//     %i = gv.buffer %workspace {dtype = #gv.dtype<i32>, offset = 0 : i64, shape = array<i64>} : (memref<?xi8>) -> memref<i32>
//     gv.launch %arg0, %i {inputs = 1 : i64, kernel = @copy0} : (memref<i32>, memref<i32>) -> ()
//     gv.launch %arg1, %result0 {inputs = 1 : i64, kernel = @copy1} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<bool>, offset = 64 : i64, shape = array<i64>} : (memref<?xi8>) -> memref<i1>
//     gv.loop %0 ({
//       gv.launch %i, %0 {inputs = 1 : i64, kernel = @k0} : (memref<i32>, memref<i1>) -> ()
//       gv.yield : () -> ()
//     }, {
//       %1 = gv.buffer %workspace {dtype = #gv.dtype<i32>, offset = 128 : i64, shape = array<i64>} : (memref<?xi8>) -> memref<i32>
//       gv.launch %i, %1 {inputs = 1 : i64, kernel = @k1} : (memref<i32>, memref<i32>) -> ()
//       %2 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 192 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//       gv.launch %result0, %arg2, %2 {inputs = 2 : i64, kernel = @k2} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//       gv.launch %1, %i {inputs = 1 : i64, kernel = @copy0} : (memref<i32>, memref<i32>) -> ()
//       gv.launch %2, %result0 {inputs = 1 : i64, kernel = @copy1} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//       gv.yield : () -> ()
//     }) : (memref<i1>) -> ()
//     func.return
//   }
//   func.func private @k0(%a: tensor<i32>) -> tensor<i1> attributes {gv.kind = "map"} {
//     %0 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
//     %1 = gv.greater %a, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
//     func.return %1 : tensor<i1>
//   }
//   func.func private @k1(%a: tensor<i32>) -> tensor<i32> attributes {gv.kind = "map"} {
//     %0 = gv.constant {value = #gv.array<i32, "", [1]>} : () -> tensor<i32>
//     %1 = gv.sub %a, %0 : (tensor<i32>, tensor<i32>) -> tensor<i32>
//     func.return %1 : tensor<i32>
//   }
//   func.func private @k2(%b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %b, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
//   func.func private @copy0(%0: tensor<i32>) -> tensor<i32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<i32>
//   }
//   func.func private @copy1(%0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<4x4xf32>
//   }
// }

// -----
// A size is read from memory where it is told; the slices are the first part of a buffer.
builtin.module attributes {gv.ranges = {u = array<i64: 0, 4>}} {
  func.func @main(%x: tensor<4xf32>, %k: tensor<i64>) -> tensor<4xf32> {
    %0 = gv.told %x, %k {sizes = #gv.dims<"u">} : (tensor<4xf32>, tensor<i64>) -> tensor<?xf32, #gv.dims<"u">>
    %1 = gv.pad %0 {pads = [#gv.dims<"0, -u + 4">], value = 7.0 : f64} : (tensor<?xf32, #gv.dims<"u">>) -> tensor<4xf32>
    func.return %1 : tensor<4xf32>
  }
}

// ->
// builtin.module attributes {gv.ranges = {u = array<i64: 0, 4>}, gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4xf32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<i64> {gv.name = "arg1", gv.role = "input"}, %result0: memref<4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 0 : i64} {
//     gv.tell %arg1 {most = 4 : i64, size = #gv.dim<"u">} : (memref<i64>) -> ()
//     %0 = gv.prefix %arg0 {shape = #gv.dims<"u">} : (memref<4xf32>) -> memref<?xf32, #gv.dims<"u">>
//     gv.launch %0, %result0 {dims = #gv.dims<"u">, inputs = 1 : i64, kernel = @k0} : (memref<?xf32, #gv.dims<"u">>, memref<4xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%0: tensor<?xf32, #gv.dims<"u">>) -> tensor<4xf32> attributes {gv.kind = "map", gv.symbols = ["u"]} {
//     %1 = gv.pad %0 {pads = [#gv.dims<"0, -u + 4">], value = 7.000000e+00 : f64} : (tensor<?xf32, #gv.dims<"u">>) -> tensor<4xf32>
//     func.return %1 : tensor<4xf32>
//   }
// }
