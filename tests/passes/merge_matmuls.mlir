// test: merge-matmuls{width=8}

func.func @two(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 2>, weight = @v} : () -> tensor<3x2xf32>
  %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  func.return %1, %3 : tensor<2x4xf32>, tensor<2x2xf32>
}

// ->
// func.func @two(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 2>, weight = @v} : () -> tensor<3x2xf32>
//   %2 = gv.concat %0, %1 {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x6xf32>
//   %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x6xf32>) -> tensor<2x6xf32>
//   %4 = gv.slice %3 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2, 4>} : (tensor<2x6xf32>) -> tensor<2x4xf32>
//   %5 = gv.slice %3 {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>, stops = array<i64: 2, 6>} : (tensor<2x6xf32>) -> tensor<2x2xf32>
//   func.return %4, %5 : tensor<2x4xf32>, tensor<2x2xf32>
// }

// -----
// What the second weight is made of moves up.
func.func @weights_defined_later(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @w} : () -> tensor<4x3xf32>
  %1 = gv.matmul %x, %0 {transpose_rhs = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %2 = gv.exp %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 3>, weight = @v} : () -> tensor<2x3xf32>
  %4 = gv.neg %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = gv.matmul %x, %4 {transpose_rhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return %2, %5 : tensor<2x4xf32>, tensor<2x2xf32>
}

// ->
// func.func @weights_defined_later(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @w} : () -> tensor<4x3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 3>, weight = @v} : () -> tensor<2x3xf32>
//   %2 = gv.neg %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.concat %0, %2 {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
//   %4 = gv.matmul %x, %3 {transpose_rhs = true} : (tensor<2x3xf32>, tensor<6x3xf32>) -> tensor<2x6xf32>
//   %5 = gv.slice %4 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2, 4>} : (tensor<2x6xf32>) -> tensor<2x4xf32>
//   %6 = gv.slice %4 {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>, stops = array<i64: 2, 6>} : (tensor<2x6xf32>) -> tensor<2x2xf32>
//   %7 = gv.exp %5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   func.return %7, %6 : tensor<2x4xf32>, tensor<2x2xf32>
// }

// -----
func.func @offsets(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @wq} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bq} : () -> tensor<4xf32>
  %3 = gv.add %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @wk} : () -> tensor<3x4xf32>
  %5 = gv.matmul %x, %4 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bk} : () -> tensor<4xf32>
  %7 = gv.add %5, %6 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %8 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @wv} : () -> tensor<3x4xf32>
  %9 = gv.matmul %x, %8 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %10 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bv} : () -> tensor<4xf32>
  %11 = gv.add %9, %10 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %3, %7, %11 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// ->
// func.func @offsets(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @wq} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @wk} : () -> tensor<3x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @wv} : () -> tensor<3x4xf32>
//   %3 = gv.concat %0, %1, %2 {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x12xf32>
//   %4 = gv.matmul %x, %3 : (tensor<2x3xf32>, tensor<3x12xf32>) -> tensor<2x12xf32>
//   %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bq} : () -> tensor<4xf32>
//   %6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bk} : () -> tensor<4xf32>
//   %7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bv} : () -> tensor<4xf32>
//   %8 = gv.concat %5, %6, %7 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
//   %9 = gv.add %4, %8 : (tensor<2x12xf32>, tensor<12xf32>) -> tensor<2x12xf32>
//   %10 = gv.slice %9 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2, 4>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
//   %11 = gv.slice %9 {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>, stops = array<i64: 2, 8>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
//   %12 = gv.slice %9 {starts = array<i64: 0, 8>, steps = array<i64: 1, 1>, stops = array<i64: 2, 12>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
//   func.return %10, %11, %12 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
// }

// -----
// The offset stays behind.
func.func @one_without_offset(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %3 = gv.add %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
  %5 = gv.matmul %x, %4 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %3, %5 : tensor<2x4xf32>, tensor<2x4xf32>
}

// ->
// func.func @one_without_offset(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
//   %2 = gv.concat %0, %1 {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
//   %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x8xf32>) -> tensor<2x8xf32>
//   %4 = gv.slice %3 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2, 4>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
//   %5 = gv.slice %3 {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>, stops = array<i64: 2, 8>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
//   %6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %7 = gv.add %4, %6 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//   func.return %7, %5 : tensor<2x4xf32>, tensor<2x4xf32>
// }

// -----
func.func @batch(%x: tensor<2x2x3xf32>) -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x2x3xf32>, tensor<3x4xf32>) -> tensor<2x2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
  %3 = gv.matmul %x, %2 : (tensor<2x2x3xf32>, tensor<3x4xf32>) -> tensor<2x2x4xf32>
  func.return %1, %3 : tensor<2x2x4xf32>, tensor<2x2x4xf32>
}

// ->
// func.func @batch(%x: tensor<2x2x3xf32>) -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
//   %2 = gv.concat %0, %1 {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
//   %3 = gv.matmul %x, %2 : (tensor<2x2x3xf32>, tensor<3x8xf32>) -> tensor<2x2x8xf32>
//   %4 = gv.slice %3 {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>, stops = array<i64: 2, 2, 4>} : (tensor<2x2x8xf32>) -> tensor<2x2x4xf32>
//   %5 = gv.slice %3 {starts = array<i64: 0, 0, 4>, steps = array<i64: 1, 1, 1>, stops = array<i64: 2, 2, 8>} : (tensor<2x2x8xf32>) -> tensor<2x2x4xf32>
//   func.return %4, %5 : tensor<2x2x4xf32>, tensor<2x2x4xf32>
// }

// -----
// Eight columns are wide enough.
func.func @wide(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x8xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 8>, weight = @v} : () -> tensor<3x8xf32>
  %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x8xf32>) -> tensor<2x8xf32>
  func.return %1, %3 : tensor<2x4xf32>, tensor<2x8xf32>
}

// ->
// func.func @wide(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x8xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 8>, weight = @v} : () -> tensor<3x8xf32>
//   %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x8xf32>) -> tensor<2x8xf32>
//   func.return %1, %3 : tensor<2x4xf32>, tensor<2x8xf32>
// }

// -----
func.func @other_tensor(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
  %3 = gv.matmul %y, %2 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}

// ->
// func.func @other_tensor(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
//   %3 = gv.matmul %y, %2 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   func.return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
// }

// -----
func.func @other_side(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @v} : () -> tensor<4x3xf32>
  %3 = gv.matmul %x, %2 {transpose_rhs = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  func.return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}

// ->
// func.func @other_side(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @v} : () -> tensor<4x3xf32>
//   %3 = gv.matmul %x, %2 {transpose_rhs = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
//   func.return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
// }

// -----
func.func @not_fixed(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = gv.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
  %2 = gv.matmul %x, %1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %0, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// ->
// func.func @not_fixed(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
//   %0 = gv.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @v} : () -> tensor<3x4xf32>
//   %2 = gv.matmul %x, %1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   func.return %0, %2 : tensor<2x4xf32>, tensor<2x4xf32>
// }
