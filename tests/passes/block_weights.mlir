// test: block-weights

// Numbers of 4 bits stand in words, and the left operand in 16 bits.
// differs: the left operand is rounded to 16 bits
func.func @main(%x: tensor<1x64xf32>) -> tensor<1x16xf32> {
  %q = gv.weight {dtype = #gv.dtype<i4>, shape = array<i64: 2, 32, 16>, weight = @q} : () -> tensor<2x32x16xi4>
  %s = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1, 16>, weight = @s} : () -> tensor<2x1x16xf32>
  %0 = gv.cast %q {dtype = #gv.dtype<f32>} : (tensor<2x32x16xi4>) -> tensor<2x32x16xf32>
  %1 = gv.mul %0, %s : (tensor<2x32x16xf32>, tensor<2x1x16xf32>) -> tensor<2x32x16xf32>
  %w = gv.reshape %1 {shape = array<i64: 64, 16>} : (tensor<2x32x16xf32>) -> tensor<64x16xf32>
  %y = gv.matmul %x, %w : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
  func.return %y : tensor<1x16xf32>
}

// ->
// func.func @main(%x: tensor<1x64xf32>) -> tensor<1x16xf32> {
//   %q = gv.weight {dtype = #gv.dtype<i4>, shape = array<i64: 2, 32, 16>, weight = @q} : () -> tensor<2x32x16xi4>
//   %s = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1, 16>, weight = @s} : () -> tensor<2x1x16xf32>
//   %0 = gv.cast %q {dtype = #gv.dtype<f32>} : (tensor<2x32x16xi4>) -> tensor<2x32x16xf32>
//   %1 = gv.mul %0, %s : (tensor<2x32x16xf32>, tensor<2x1x16xf32>) -> tensor<2x32x16xf32>
//   %w = gv.reshape %1 {shape = array<i64: 64, 16>} : (tensor<2x32x16xf32>) -> tensor<64x16xf32>
//   %2 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<2x32x16xi4>) -> tensor<2x32x16xi32>
//   %3 = gv.constant {value = #gv.array<i32, "", [8]>} : () -> tensor<i32>
//   %4 = gv.add %2, %3 : (tensor<2x32x16xi32>, tensor<i32>) -> tensor<2x32x16xi32>
//   %5 = gv.reshape %4 {shape = array<i64: 8, 8, 16>} : (tensor<2x32x16xi32>) -> tensor<8x8x16xi32>
//   %6 = gv.constant {value = #gv.array<i32, "8, 1", [0, 16, 4, 20, 8, 24, 12, 28]>} : () -> tensor<8x1xi32>
//   %7 = gv.shift_left %5, %6 : (tensor<8x8x16xi32>, tensor<8x1xi32>) -> tensor<8x8x16xi32>
//   %8 = gv.sum %7 {axes = array<i64: 1>} : (tensor<8x8x16xi32>) -> tensor<8x16xi32>
//   %9 = gv.reshape %s {shape = array<i64: 2, 1, 16>} : (tensor<2x1x16xf32>) -> tensor<2x1x16xf32>
//   %10 = gv.reshape %9 {shape = array<i64: 2, 16>} : (tensor<2x1x16xf32>) -> tensor<2x16xf32>
//   %11 = gv.reshape %8 {shape = array<i64: 8, 1, 16>} : (tensor<8x16xi32>) -> tensor<8x1x16xi32>
//   %12 = gv.transpose %11 {order = array<i64: 1, 0, 2>} : (tensor<8x1x16xi32>) -> tensor<1x8x16xi32>
//   %13 = gv.reshape %10 {shape = array<i64: 2, 1, 16>} : (tensor<2x16xf32>) -> tensor<2x1x16xf32>
//   %14 = gv.transpose %13 {order = array<i64: 1, 0, 2>} : (tensor<2x1x16xf32>) -> tensor<1x2x16xf32>
//   %15 = gv.reshape %x {shape = array<i64: 1, 2, 32>} : (tensor<1x64xf32>) -> tensor<1x2x32xf32>
//   %16 = gv.abs %15 : (tensor<1x2x32xf32>) -> tensor<1x2x32xf32>
//   %17 = gv.max %16 {axes = array<i64: 2>, keepdims = true} : (tensor<1x2x32xf32>) -> tensor<1x2x1xf32>
//   %18 = gv.constant {value = #gv.array<f32, "", [32767.0]>} : () -> tensor<f32>
//   %19 = gv.div %17, %18 : (tensor<1x2x1xf32>, tensor<f32>) -> tensor<1x2x1xf32>
//   %20 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %21 = gv.equal %19, %20 : (tensor<1x2x1xf32>, tensor<f32>) -> tensor<1x2x1xi1>
//   %22 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %23 = gv.select %21, %22, %19 : (tensor<1x2x1xi1>, tensor<f32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
//   %24 = gv.div %15, %23 : (tensor<1x2x32xf32>, tensor<1x2x1xf32>) -> tensor<1x2x32xf32>
//   %25 = gv.round %24 : (tensor<1x2x32xf32>) -> tensor<1x2x32xf32>
//   %26 = gv.cast %25 {dtype = #gv.dtype<i16>} : (tensor<1x2x32xf32>) -> tensor<1x2x32xi16>
//   %27 = gv.reshape %23 {shape = array<i64: 1, 2>} : (tensor<1x2x1xf32>) -> tensor<1x2xf32>
//   %28 = gv.cast %26 {dtype = #gv.dtype<i32>} : (tensor<1x2x32xi16>) -> tensor<1x2x32xi32>
//   %29 = gv.sum %28 {axes = array<i64: 2>} : (tensor<1x2x32xi32>) -> tensor<1x2xi32>
//   %30 = gv.reshape %26 {shape = array<i64: 1, 64>} : (tensor<1x2x32xi16>) -> tensor<1x64xi16>
//   %31 = gv.constant {value = #gv.array<i32, "", [-8]>} : () -> tensor<i32>
//   %32 = gv.mul %29, %31 : (tensor<1x2xi32>, tensor<i32>) -> tensor<1x2xi32>
//   %y = gv.matmul_blocked %30, %12, %27, %32, %14 {columns = 16 : i64} : (tensor<1x64xi16>, tensor<1x8x16xi32>, tensor<1x2xf32>, tensor<1x2xi32>, tensor<1x2x16xf32>) -> tensor<1x16xf32>
//   func.return %y : tensor<1x16xf32>
// }

// -----
// Zero points are a product of the blocks' sums; longer blocks are cut; weights may be turned.
// differs: the left operand is rounded to 16 bits
// count: gv.matmul_blocked 1
// count: gv.matmul 1
func.func @zeros(%x: tensor<3x128xf32>) -> tensor<3x8xf32> {
  %q = gv.weight {dtype = #gv.dtype<u4>, shape = array<i64: 8, 2, 64>, weight = @q} : () -> tensor<8x2x64xui4>
  %z = gv.weight {dtype = #gv.dtype<i32>, shape = array<i64: 8, 2, 1>, weight = @z} : () -> tensor<8x2x1xi32>
  %s = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 2, 1>, weight = @s} : () -> tensor<8x2x1xf32>
  %0 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<8x2x64xui4>) -> tensor<8x2x64xi32>
  %1 = gv.sub %0, %z : (tensor<8x2x64xi32>, tensor<8x2x1xi32>) -> tensor<8x2x64xi32>
  %2 = gv.cast %1 {dtype = #gv.dtype<f32>} : (tensor<8x2x64xi32>) -> tensor<8x2x64xf32>
  %3 = gv.mul %2, %s : (tensor<8x2x64xf32>, tensor<8x2x1xf32>) -> tensor<8x2x64xf32>
  %w = gv.reshape %3 {shape = array<i64: 8, 128>} : (tensor<8x2x64xf32>) -> tensor<8x128xf32>
  %y = gv.matmul %x, %w {transpose_rhs = true} : (tensor<3x128xf32>, tensor<8x128xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// -----
// Blocks of 16 rows are left alone.
// count: gv.matmul_blocked 0
func.func @short(%x: tensor<1x64xf32>) -> tensor<1x16xf32> {
  %q = gv.weight {dtype = #gv.dtype<i4>, shape = array<i64: 4, 16, 16>, weight = @q} : () -> tensor<4x16x16xi4>
  %s = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 1, 16>, weight = @s} : () -> tensor<4x1x16xf32>
  %0 = gv.cast %q {dtype = #gv.dtype<f32>} : (tensor<4x16x16xi4>) -> tensor<4x16x16xf32>
  %1 = gv.mul %0, %s : (tensor<4x16x16xf32>, tensor<4x1x16xf32>) -> tensor<4x16x16xf32>
  %w = gv.reshape %1 {shape = array<i64: 64, 16>} : (tensor<4x16x16xf32>) -> tensor<64x16xf32>
  %y = gv.matmul %x, %w : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
  func.return %y : tensor<1x16xf32>
}
