// test: fuse,outline-kernels,bufferise,swap{least=64 distance=2 ahead=0},plan-memory
// What is used again at the end lies on the host meanwhile; what is used soon stays.
builtin.module attributes {gv.target = "cuda:sm_90a"} {
  func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = gv.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = gv.matmul %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = gv.matmul %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = gv.matmul %3, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    func.return %4 : tensor<4x4xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "cuda:sm_90a", gv.level = "planned", gv.weights = []} {
//   func.func @main(%arg0: memref<4x4xf32> {gv.name = "arg0", gv.role = "input"}, %result0: memref<4x4xf32> {gv.name = "result0", gv.role = "output"}, %workspace: memref<?xi8> {gv.name = "workspace", gv.role = "workspace"}, %weights: memref<?xi8> {gv.name = "weights", gv.role = "weights"}, %host: memref<?xi8> {gv.name = "host", gv.role = "host"}) attributes {gv.workspace = 192 : i64, gv.host = 64 : i64, gv.max_live = 192 : i64} {
//     %0 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %arg0, %0 {inputs = 1 : i64, kernel = @k0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %1 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 64 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %0, %arg0, %1 {after = array<i64: 0>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %2 = gv.buffer %host {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %0, %2 {after = array<i64: 0>, inputs = 1 : i64, kernel = @copy0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %3 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %1, %arg0, %3 {after = array<i64: 0, 1, 2>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %4 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 128 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %3, %1, %4 {after = array<i64: 1, 3>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
//     %5 = gv.buffer %workspace {dtype = #gv.dtype<f32>, offset = 0 : i64, shape = array<i64: 4, 4>} : (memref<?xi8>) -> memref<4x4xf32>
//     gv.launch %2, %5 {after = array<i64: 3, 4>, inputs = 1 : i64, kernel = @copy0} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
//     gv.launch %4, %5, %result0 {after = array<i64: 4, 5>, inputs = 2 : i64, kernel = @k1} : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
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
//   func.func private @copy0(%0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<4x4xf32>
//   }
// }
