// test:
func.func @axis_is_out_of_range(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = gv.sum %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32> // error: gv.sum: axis 2 is out of range for rank 2
  func.return %0 : tensor<2xf32>
}
// -----
func.func @axis_is_named_twice(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = gv.mean %x {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32> // error: gv.mean: axes (1, -1) name an axis twice
  func.return %0 : tensor<2xf32>
}
// -----
func.func @nothing_has_no_largest(%x: tensor<2x0xf32>) -> tensor<2xf32> {
  %0 = gv.max %x {axes = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2xf32> // error: gv.max: axis 1 is empty, expected at least one element
  %1 = gv.argmin %x {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2xi64> // error: gv.argmin: axis 1 is empty, expected at least one element
  func.return %0 : tensor<2xf32>
}
// -----
func.func @kept_axes_are_one(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = gv.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2xf32> // error: result type is tensor<2xf32>, but the operands give tensor<2x1xf32>
  func.return %0 : tensor<2xf32>
}
// -----
func.func @mean_of_integers(%x: tensor<2xi32>) -> tensor<i32> {
  %0 = gv.mean %x {axes = array<i64: 0>} : (tensor<2xi32>) -> tensor<i32> // error: gv.mean: element type i32, expected a float
  func.return %0 : tensor<i32>
}
// -----
func.func @any_of_floats(%x: tensor<2xf32>) -> tensor<f32> {
  %0 = gv.any %x {axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32> // error: gv.any: element type f32, expected bool
  func.return %0 : tensor<f32>
}
// -----
func.func @scan_of_one_number(%x: tensor<f32>) -> tensor<f32> {
  %0 = gv.cumsum %x {axis = 0 : i64} : (tensor<f32>) -> tensor<f32> // error: gv.cumsum: axis 0 is out of range for rank 0
  func.return %0 : tensor<f32>
}
