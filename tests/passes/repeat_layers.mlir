// test: cut-layers{least=8 kept=8},canonicalize,pack-weights,hoist-prepare,dce,fuse,outline-kernels,schedule-memory,bufferise,plan-memory,repeat-layers

// Two trips in one: what one writes is read by the next at another place.
// count: gv.repeat 2
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w0} : () -> tensor<4x4xf32>
  %m0 = gv.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t0 = gv.tanh %m0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
  %m1 = gv.matmul %t0, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t1 = gv.tanh %m1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w2} : () -> tensor<4x4xf32>
  %m2 = gv.matmul %t1, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t2 = gv.tanh %m2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w3} : () -> tensor<4x4xf32>
  %m3 = gv.matmul %t2, %w3 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t3 = gv.tanh %m3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w4} : () -> tensor<4x4xf32>
  %m4 = gv.matmul %t3, %w4 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t4 = gv.tanh %m4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w5} : () -> tensor<4x4xf32>
  %m5 = gv.matmul %t4, %w5 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t5 = gv.tanh %m5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w6} : () -> tensor<4x4xf32>
  %m6 = gv.matmul %t5, %w6 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t6 = gv.tanh %m6 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w7} : () -> tensor<4x4xf32>
  %m7 = gv.matmul %t6, %w7 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t7 = gv.tanh %m7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w8 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w8} : () -> tensor<4x4xf32>
  %m8 = gv.matmul %t7, %w8 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t8 = gv.tanh %m8 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w9 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w9} : () -> tensor<4x4xf32>
  %m9 = gv.matmul %t8, %w9 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t9 = gv.tanh %m9 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w10 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w10} : () -> tensor<4x4xf32>
  %m10 = gv.matmul %t9, %w10 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t10 = gv.tanh %m10 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w11 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w11} : () -> tensor<4x4xf32>
  %m11 = gv.matmul %t10, %w11 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t11 = gv.tanh %m11 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w12 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w12} : () -> tensor<4x4xf32>
  %m12 = gv.matmul %t11, %w12 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t12 = gv.tanh %m12 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w13 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w13} : () -> tensor<4x4xf32>
  %m13 = gv.matmul %t12, %w13 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t13 = gv.tanh %m13 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %t13 : tensor<2x4xf32>
}

// -----
// Each trip adds what goes in, and multiplies by what is there before the chain.
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %mask = gv.neg %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %w0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w0} : () -> tensor<4x4xf32>
    %m0 = gv.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a0 = gv.add %m0, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t0 = gv.mul %a0, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
    %m1 = gv.matmul %t0, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a1 = gv.add %m1, %t0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t1 = gv.mul %a1, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w2} : () -> tensor<4x4xf32>
    %m2 = gv.matmul %t1, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a2 = gv.add %m2, %t1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t2 = gv.mul %a2, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w3} : () -> tensor<4x4xf32>
    %m3 = gv.matmul %t2, %w3 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a3 = gv.add %m3, %t2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t3 = gv.mul %a3, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w4} : () -> tensor<4x4xf32>
    %m4 = gv.matmul %t3, %w4 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a4 = gv.add %m4, %t3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t4 = gv.mul %a4, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w5} : () -> tensor<4x4xf32>
    %m5 = gv.matmul %t4, %w5 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a5 = gv.add %m5, %t4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t5 = gv.mul %a5, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w6} : () -> tensor<4x4xf32>
    %m6 = gv.matmul %t5, %w6 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a6 = gv.add %m6, %t5 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t6 = gv.mul %a6, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w7} : () -> tensor<4x4xf32>
    %m7 = gv.matmul %t6, %w7 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a7 = gv.add %m7, %t6 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t7 = gv.mul %a7, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w8 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w8} : () -> tensor<4x4xf32>
    %m8 = gv.matmul %t7, %w8 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a8 = gv.add %m8, %t7 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t8 = gv.mul %a8, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w9 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w9} : () -> tensor<4x4xf32>
    %m9 = gv.matmul %t8, %w9 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a9 = gv.add %m9, %t8 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t9 = gv.mul %a9, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w10 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w10} : () -> tensor<4x4xf32>
    %m10 = gv.matmul %t9, %w10 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a10 = gv.add %m10, %t9 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t10 = gv.mul %a10, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w11 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w11} : () -> tensor<4x4xf32>
    %m11 = gv.matmul %t10, %w11 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a11 = gv.add %m11, %t10 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t11 = gv.mul %a11, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %w12 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w12} : () -> tensor<4x4xf32>
    %m12 = gv.matmul %t11, %w12 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %a12 = gv.add %m12, %t11 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t12 = gv.mul %a12, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    func.return %t12 : tensor<2x4xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v3", gv.level = "planned", gv.weights = [["prepared.0", 0 : i64, 128 : i64], ["[\22prepared.1\22, \22prepared.3\22, \22prepared.5\22, \22prepared.layers.0.0\22, \22prepared.layers.0.1\22]", 128 : i64, 128 : i64, 256 : i64], ["[\22prepared.2\22, \22prepared.4\22, \22prepared.6\22, \22prepared.layers.1.0\22, \22prepared.layers.1.1\22]", 256 : i64, 128 : i64, 256 : i64], ["prepared.7", 1408 : i64, 128 : i64], ["prepared.8", 1536 : i64, 128 : i64]]} {
//   func.func @main(%arg0: memref<2x4xf32> {gv.name = "arg0", gv.role = "input"}, %result0: memref<2x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 192 : i64, gv.max_live = 192 : i64} {
//     %mask = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 2, 4>} : (memref<?xi8>) -> memref<2x4xf32>
//     gv.launch %arg0, %mask {inputs = 1 : i64, kernel = @k0} : (memref<2x4xf32>, memref<2x4xf32>) -> ()
//     %0 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//     %t0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 2, 4>} : (memref<?xi8>) -> memref<2x4xf32>
//     gv.launch %arg0, %0, %mask, %t0 {inputs = 3 : i64, kernel = @k1} : (memref<2x4xf32>, memref<1x4x8xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
//     %t1 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 128 : i64, shape = array<i64: 2, 4>} : (memref<?xi8>) -> memref<2x4xf32>
//     gv.repeat ({
//       %1 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = #gv.dim<"256*_layer + 128">, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//       gv.launch %t0, %1, %mask, %t1 {inputs = 3 : i64, kernel = @k1} : (memref<2x4xf32>, memref<1x4x8xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
//       %2 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = #gv.dim<"256*_layer + 256">, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//       gv.launch %t1, %2, %mask, %t0 {inputs = 3 : i64, kernel = @k1} : (memref<2x4xf32>, memref<1x4x8xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
//       gv.yield : () -> ()
//     }) {index = "_layer", trips = 5 : i64} : () -> ()
//     %3 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 1408 : i64, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//     %t11 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 128 : i64, shape = array<i64: 2, 4>} : (memref<?xi8>) -> memref<2x4xf32>
//     gv.launch %t0, %3, %mask, %t11 {inputs = 3 : i64, kernel = @k1} : (memref<2x4xf32>, memref<1x4x8xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
//     %4 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 1536 : i64, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//     gv.launch %t11, %4, %mask, %result0 {inputs = 3 : i64, kernel = @k2} : (memref<2x4xf32>, memref<1x4x8xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
//     func.return
//   }
//   func.func @prepare(%0: memref<4x4xf32> {gv.name = "w0", gv.role = "raw", gv.followers = "[\22w0\22, \22w1\22, \22w2\22, \22w3\22, \22w4\22, \22w5\22, \22w6\22, \22w7\22, \22w8\22, \22w9\22, \22w10\22, \22w11\22, \22w12\22]"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}) attributes {gv.workspace = 0 : i64, gv.max_live = 0 : i64} {
//     %w12 = gv.following %0 {by = 12 : i64} : (memref<4x4xf32>) -> memref<4x4xf32>
//     %w11 = gv.following %0 {by = 11 : i64} : (memref<4x4xf32>) -> memref<4x4xf32>
//     %w0 = gv.following %0 {by = 0 : i64} : (memref<4x4xf32>) -> memref<4x4xf32>
//     %1 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 1536 : i64, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//     %2 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 1408 : i64, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//     %3 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//     gv.launch %w0, %3 {inputs = 1 : i64, kernel = @k3} : (memref<4x4xf32>, memref<1x4x8xf32>) -> ()
//     gv.repeat ({
//       %4 = gv.following %0 {by = #gv.dim<"2*_layer + 1">} : (memref<4x4xf32>) -> memref<4x4xf32>
//       %5 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = #gv.dim<"256*_layer + 128">, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//       gv.launch %4, %5 {inputs = 1 : i64, kernel = @k3} : (memref<4x4xf32>, memref<1x4x8xf32>) -> ()
//       %6 = gv.following %0 {by = #gv.dim<"2*_layer + 2">} : (memref<4x4xf32>) -> memref<4x4xf32>
//       %7 = gv.buffer %weights {dtype = #gv.dtype<f32>, offset = #gv.dim<"256*_layer + 256">, shape = array<i64: 1, 4, 8>} : (memref<?xi8>) -> memref<1x4x8xf32>
//       gv.launch %6, %7 {inputs = 1 : i64, kernel = @k3} : (memref<4x4xf32>, memref<1x4x8xf32>) -> ()
//       gv.yield : () -> ()
//     }) {index = "_layer", trips = 5 : i64} : () -> ()
//     gv.launch %w11, %2 {inputs = 1 : i64, kernel = @k3} : (memref<4x4xf32>, memref<1x4x8xf32>) -> ()
//     gv.launch %w12, %1 {inputs = 1 : i64, kernel = @k3} : (memref<4x4xf32>, memref<1x4x8xf32>) -> ()
//     func.return
//   }
//   func.func private @k0(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gv.kind = "map"} {
//     %mask = gv.neg %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
//     func.return %mask : tensor<2x4xf32>
//   }
//   func.func private @k1(%x: tensor<2x4xf32>, %0: tensor<1x4x8xf32>, %mask: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gv.behind = 128 : i64, gv.kind = "gemm"} {
//     %m0 = gv.matmul_packed %x, %0 {columns = 4 : i64} : (tensor<2x4xf32>, tensor<1x4x8xf32>) -> tensor<2x4xf32>
//     %a0 = gv.add %m0, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %t0 = gv.mul %a0, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     func.return %t0 : tensor<2x4xf32>
//   }
//   func.func private @k2(%t11: tensor<2x4xf32>, %0: tensor<1x4x8xf32>, %mask: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gv.kind = "gemm"} {
//     %m12 = gv.matmul_packed %t11, %0 {columns = 4 : i64} : (tensor<2x4xf32>, tensor<1x4x8xf32>) -> tensor<2x4xf32>
//     %a12 = gv.add %m12, %t11 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %t12 = gv.mul %a12, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     func.return %t12 : tensor<2x4xf32>
//   }
//   func.func private @k3(%w0: tensor<4x4xf32>) -> tensor<1x4x8xf32> attributes {gv.kind = "map"} {
//     %0 = gv.pad %w0 {pads = [array<i64: 0, 0>, array<i64: 0, 4>]} : (tensor<4x4xf32>) -> tensor<4x8xf32>
//     %1 = gv.reshape %0 {shape = array<i64: 4, 1, 8>} : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
//     %2 = gv.transpose %1 {order = array<i64: 1, 0, 2>} : (tensor<4x1x8xf32>) -> tensor<1x4x8xf32>
//     func.return %2 : tensor<1x4x8xf32>
//   }
// }
