// test: canonicalize

func.func @add_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [-0.0]>} : () -> tensor<f32>
  %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @add_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @zero_add(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [-0.0]>} : () -> tensor<f32>
  %1 = gv.add %0, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @zero_add(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
// -0 + 0 is 0.
func.func @add_positive_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @add_positive_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// -0 - -0 is 0.
func.func @subtract_negative_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [-0.0]>} : () -> tensor<f32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @subtract_negative_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [-0.0]>} : () -> tensor<f32>
//   %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @add_zero_to_integers(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %0 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
  %1 = gv.add %x, %0 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  func.return %1 : tensor<2x3xi32>
}

// ->
// func.func @add_zero_to_integers(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
//   func.return %x : tensor<2x3xi32>
// }

// -----
// Adding this zero makes the result larger than x.
func.func @widening_zero(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "2, 3", splat 0.0>} : () -> tensor<2x3xf32>
  %1 = gv.add %x, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @widening_zero(%x: tensor<3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "2, 3", splat 0.0>} : () -> tensor<2x3xf32>
//   %1 = gv.add %x, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// No other number is a zero.
func.func @add_almost_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0000000031710769e-30]>} : () -> tensor<f32>
  %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @add_almost_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0000000031710769e-30]>} : () -> tensor<f32>
//   %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @subtract_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @subtract_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
// 0 - x is no identity.
func.func @subtract_from_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.sub %0, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @subtract_from_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.sub %0, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// x - x is not 0 where x is not a number.
func.func @subtract_itself(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.sub %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @subtract_itself(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.sub %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @multiply_by_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @multiply_by_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
// 0 * inf is not 0.
func.func @multiply_float_by_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @multiply_float_by_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @multiply_integer_by_zero(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = gv.constant {value = #gv.array<i32, "2", [0, 0]>} : () -> tensor<2xi32>
  %1 = gv.mul %x, %0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %1 : tensor<2xi32>
}

// ->
// func.func @multiply_integer_by_zero(%x: tensor<2xi32>) -> tensor<2xi32> {
//   %0 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
//   %1 = gv.broadcast_to %0 {shape = array<i64: 2>} : (tensor<i32>) -> tensor<2xi32>
//   func.return %1 : tensor<2xi32>
// }

// -----
func.func @multiply_by_minus_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [-1.0]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @multiply_by_minus_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @divide_by_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
// 1/8 is exact.
func.func @divide_by_eight(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [8.0]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_eight(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.125]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// 1/3 is not exact.
func.func @divide_by_three(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_three(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// The reciprocal of a subnormal number is infinite.
func.func @divide_by_tiny(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.401298464324817e-45]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_tiny(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.401298464324817e-45]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// Integers truncate.
func.func @divide_integer(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = gv.constant {value = #gv.array<i32, "", [8]>} : () -> tensor<i32>
  %1 = gv.div %x, %0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  func.return %1 : tensor<2xi32>
}

// ->
// func.func @divide_integer(%x: tensor<2xi32>) -> tensor<2xi32> {
//   %0 = gv.constant {value = #gv.array<i32, "", [8]>} : () -> tensor<i32>
//   %1 = gv.div %x, %0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
//   func.return %1 : tensor<2xi32>
// }

// -----
func.func @power_of_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @power_of_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @negate_twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.neg %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @negate_twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @add_negation(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.add %0, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @add_negation(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.sub %y, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @subtract_negation(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.neg %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @subtract_negation(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @relu_of_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @relu_of_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @magnitude_of_negation(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.abs %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @magnitude_of_negation(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @maximum_of_itself(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.maximum %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @maximum_of_itself(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @maximum_with_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.maximum %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @maximum_with_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// Of two zeros, the first: 0 where x is -0.
func.func @maximum_of_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.maximum %0, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @maximum_of_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.maximum %0, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @not_not(%x: tensor<2xi1>) -> tensor<2xi1> {
  %0 = gv.logical_not %x : (tensor<2xi1>) -> tensor<2xi1>
  %1 = gv.logical_not %0 : (tensor<2xi1>) -> tensor<2xi1>
  func.return %1 : tensor<2xi1>
}

// ->
// func.func @not_not(%x: tensor<2xi1>) -> tensor<2xi1> {
//   func.return %x : tensor<2xi1>
// }

// -----
func.func @and_true(%x: tensor<2xi1>) -> tensor<2xi1> {
  %0 = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
  %1 = gv.logical_and %x, %0 : (tensor<2xi1>, tensor<i1>) -> tensor<2xi1>
  func.return %1 : tensor<2xi1>
}

// ->
// func.func @and_true(%x: tensor<2xi1>) -> tensor<2xi1> {
//   func.return %x : tensor<2xi1>
// }

// -----
func.func @and_false(%x: tensor<2xi1>) -> tensor<2xi1> {
  %0 = gv.constant {value = #gv.array<bool, "2", [false, false]>} : () -> tensor<2xi1>
  %1 = gv.logical_and %x, %0 : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  func.return %1 : tensor<2xi1>
}

// ->
// func.func @and_false(%x: tensor<2xi1>) -> tensor<2xi1> {
//   %0 = gv.constant {value = #gv.array<bool, "", [false]>} : () -> tensor<i1>
//   %1 = gv.broadcast_to %0 {shape = array<i64: 2>} : (tensor<i1>) -> tensor<2xi1>
//   func.return %1 : tensor<2xi1>
// }

// -----
func.func @or_false(%x: tensor<2xi1>) -> tensor<2xi1> {
  %0 = gv.constant {value = #gv.array<bool, "", [false]>} : () -> tensor<i1>
  %1 = gv.logical_or %x, %0 : (tensor<2xi1>, tensor<i1>) -> tensor<2xi1>
  func.return %1 : tensor<2xi1>
}

// ->
// func.func @or_false(%x: tensor<2xi1>) -> tensor<2xi1> {
//   func.return %x : tensor<2xi1>
// }

// -----
func.func @select_true(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
  %1 = gv.select %0, %x, %y : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @select_true(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @select_false_widens(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<bool, "", [false]>} : () -> tensor<i1>
  %1 = gv.select %0, %x, %y : (tensor<i1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @select_false_widens(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.broadcast_to %y {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @select_same(%c: tensor<2x3xi1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.select %c, %x, %x : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @select_same(%c: tensor<2x3xi1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @select_by_negation(%c: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.logical_not %c : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %1 = gv.select %0, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @select_by_negation(%c: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.select %c, %y, %x : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @cast_to_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @cast_to_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @cast_there_and_back(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = gv.cast %x {dtype = #gv.dtype<i64>} : (tensor<2xi32>) -> tensor<2xi64>
  %1 = gv.cast %0 {dtype = #gv.dtype<i32>} : (tensor<2xi64>) -> tensor<2xi32>
  func.return %1 : tensor<2xi32>
}

// ->
// func.func @cast_there_and_back(%x: tensor<2xi32>) -> tensor<2xi32> {
//   func.return %x : tensor<2xi32>
// }

// -----
// i32 does not hold every i64.
func.func @cast_through_a_narrow_type(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<2xi64>) -> tensor<2xi32>
  %1 = gv.cast %0 {dtype = #gv.dtype<i64>} : (tensor<2xi32>) -> tensor<2xi64>
  func.return %1 : tensor<2xi64>
}

// ->
// func.func @cast_through_a_narrow_type(%x: tensor<2xi64>) -> tensor<2xi64> {
//   %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<2xi64>) -> tensor<2xi32>
//   %1 = gv.cast %0 {dtype = #gv.dtype<i64>} : (tensor<2xi32>) -> tensor<2xi64>
//   func.return %1 : tensor<2xi64>
// }

// -----
func.func @cast_of_float_through_wide_float(%x: tensor<2xf16>) -> tensor<2xf64> {
  %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<2xf16>) -> tensor<2xf32>
  %1 = gv.cast %0 {dtype = #gv.dtype<f64>} : (tensor<2xf32>) -> tensor<2xf64>
  func.return %1 : tensor<2xf64>
}

// ->
// func.func @cast_of_float_through_wide_float(%x: tensor<2xf16>) -> tensor<2xf64> {
//   %0 = gv.cast %x {dtype = #gv.dtype<f64>} : (tensor<2xf16>) -> tensor<2xf64>
//   func.return %0 : tensor<2xf64>
// }

// -----
func.func @reshape_twice(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = gv.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = gv.reshape %0 {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
  func.return %1 : tensor<3x2xf32>
}

// ->
// func.func @reshape_twice(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
//   %0 = gv.reshape %x {shape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
//   func.return %0 : tensor<3x2xf32>
// }

// -----
func.func @reshape_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = gv.reshape %0 {shape = array<i64: 2, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @reshape_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @reshape_symbolic(%x: tensor<?x4xf32, #gv.dims<"N, 4">>) -> tensor<?x4xf32, #gv.dims<"N, 4">> {
  %0 = gv.reshape %x {shape = #gv.dims<"4*N">} : (tensor<?x4xf32, #gv.dims<"N, 4">>) -> tensor<?xf32, #gv.dims<"4*N">>
  %1 = gv.reshape %0 {shape = #gv.dims<"N, 4">} : (tensor<?xf32, #gv.dims<"4*N">>) -> tensor<?x4xf32, #gv.dims<"N, 4">>
  func.return %1 : tensor<?x4xf32, #gv.dims<"N, 4">>
}

// ->
// func.func @reshape_symbolic(%x: tensor<?x4xf32, #gv.dims<"N, 4">>) -> tensor<?x4xf32, #gv.dims<"N, 4">> {
//   func.return %x : tensor<?x4xf32, #gv.dims<"N, 4">>
// }

// -----
func.func @transpose_of_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @transpose_of_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @transpose_twice(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = gv.transpose %x {order = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = gv.transpose %0 {order = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  func.return %1 : tensor<4x2x3xf32>
}

// ->
// func.func @transpose_twice(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
//   %0 = gv.transpose %x {order = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
//   func.return %0 : tensor<4x2x3xf32>
// }

// -----
func.func @transpose_of_unit_axes(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
  %0 = gv.transpose %x {order = array<i64: 1, 0, 2>} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  func.return %0 : tensor<1x2x3xf32>
}

// ->
// func.func @transpose_of_unit_axes(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
//   %0 = gv.reshape %x {shape = array<i64: 1, 2, 3>} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
//   func.return %0 : tensor<1x2x3xf32>
// }

// -----
func.func @broadcast_to_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.broadcast_to %x {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @broadcast_to_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @broadcast_twice(%x: tensor<3xf32>) -> tensor<4x2x3xf32> {
  %0 = gv.broadcast_to %x {shape = array<i64: 1, 3>} : (tensor<3xf32>) -> tensor<1x3xf32>
  %1 = gv.broadcast_to %0 {shape = array<i64: 4, 2, 3>} : (tensor<1x3xf32>) -> tensor<4x2x3xf32>
  func.return %1 : tensor<4x2x3xf32>
}

// ->
// func.func @broadcast_twice(%x: tensor<3xf32>) -> tensor<4x2x3xf32> {
//   %0 = gv.broadcast_to %x {shape = array<i64: 4, 2, 3>} : (tensor<3xf32>) -> tensor<4x2x3xf32>
//   func.return %0 : tensor<4x2x3xf32>
// }

// -----
func.func @broadcast_operand(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = gv.broadcast_to %y {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @broadcast_operand(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mul %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// Without the broadcast, the result would be smaller.
func.func @broadcast_operand_that_widens(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = gv.broadcast_to %y {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = gv.mul %x, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @broadcast_operand_that_widens(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.broadcast_to %y {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
//   %1 = gv.mul %x, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @shrink_splat(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "2, 3", splat 2.0>} : () -> tensor<2x3xf32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @shrink_splat(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @shrink_equal_elements(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "3", [2.0, 2.0, 2.0]>} : () -> tensor<3xf32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @shrink_equal_elements(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// The constant gives the result its shape.
func.func @splat_that_widens(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "2, 3", splat 2.0>} : () -> tensor<2x3xf32>
  %1 = gv.mul %x, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @splat_that_widens(%x: tensor<3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "2, 3", splat 2.0>} : () -> tensor<2x3xf32>
//   %1 = gv.mul %x, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @slice_of_everything(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @slice_of_everything(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
// Everything, but not in order.
func.func @flip(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.slice %x {starts = array<i64: 1, 0>, steps = array<i64: -1, 1>, stops = array<i64: -3, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @flip(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.slice %x {starts = array<i64: 1, 0>, steps = array<i64: -1, 1>, stops = array<i64: -3, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @slice_twice(%x: tensor<9xf32>) -> tensor<3xf32> {
  %0 = gv.slice %x {starts = array<i64: 2>, steps = array<i64: 1>, stops = array<i64: 8>} : (tensor<9xf32>) -> tensor<6xf32>
  %1 = gv.slice %0 {starts = array<i64: 1>, steps = array<i64: 1>, stops = array<i64: 4>} : (tensor<6xf32>) -> tensor<3xf32>
  func.return %1 : tensor<3xf32>
}

// ->
// func.func @slice_twice(%x: tensor<9xf32>) -> tensor<3xf32> {
//   %0 = gv.slice %x {starts = array<i64: 3>, steps = array<i64: 1>, stops = array<i64: 6>} : (tensor<9xf32>) -> tensor<3xf32>
//   func.return %0 : tensor<3xf32>
// }

// -----
func.func @pad_by_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 0, 0>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @pad_by_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @concat_of_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.concat %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @concat_of_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @concat_with_nothing(%x: tensor<2x3xf32>, %y: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @concat_with_nothing(%x: tensor<2x3xf32>, %y: tensor<0x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @concat_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<6x3xf32> {
  %0 = gv.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = gv.concat %0, %x {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  func.return %1 : tensor<6x3xf32>
}

// ->
// func.func @concat_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<6x3xf32> {
//   %0 = gv.concat %x, %y, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
//   func.return %0 : tensor<6x3xf32>
// }

// -----
func.func @concat_along_another_axis(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<4x6xf32> {
  %0 = gv.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = gv.concat %y, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = gv.concat %0, %1 {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  func.return %2 : tensor<4x6xf32>
}

// ->
// func.func @concat_along_another_axis(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<4x6xf32> {
//   %0 = gv.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
//   %1 = gv.concat %y, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
//   %2 = gv.concat %0, %1 {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
//   func.return %2 : tensor<4x6xf32>
// }

// -----
func.func @sum_over_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.sum %x {axes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @sum_over_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   func.return %x : tensor<2x3xf32>
// }

// -----
func.func @extent_of_numbers() -> tensor<2xi64> {
  %0 = gv.extent {values = array<i64: 2, 3>} : () -> tensor<2xi64>
  func.return %0 : tensor<2xi64>
}

// ->
// func.func @extent_of_numbers() -> tensor<2xi64> {
//   %0 = gv.constant {value = #gv.array<i64, "2", [2, 3]>} : () -> tensor<2xi64>
//   func.return %0 : tensor<2xi64>
// }

// -----
func.func @gather_of_one(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = gv.constant {value = #gv.array<i64, "", [-1]>} : () -> tensor<i64>
  %1 = gv.gather %x, %0 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// ->
// func.func @gather_of_one(%x: tensor<2x3xf32>) -> tensor<2xf32> {
//   %0 = gv.slice %x {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>, stops = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %1 = gv.reshape %0 {shape = array<i64: 2>} : (tensor<2x1xf32>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }

// -----
// An index outside is clamped when it is used.
func.func @gather_outside(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = gv.constant {value = #gv.array<i64, "", [3]>} : () -> tensor<i64>
  %1 = gv.gather %x, %0 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// ->
// func.func @gather_outside(%x: tensor<2x3xf32>) -> tensor<2xf32> {
//   %0 = gv.constant {value = #gv.array<i64, "", [3]>} : () -> tensor<i64>
//   %1 = gv.gather %x, %0 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }

// -----
func.func @matmul_of_transpose(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.transpose %y {order = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %1 : tensor<2x4xf32>
}

// ->
// func.func @matmul_of_transpose(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.matmul %x, %y {transpose_rhs = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
//   func.return %0 : tensor<2x4xf32>
// }

// -----
// The batch moves too; the last axis of y becomes the last again.
func.func @matmul_of_batch_transpose(%x: tensor<2x3x4xf32>, %y: tensor<3x2x4xf32>) -> tensor<2x3x3xf32> {
  %0 = gv.transpose %y {order = array<i64: 1, 2, 0>} : (tensor<3x2x4xf32>) -> tensor<2x4x3xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  func.return %1 : tensor<2x3x3xf32>
}

// ->
// func.func @matmul_of_batch_transpose(%x: tensor<2x3x4xf32>, %y: tensor<3x2x4xf32>) -> tensor<2x3x3xf32> {
//   %0 = gv.transpose %y {order = array<i64: 1, 0, 2>} : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
//   %1 = gv.matmul %x, %0 {transpose_rhs = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
//   func.return %1 : tensor<2x3x3xf32>
// }

// -----
// The last axis stays last.
func.func @matmul_of_other_transpose(%x: tensor<2x3x4xf32>, %y: tensor<2x4x3xf32>) -> tensor<2x3x3xf32> {
  %0 = gv.reshape %y {shape = array<i64: 4, 2, 3>} : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  %1 = gv.transpose %0 {order = array<i64: 1, 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  %2 = gv.matmul %x, %1 : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  func.return %2 : tensor<2x3x3xf32>
}

// ->
// func.func @matmul_of_other_transpose(%x: tensor<2x3x4xf32>, %y: tensor<2x4x3xf32>) -> tensor<2x3x3xf32> {
//   %0 = gv.reshape %y {shape = array<i64: 4, 2, 3>} : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
//   %1 = gv.transpose %0 {order = array<i64: 1, 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
//   %2 = gv.matmul %x, %1 : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
//   func.return %2 : tensor<2x3x3xf32>
// }

// -----
func.func @conv_of_pad(%x: tensor<1x2x5xf32>, %w: tensor<3x2x2xf32>) -> tensor<1x3x8xf32> {
  %0 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 1, 2>]} : (tensor<1x2x5xf32>) -> tensor<1x2x8xf32>
  %1 = gv.conv %0, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 1>], strides = array<i64: 1>} : (tensor<1x2x8xf32>, tensor<3x2x2xf32>) -> tensor<1x3x8xf32>
  func.return %1 : tensor<1x3x8xf32>
}

// ->
// func.func @conv_of_pad(%x: tensor<1x2x5xf32>, %w: tensor<3x2x2xf32>) -> tensor<1x3x8xf32> {
//   %0 = gv.conv %x, %w {dilations = array<i64: 1>, pads = [array<i64: 1, 3>], strides = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<3x2x2xf32>) -> tensor<1x3x8xf32>
//   func.return %0 : tensor<1x3x8xf32>
// }

// -----
// The last axis is that of the channels.
func.func @conv_of_pad_before_channels(%x: tensor<1x5x2xf32>, %w: tensor<3x2x2xf32>) -> tensor<1x7x3xf32> {
  %0 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 1, 2>, array<i64: 0, 0>]} : (tensor<1x5x2xf32>) -> tensor<1x8x2xf32>
  %1 = gv.conv %0, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>, channels_last = true} : (tensor<1x8x2xf32>, tensor<3x2x2xf32>) -> tensor<1x7x3xf32>
  func.return %1 : tensor<1x7x3xf32>
}

// ->
// func.func @conv_of_pad_before_channels(%x: tensor<1x5x2xf32>, %w: tensor<3x2x2xf32>) -> tensor<1x7x3xf32> {
//   %0 = gv.conv %x, %w {channels_last = true, dilations = array<i64: 1>, pads = [array<i64: 1, 2>], strides = array<i64: 1>} : (tensor<1x5x2xf32>, tensor<3x2x2xf32>) -> tensor<1x7x3xf32>
//   func.return %0 : tensor<1x7x3xf32>
// }

// -----
// Channels are padded, too.
func.func @conv_of_padded_channels(%x: tensor<1x2x5xf32>, %w: tensor<3x3x2xf32>) -> tensor<1x3x7xf32> {
  %0 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 0, 1>, array<i64: 1, 2>]} : (tensor<1x2x5xf32>) -> tensor<1x3x8xf32>
  %1 = gv.conv %0, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x3x8xf32>, tensor<3x3x2xf32>) -> tensor<1x3x7xf32>
  func.return %1 : tensor<1x3x7xf32>
}

// ->
// func.func @conv_of_padded_channels(%x: tensor<1x2x5xf32>, %w: tensor<3x3x2xf32>) -> tensor<1x3x7xf32> {
//   %0 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 0, 1>, array<i64: 1, 2>]} : (tensor<1x2x5xf32>) -> tensor<1x3x8xf32>
//   %1 = gv.conv %0, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x3x8xf32>, tensor<3x3x2xf32>) -> tensor<1x3x7xf32>
//   func.return %1 : tensor<1x3x7xf32>
// }

// -----
// A convolution pads with zeros only.
func.func @conv_of_ones_pad(%x: tensor<1x2x5xf32>, %w: tensor<3x2x2xf32>) -> tensor<1x3x7xf32> {
  %0 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 1, 2>], value = 1.000000e+00 : f64} : (tensor<1x2x5xf32>) -> tensor<1x2x8xf32>
  %1 = gv.conv %0, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x2x8xf32>, tensor<3x2x2xf32>) -> tensor<1x3x7xf32>
  func.return %1 : tensor<1x3x7xf32>
}

// ->
// func.func @conv_of_ones_pad(%x: tensor<1x2x5xf32>, %w: tensor<3x2x2xf32>) -> tensor<1x3x7xf32> {
//   %0 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 1, 2>], value = 1.000000e+00 : f64} : (tensor<1x2x5xf32>) -> tensor<1x2x8xf32>
//   %1 = gv.conv %0, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x2x8xf32>, tensor<3x2x2xf32>) -> tensor<1x3x7xf32>
//   func.return %1 : tensor<1x3x7xf32>
// }
