// test: simplify-arithmetic

func.func @square(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @square(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @cube(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @cube(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   %1 = gv.mul %0, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @square_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @square_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %2 = gv.constant {value = #gv.array<f32, "", ["inf"]>} : () -> tensor<f32>
//   %3 = gv.add %x, %1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %4 = gv.sqrt %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %5 = gv.equal %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
//   %6 = gv.select %5, %2, %4 : (tensor<2x3xi1>, tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %6 : tensor<2x3xf32>
// }

// -----
// What has no sign needs no look at -inf.
func.func @root_of_a_square(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %1 = gv.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.add %1, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = gv.pow %2, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @root_of_a_square(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   %2 = gv.add %1, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %3 = gv.sqrt %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %3 : tensor<2x3xf32>
// }

// -----
func.func @inverse_square_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [-0.5]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @inverse_square_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %2 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %3 = gv.add %x, %1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %4 = gv.rsqrt %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %5 = gv.equal %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
//   %6 = gv.select %5, %2, %4 : (tensor<2x3xi1>, tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %6 : tensor<2x3xf32>
// }

// -----
func.func @inverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [-1.0]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @inverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.reciprocal %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @other_power(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [2.5]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @other_power(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [2.5]>} : () -> tensor<f32>
//   %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @integer_power(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = gv.constant {value = #gv.array<i32, "", [2]>} : () -> tensor<i32>
  %1 = gv.pow %x, %0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  func.return %1 : tensor<2xi32>
}

// ->
// func.func @integer_power(%x: tensor<2xi32>) -> tensor<2xi32> {
//   %0 = gv.constant {value = #gv.array<i32, "", [2]>} : () -> tensor<i32>
//   %1 = gv.pow %x, %0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
//   func.return %1 : tensor<2xi32>
// }

// -----
func.func @divide_by_three(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_three(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.3333333432674408]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// Zero has no reciprocal.
func.func @divide_by_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// The reciprocal has not all digits.
func.func @divide_by_large(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0000000054977558e+38]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_large(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [3.0000000054977558e+38]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @reciprocal_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %2 = gv.div %1, %0 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// ->
// func.func @reciprocal_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.rsqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @reciprocal_of_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.reciprocal %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @reciprocal_of_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.rsqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// Only of one.
func.func @quotient_by_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %2 = gv.div %1, %0 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// ->
// func.func @quotient_by_root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %2 = gv.div %1, %0 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
func.func @factors(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %3 = gv.mul %2, %1 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @factors(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.5]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @summands(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %1 = gv.add %0, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %3 = gv.add %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @summands(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
//   %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @integer_factors(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = gv.constant {value = #gv.array<i32, "", [3]>} : () -> tensor<i32>
  %1 = gv.mul %x, %0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %2 = gv.constant {value = #gv.array<i32, "", [5]>} : () -> tensor<i32>
  %3 = gv.mul %1, %2 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  func.return %3 : tensor<2xi32>
}

// ->
// func.func @integer_factors(%x: tensor<2xi32>) -> tensor<2xi32> {
//   %0 = gv.constant {value = #gv.array<i32, "", [3]>} : () -> tensor<i32>
//   %1 = gv.mul %x, %0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
//   %2 = gv.constant {value = #gv.array<i32, "", [5]>} : () -> tensor<i32>
//   %3 = gv.mul %1, %2 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
//   func.return %3 : tensor<2xi32>
// }

// -----
// Their product is infinite; the result may not be.
func.func @factors_that_overflow(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0000000150474662e+30]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [1.0000000150474662e+30]>} : () -> tensor<f32>
  %3 = gv.mul %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @factors_that_overflow(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0000000150474662e+30]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [1.0000000150474662e+30]>} : () -> tensor<f32>
//   %3 = gv.mul %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %3 : tensor<2x3xf32>
// }

// -----
func.func @factors_that_vanish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0000000031710769e-30]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [1.0000000031710769e-30]>} : () -> tensor<f32>
  %3 = gv.mul %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @factors_that_vanish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0000000031710769e-30]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [1.0000000031710769e-30]>} : () -> tensor<f32>
//   %3 = gv.mul %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %3 : tensor<2x3xf32>
// }

// -----
// A conversion goes no further than its type does; a quotient that is rounded stays one.
// count: gv.clip 1
// count: gv.div 1
func.func @levels(%x: tensor<4xf32>) -> (tensor<4xui8>, tensor<4xui8>) {
  %s = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %low = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %high = gv.constant {value = #gv.array<f32, "", [255.0]>} : () -> tensor<f32>
  %less = gv.constant {value = #gv.array<f32, "", [254.0]>} : () -> tensor<f32>
  %0 = gv.div %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = gv.round %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.clip %1, %low, %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %q = gv.cast %2 {dtype = #gv.dtype<u8>} : (tensor<4xf32>) -> tensor<4xui8>
  %3 = gv.clip %1, %low, %less : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %p = gv.cast %3 {dtype = #gv.dtype<u8>} : (tensor<4xf32>) -> tensor<4xui8>
  func.return %q, %p : tensor<4xui8>, tensor<4xui8>
}
