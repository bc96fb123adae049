// test: cut-layers{least=6 kept=4}

// differs: what is missing is put back by repeat-layers
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
  func.return %t7 : tensor<2x4xf32>
}

// ->
// builtin.module attributes {gv.layers = "{\22first\22: 2, \22missing\22: 4, \22weights\22: [[\22w0\22, \22w1\22, \22w2\22, \22w3\22, \22w4\22, \22w5\22, \22w6\22, \22w7\22]], \22sources\22: []}"} {
//   func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
//     %w0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w0} : () -> tensor<4x4xf32>
//     %m0 = gv.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %t0 = gv.tanh %m0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
//     %m1 = gv.matmul %t0, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %t1 = gv.tanh %m1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w6} : () -> tensor<4x4xf32>
//     %m6 = gv.matmul %t1, %w6 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %t6 = gv.tanh %m6 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w7} : () -> tensor<4x4xf32>
//     %m7 = gv.matmul %t6, %w7 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %t7 = gv.tanh %m7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//     func.return %t7 : tensor<2x4xf32>
//   }
// }

// -----
// differs: what is missing is put back by repeat-layers
// What each layer uses of before the chain, and of the layer before.
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
  func.return %t6 : tensor<2x4xf32>
}

// ->
// builtin.module attributes {gv.layers = "{\22first\22: 2, \22missing\22: 2, \22weights\22: [[\22w0\22, \22w1\22, \22w2\22, \22w3\22, \22w4\22, \22w5\22, \22w6\22]], \22sources\22: []}"} {
//   func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
//     %mask = gv.neg %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w0} : () -> tensor<4x4xf32>
//     %m0 = gv.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %a0 = gv.add %m0, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %t0 = gv.mul %a0, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
//     %m1 = gv.matmul %t0, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %a1 = gv.add %m1, %t0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %t1 = gv.mul %a1, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w4} : () -> tensor<4x4xf32>
//     %m4 = gv.matmul %t1, %w4 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %a4 = gv.add %m4, %t1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %t4 = gv.mul %a4, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w5} : () -> tensor<4x4xf32>
//     %m5 = gv.matmul %t4, %w5 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %a5 = gv.add %m5, %t4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %t5 = gv.mul %a5, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %w6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w6} : () -> tensor<4x4xf32>
//     %m6 = gv.matmul %t5, %w6 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     %a6 = gv.add %m6, %t5 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     %t6 = gv.mul %a6, %mask : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//     func.return %t6 : tensor<2x4xf32>
//   }
// }

// -----
// A chain that is too short.
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
  func.return %t4 : tensor<2x4xf32>
}

// ->
// func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
//   %w0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w0} : () -> tensor<4x4xf32>
//   %m0 = gv.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t0 = gv.tanh %m0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
//   %m1 = gv.matmul %t0, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t1 = gv.tanh %m1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w2} : () -> tensor<4x4xf32>
//   %m2 = gv.matmul %t1, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t2 = gv.tanh %m2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w3} : () -> tensor<4x4xf32>
//   %m3 = gv.matmul %t2, %w3 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t3 = gv.tanh %m3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w4} : () -> tensor<4x4xf32>
//   %m4 = gv.matmul %t3, %w4 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t4 = gv.tanh %m4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   func.return %t4 : tensor<2x4xf32>
// }

// -----
// The result of an early layer is used behind the last one.
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
  %s = gv.add %t7, %t1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %s : tensor<2x4xf32>
}

// ->
// func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
//   %w0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w0} : () -> tensor<4x4xf32>
//   %m0 = gv.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t0 = gv.tanh %m0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
//   %m1 = gv.matmul %t0, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t1 = gv.tanh %m1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w2} : () -> tensor<4x4xf32>
//   %m2 = gv.matmul %t1, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t2 = gv.tanh %m2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w3} : () -> tensor<4x4xf32>
//   %m3 = gv.matmul %t2, %w3 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t3 = gv.tanh %m3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w4} : () -> tensor<4x4xf32>
//   %m4 = gv.matmul %t3, %w4 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t4 = gv.tanh %m4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w5} : () -> tensor<4x4xf32>
//   %m5 = gv.matmul %t4, %w5 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t5 = gv.tanh %m5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w6} : () -> tensor<4x4xf32>
//   %m6 = gv.matmul %t5, %w6 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t6 = gv.tanh %m6 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w7} : () -> tensor<4x4xf32>
//   %m7 = gv.matmul %t6, %w7 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t7 = gv.tanh %m7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %s = gv.add %t7, %t1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//   func.return %s : tensor<2x4xf32>
// }

// -----
// Two layers share a weight.
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
  %w7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
  %m7 = gv.matmul %t6, %w7 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t7 = gv.tanh %m7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %t7 : tensor<2x4xf32>
}

// ->
// func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
//   %w0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w0} : () -> tensor<4x4xf32>
//   %m0 = gv.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t0 = gv.tanh %m0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
//   %m1 = gv.matmul %t0, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t1 = gv.tanh %m1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w2} : () -> tensor<4x4xf32>
//   %m2 = gv.matmul %t1, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t2 = gv.tanh %m2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w3} : () -> tensor<4x4xf32>
//   %m3 = gv.matmul %t2, %w3 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t3 = gv.tanh %m3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w4} : () -> tensor<4x4xf32>
//   %m4 = gv.matmul %t3, %w4 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t4 = gv.tanh %m4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w5} : () -> tensor<4x4xf32>
//   %m5 = gv.matmul %t4, %w5 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t5 = gv.tanh %m5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w6} : () -> tensor<4x4xf32>
//   %m6 = gv.matmul %t5, %w6 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t6 = gv.tanh %m6 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %w7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w1} : () -> tensor<4x4xf32>
//   %m7 = gv.matmul %t6, %w7 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//   %t7 = gv.tanh %m7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   func.return %t7 : tensor<2x4xf32>
// }
