// test: fuse,outline-kernels,bufferise,plan-memory

// The first buffer is dead when the third is written: they share their place.
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.matmul %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = gv.matmul %2, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4x4xf32> {gv.name = "arg0", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 128 : i64, gv.max_live = 128 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %arg0, %0 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %1 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %0, %arg0, %1 {after = array<i64: 0>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %2 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %1, %arg0, %2 {after = array<i64: 0, 1>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     gv.launch %2, %arg0, %result0 {after = array<i64: 2>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
//   func.func private @k1(%0: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %1 = gv.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %1 : tensor<4x4xf32>
//   }
// }

// -----
// Both products live until they are added.
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.matmul %y, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4x4xf32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<4x4xf32> {gv.name = "arg1", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 128 : i64, gv.max_live = 128 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %arg0, %0 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %1 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %arg1, %1 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     gv.launch %0, %1, %result0 {after = array<i64: 0, 1>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
//   func.func private @k1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %2 = gv.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %2 : tensor<4x4xf32>
//   }
// }

// -----
// The sum reads the product twice, once through a view and turned: it must not write over it.
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<16xf32>) {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.reshape %0 {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32>
  %2 = gv.cumsum %1 {axis = 0 : i64} : (tensor<16xf32>) -> tensor<16xf32>
  %3 = gv.reshape %1 {shape = array<i64: 4, 4>} : (tensor<16xf32>) -> tensor<4x4xf32>
  %4 = gv.transpose %3 {order = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = gv.add %0, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = gv.matmul %5, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %6, %2 : tensor<4x4xf32>, tensor<16xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4x4xf32> {gv.name = "arg0", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %result1: memref<16xf32> {gv.name = "result1", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 128 : i64, gv.max_live = 128 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %arg0, %0 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     gv.launch %0, %result1 {after = array<i64: 0>, inputs = 1 : i64, kernel = @k1} : (memref<4x4xf32>, memref<16xf32>) -> ()
//     %1 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %0, %1 {after = array<i64: 0>, inputs = 1 : i64, kernel = @k2} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     gv.launch %1, %arg0, %result0 {after = array<i64: 2>, inputs = 2 : i64, kernel = @k3} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
//   func.func private @k1(%0: tensor<4x4xf32>) -> tensor<16xf32> attributes {gv.kind = "scan"} {
//     %1 = gv.reshape %0 {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32>
//     %2 = gv.cumsum %1 {axis = 0 : i64} : (tensor<16xf32>) -> tensor<16xf32>
//     func.return %2 : tensor<16xf32>
//   }
//   func.func private @k2(%0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "map"} {
//     %1 = gv.reshape %0 {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32>
//     %2 = gv.reshape %1 {shape = array<i64: 4, 4>} : (tensor<16xf32>) -> tensor<4x4xf32>
//     %3 = gv.transpose %2 {order = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
//     %4 = gv.add %0, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %4 : tensor<4x4xf32>
//   }
//   func.func private @k3(%0: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %1 = gv.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %1 : tensor<4x4xf32>
//   }
// }

// -----
// The counter is changed in place; the product must not be written over what it reads.
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
//   func.func @main(%arg0: memref<i32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<4x4xf32> {gv.name = "arg1", gv.role = "input"}, %arg2: memref<4x4xf32> {gv.name = "arg2", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 128 : i64, gv.max_live = 128 : i64} {
//     %i = gv.buffer %workspace {dtype = #gv.dtype<i32>, offset = 0 : i64, shape = array<i64>} : (memref<?xi8>) -> memref<i32>
//     gv.launch %arg0, %i {inputs = 1 : i64, kernel = @copy0} : (memref<i32>, memref<i32>) -> ()
//     gv.launch %arg1, %result0 {inputs = 1 : i64, kernel = @copy1} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<bool>, offset = 64 : i64, shape = array<i64>} : (memref<?xi8>) -> memref<i1>
//     gv.loop %0 ({
//       gv.launch %i, %0 {inputs = 1 : i64, kernel = @k0} : (memref<i32>, memref<i1>) -> ()
//       gv.yield : () -> ()
//     }, {
//       %1 = gv.buffer %workspace {dtype = #gv.dtype<i32>, offset = 0 : i64, shape = array<i64>} : (memref<?xi8>) -> memref<i32>
//       gv.launch %i, %1 {inputs = 1 : i64, kernel = @k1} : (memref<i32>, memref<i32>) -> ()
//       %2 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//       gv.launch %result0, %arg2, %2 {inputs = 2 : i64, kernel = @k2} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//       gv.launch %2, %result0 {after = array<i64: 4>, inputs = 1 : i64, kernel = @copy1} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
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
// Rows are written where they belong in what the loop carries: nothing is copied in a trip.
func.func @main(%x: tensor<4xf32>, %s: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
  %i, %r = gv.while %0, %s, %x ({
  ^bb0(%a: tensor<i64>, %b: tensor<8x4xf32>, %c: tensor<4xf32>):
    %1 = gv.constant {value = #gv.array<i64, "", [8]>} : () -> tensor<i64>
    %2 = gv.less %a, %1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    gv.yield %2 : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<i64>, %b: tensor<8x4xf32>, %c: tensor<4xf32>):
    %1 = gv.reshape %a {shape = array<i64: 1, 1>} : (tensor<i64>) -> tensor<1x1xi64>
    %2 = gv.reshape %c {shape = array<i64: 1, 4>} : (tensor<4xf32>) -> tensor<1x4xf32>
    %3 = gv.scatter_nd %b, %1, %2 {reduction = "none"} : (tensor<8x4xf32>, tensor<1x1xi64>, tensor<1x4xf32>) -> tensor<8x4xf32>
    %4 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
    %5 = gv.add %a, %4 : (tensor<i64>, tensor<i64>) -> tensor<i64>
    gv.yield %5, %3 : (tensor<i64>, tensor<8x4xf32>) -> ()
  }) {carried = 2 : i64} : (tensor<i64>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<i64>, tensor<8x4xf32>)
  func.return %r : tensor<8x4xf32>
}

// count: gv.launch 5

// -----
// A result that lies over an argument is written there by the kernel that reads it last.
func.func @main(%w: tensor<64xf32>, %x: tensor<64xf32>) -> (tensor<f32>, tensor<64xf32> {gv.over = 0 : i64}) {
  %0 = gv.mul %w, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = gv.sum %0 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %2 = gv.sub %w, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return %1, %2 : tensor<f32>, tensor<64xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<64xf32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<64xf32> {gv.name = "arg1", gv.role = "input"}, %result0: memref<f32> {gv.name = "result0", gv.role = "output"}, %result1: memref<64xf32> {gv.name = "result1", gv.role = "output", gv.over = 0 : i64}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 0 : i64, gv.max_live = 0 : i64} {
//     gv.launch %arg0, %arg1, %result0 {inputs = 2 : i64, kernel = @k0} : (memref<64xf32>, memref<64xf32>, memref<f32>) -> ()
//     gv.launch %arg0, %arg1, %result1 {inputs = 2 : i64, kernel = @k1} : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%w: tensor<64xf32>, %x: tensor<64xf32>) -> tensor<f32> attributes {gv.kind = "row"} {
//     %0 = gv.mul %w, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
//     %1 = gv.sum %0 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
//     func.return %1 : tensor<f32>
//   }
//   func.func private @k1(%w: tensor<64xf32>, %x: tensor<64xf32>) -> tensor<64xf32> attributes {gv.kind = "map"} {
//     %0 = gv.sub %w, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
//     func.return %0 : tensor<64xf32>
//   }
// }

// -----
// What the argument was is read behind: two arguments that change places take a copy of one.
func.func @main(%v: tensor<64xf32>, %w: tensor<64xf32>) -> (tensor<64xf32> {gv.over = 0 : i64}, tensor<64xf32> {gv.over = 1 : i64}) {
  %0 = gv.exp %w : (tensor<64xf32>) -> tensor<64xf32>
  %1 = gv.neg %v : (tensor<64xf32>) -> tensor<64xf32>
  func.return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<64xf32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<64xf32> {gv.name = "arg1", gv.role = "input"}, %result0: memref<64xf32> {gv.name = "result0", gv.role = "output", gv.over = 0 : i64}, %result1: memref<64xf32> {gv.name = "result1", gv.role = "output", gv.over = 1 : i64}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 256 : i64, gv.max_live = 256 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 64>} : (memref<?xi8>) -> memref<64xf32>
//     gv.launch %arg1, %0 {inputs = 1 : i64, kernel = @k0} : (memref<64xf32>, memref<64xf32>) -> ()
//     gv.launch %arg0, %result1 {inputs = 1 : i64, kernel = @k1} : (memref<64xf32>, memref<64xf32>) -> ()
//     gv.launch %0, %result0 {after = array<i64: 0>, inputs = 1 : i64, kernel = @copy0} : (memref<64xf32>, memref<64xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%w: tensor<64xf32>) -> tensor<64xf32> attributes {gv.kind = "map"} {
//     %0 = gv.exp %w : (tensor<64xf32>) -> tensor<64xf32>
//     func.return %0 : tensor<64xf32>
//   }
//   func.func private @k1(%v: tensor<64xf32>) -> tensor<64xf32> attributes {gv.kind = "map"} {
//     %0 = gv.neg %v : (tensor<64xf32>) -> tensor<64xf32>
//     func.return %0 : tensor<64xf32>
//   }
//   func.func private @copy0(%0: tensor<64xf32>) -> tensor<64xf32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<64xf32>
//   }
// }

// -----
// Arguments that are given back elsewhere, or as they are, are copied: outputs may lie apart.
func.func @main(%v: tensor<64xf32>, %w: tensor<64xf32>, %u: tensor<4xf32>) -> (tensor<64xf32> {gv.over = 0 : i64}, tensor<64xf32> {gv.over = 1 : i64}, tensor<4xf32> {gv.over = 2 : i64}) {
  func.return %w, %v, %u : tensor<64xf32>, tensor<64xf32>, tensor<4xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<64xf32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<64xf32> {gv.name = "arg1", gv.role = "input"}, %arg2: memref<4xf32> {gv.name = "arg2", gv.role = "input"}, %result0: memref<64xf32> {gv.name = "result0", gv.role = "output", gv.over = 0 : i64}, %result1: memref<64xf32> {gv.name = "result1", gv.role = "output", gv.over = 1 : i64}, %result2: memref<4xf32> {gv.name = "result2", gv.role = "output", gv.over = 2 : i64}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 256 : i64, gv.max_live = 256 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 64>} : (memref<?xi8>) -> memref<64xf32>
//     gv.launch %arg1, %0 {inputs = 1 : i64, kernel = @copy0} : (memref<64xf32>, memref<64xf32>) -> ()
//     gv.launch %arg0, %result1 {inputs = 1 : i64, kernel = @copy0} : (memref<64xf32>, memref<64xf32>) -> ()
//     gv.launch %arg2, %result2 {inputs = 1 : i64, kernel = @copy1} : (memref<4xf32>, memref<4xf32>) -> ()
//     gv.launch %0, %result0 {after = array<i64: 0>, inputs = 1 : i64, kernel = @copy0} : (memref<64xf32>, memref<64xf32>) -> ()
//     func.return
//   }
//   func.func private @copy0(%0: tensor<64xf32>) -> tensor<64xf32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<64xf32>
//   }
//   func.func private @copy1(%0: tensor<4xf32>) -> tensor<4xf32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<4xf32>
//   }
// }

// -----
// What is added to a product just before it is stored may lie where it is stored.
func.func @main(%x: tensor<4x4xf32>, %p: tensor<1x4x16xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul_packed %x, %p {columns = 4 : i64} : (tensor<4x4xf32>, tensor<1x4x16xf32>) -> tensor<4x4xf32>
  %1 = gv.matmul_packed %0, %p {columns = 4 : i64} : (tensor<4x4xf32>, tensor<1x4x16xf32>) -> tensor<4x4xf32>
  %2 = gv.matmul_packed %1, %p {columns = 4 : i64} : (tensor<4x4xf32>, tensor<1x4x16xf32>) -> tensor<4x4xf32>
  %3 = gv.add %2, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = gv.relu %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = gv.matmul_packed %4, %p {columns = 4 : i64} : (tensor<4x4xf32>, tensor<1x4x16xf32>) -> tensor<4x4xf32>
  func.return %5 : tensor<4x4xf32>
}

// ->
// builtin.module attributes {gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4x4xf32> {gv.name = "arg0", gv.role = "input"}, %arg1: memref<1x4x16xf32> {gv.name = "arg1", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 128 : i64, gv.max_live = 128 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %arg0, %arg1, %0 {inputs = 2 : i64, kernel = @k0} : (memref<4x4xf32>, memref<1x4x16xf32>, memref<4x4xf32>) -> ()
//     %1 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %0, %arg1, %1 {after = array<i64: 0>, inputs = 2 : i64, kernel = @k0} : (memref<4x4xf32>, memref<1x4x16xf32>, memref<4x4xf32>) -> ()
//     %2 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %1, %arg1, %0, %2 {after = array<i64: 0, 1>, inputs = 3 : i64, kernel = @k1} : (memref<4x4xf32>, memref<1x4x16xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     gv.launch %2, %arg1, %result0 {after = array<i64: 2>, inputs = 2 : i64, kernel = @k0} : (memref<4x4xf32>, memref<1x4x16xf32>, memref<4x4xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<4x4xf32>, %p: tensor<1x4x16xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul_packed %x, %p {columns = 4 : i64} : (tensor<4x4xf32>, tensor<1x4x16xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
//   func.func private @k1(%0: tensor<4x4xf32>, %p: tensor<1x4x16xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %2 = gv.matmul_packed %0, %p {columns = 4 : i64} : (tensor<4x4xf32>, tensor<1x4x16xf32>) -> tensor<4x4xf32>
//     %3 = gv.add %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     %4 = gv.relu %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %4 : tensor<4x4xf32>
//   }
// }
