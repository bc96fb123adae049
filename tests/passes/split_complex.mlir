// test: split-complex
// What is given and what is returned lie in memory: the parts of each number side by side.
func.func @sum(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = gv.add %x, %y : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  func.return %0 : tensor<4xcomplex<f32>>
}

// ->
// func.func @sum(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
//   %0 = gv.words %y : (tensor<4xcomplex<f32>>) -> tensor<4xi64>
//   %1 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %2 = gv.shift_right %0, %1 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
//   %3 = gv.cast %0 {dtype = #gv.dtype<i32>} : (tensor<4xi64>) -> tensor<4xi32>
//   %4 = gv.bitcast %3 {dtype = #gv.dtype<f32>} : (tensor<4xi32>) -> tensor<4xf32>
//   %5 = gv.cast %2 {dtype = #gv.dtype<i32>} : (tensor<4xi64>) -> tensor<4xi32>
//   %6 = gv.bitcast %5 {dtype = #gv.dtype<f32>} : (tensor<4xi32>) -> tensor<4xf32>
//   %7 = gv.words %x : (tensor<4xcomplex<f32>>) -> tensor<4xi64>
//   %8 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %9 = gv.shift_right %7, %8 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
//   %10 = gv.cast %7 {dtype = #gv.dtype<i32>} : (tensor<4xi64>) -> tensor<4xi32>
//   %11 = gv.bitcast %10 {dtype = #gv.dtype<f32>} : (tensor<4xi32>) -> tensor<4xf32>
//   %12 = gv.cast %9 {dtype = #gv.dtype<i32>} : (tensor<4xi64>) -> tensor<4xi32>
//   %13 = gv.bitcast %12 {dtype = #gv.dtype<f32>} : (tensor<4xi32>) -> tensor<4xf32>
//   %14 = gv.add %11, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %15 = gv.add %13, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %16 = gv.bitcast %14 {dtype = #gv.dtype<i32>} : (tensor<4xf32>) -> tensor<4xi32>
//   %17 = gv.bitcast %15 {dtype = #gv.dtype<i32>} : (tensor<4xf32>) -> tensor<4xi32>
//   %18 = gv.cast %16 {dtype = #gv.dtype<i64>} : (tensor<4xi32>) -> tensor<4xi64>
//   %19 = gv.cast %17 {dtype = #gv.dtype<i64>} : (tensor<4xi32>) -> tensor<4xi64>
//   %20 = gv.constant {value = #gv.array<i64, "", [4294967295]>} : () -> tensor<i64>
//   %21 = gv.bitwise_and %18, %20 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
//   %22 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %23 = gv.shift_left %19, %22 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
//   %24 = gv.bitwise_or %21, %23 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
//   %25 = gv.of_words %24 : (tensor<4xi64>) -> tensor<4xcomplex<f32>>
//   func.return %25 : tensor<4xcomplex<f32>>
// }

// -----
// A product's parts; the size of a number is real.
func.func @product(%x: tensor<complex<f64>>) -> tensor<f64> {
  %0 = gv.mul %x, %x : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  %1 = gv.real %0 : (tensor<complex<f64>>) -> tensor<f64>
  func.return %1 : tensor<f64>
}

// ->
// func.func @product(%x: tensor<complex<f64>>) -> tensor<f64> {
//   %0 = gv.pairs %x : (tensor<complex<f64>>) -> tensor<2xf64>
//   %1 = gv.slice %0 {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 1>} : (tensor<2xf64>) -> tensor<1xf64>
//   %2 = gv.slice %0 {starts = array<i64: 1>, steps = array<i64: 1>, stops = array<i64: 2>} : (tensor<2xf64>) -> tensor<1xf64>
//   %3 = gv.reshape %1 {shape = array<i64>} : (tensor<1xf64>) -> tensor<f64>
//   %4 = gv.reshape %2 {shape = array<i64>} : (tensor<1xf64>) -> tensor<f64>
//   %5 = gv.mul %3, %3 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %6 = gv.mul %4, %4 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %7 = gv.sub %5, %6 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %8 = gv.mul %3, %4 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %9 = gv.mul %4, %3 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %10 = gv.add %8, %9 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   func.return %7 : tensor<f64>
// }

// -----
// A loop carries the parts.
func.func @loop(%n: tensor<i64>, %z: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %0, %1 = gv.while %n, %z ({
  ^bb0(%a: tensor<i64>, %b: tensor<complex<f32>>):
    %2 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
    %3 = gv.greater %a, %2 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    gv.yield %3 : (tensor<i1>) -> ()
  }, {
  ^bb0(%c: tensor<i64>, %d: tensor<complex<f32>>):
    %4 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
    %5 = gv.sub %c, %4 : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %6 = gv.conj %d : (tensor<complex<f32>>) -> tensor<complex<f32>>
    gv.yield %5, %6 : (tensor<i64>, tensor<complex<f32>>) -> ()
  }) {carried = 2 : i64} : (tensor<i64>, tensor<complex<f32>>) -> (tensor<i64>, tensor<complex<f32>>)
  func.return %1 : tensor<complex<f32>>
}

// ->
// func.func @loop(%n: tensor<i64>, %z: tensor<complex<f32>>) -> tensor<complex<f32>> {
//   %0 = gv.words %z : (tensor<complex<f32>>) -> tensor<i64>
//   %1 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %2 = gv.shift_right %0, %1 : (tensor<i64>, tensor<i64>) -> tensor<i64>
//   %3 = gv.cast %0 {dtype = #gv.dtype<i32>} : (tensor<i64>) -> tensor<i32>
//   %4 = gv.bitcast %3 {dtype = #gv.dtype<f32>} : (tensor<i32>) -> tensor<f32>
//   %5 = gv.cast %2 {dtype = #gv.dtype<i32>} : (tensor<i64>) -> tensor<i32>
//   %6 = gv.bitcast %5 {dtype = #gv.dtype<f32>} : (tensor<i32>) -> tensor<f32>
//   %7, %8, %9 = gv.while %n, %4, %6 ({
//   ^bb0(%a: tensor<i64>, %10: tensor<f32>, %11: tensor<f32>):
//     %12 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %13 = gv.greater %a, %12 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//     gv.yield %13 : (tensor<i1>) -> ()
//   }, {
//   ^bb0(%c: tensor<i64>, %14: tensor<f32>, %15: tensor<f32>):
//     %16 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
//     %17 = gv.sub %c, %16 : (tensor<i64>, tensor<i64>) -> tensor<i64>
//     %18 = gv.neg %15 : (tensor<f32>) -> tensor<f32>
//     gv.yield %17, %14, %18 : (tensor<i64>, tensor<f32>, tensor<f32>) -> ()
//   }) {carried = 3 : i64} : (tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<i64>, tensor<f32>, tensor<f32>)
//   %19 = gv.bitcast %8 {dtype = #gv.dtype<i32>} : (tensor<f32>) -> tensor<i32>
//   %20 = gv.bitcast %9 {dtype = #gv.dtype<i32>} : (tensor<f32>) -> tensor<i32>
//   %21 = gv.cast %19 {dtype = #gv.dtype<i64>} : (tensor<i32>) -> tensor<i64>
//   %22 = gv.cast %20 {dtype = #gv.dtype<i64>} : (tensor<i32>) -> tensor<i64>
//   %23 = gv.constant {value = #gv.array<i64, "", [4294967295]>} : () -> tensor<i64>
//   %24 = gv.bitwise_and %21, %23 : (tensor<i64>, tensor<i64>) -> tensor<i64>
//   %25 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %26 = gv.shift_left %22, %25 : (tensor<i64>, tensor<i64>) -> tensor<i64>
//   %27 = gv.bitwise_or %24, %26 : (tensor<i64>, tensor<i64>) -> tensor<i64>
//   %28 = gv.of_words %27 : (tensor<i64>) -> tensor<complex<f32>>
//   func.return %28 : tensor<complex<f32>>
// }

// -----
// A choice takes and gives them.
func.func @choice(%p: tensor<i1>, %x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = gv.if %p, %x ({
  ^bb0(%a: tensor<2xcomplex<f32>>):
    gv.yield %a : (tensor<2xcomplex<f32>>) -> ()
  }, {
  ^bb0(%b: tensor<2xcomplex<f32>>):
    %1 = gv.neg %b : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    gv.yield %1 : (tensor<2xcomplex<f32>>) -> ()
  }) : (tensor<i1>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  func.return %0 : tensor<2xcomplex<f32>>
}

// ->
// func.func @choice(%p: tensor<i1>, %x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
//   %0 = gv.words %x : (tensor<2xcomplex<f32>>) -> tensor<2xi64>
//   %1 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %2 = gv.shift_right %0, %1 : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
//   %3 = gv.cast %0 {dtype = #gv.dtype<i32>} : (tensor<2xi64>) -> tensor<2xi32>
//   %4 = gv.bitcast %3 {dtype = #gv.dtype<f32>} : (tensor<2xi32>) -> tensor<2xf32>
//   %5 = gv.cast %2 {dtype = #gv.dtype<i32>} : (tensor<2xi64>) -> tensor<2xi32>
//   %6 = gv.bitcast %5 {dtype = #gv.dtype<f32>} : (tensor<2xi32>) -> tensor<2xf32>
//   %7, %8 = gv.if %p, %4, %6 ({
//   ^bb0(%9: tensor<2xf32>, %10: tensor<2xf32>):
//     gv.yield %9, %10 : (tensor<2xf32>, tensor<2xf32>) -> ()
//   }, {
//   ^bb0(%11: tensor<2xf32>, %12: tensor<2xf32>):
//     %13 = gv.neg %11 : (tensor<2xf32>) -> tensor<2xf32>
//     %14 = gv.neg %12 : (tensor<2xf32>) -> tensor<2xf32>
//     gv.yield %13, %14 : (tensor<2xf32>, tensor<2xf32>) -> ()
//   }) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
//   %15 = gv.bitcast %7 {dtype = #gv.dtype<i32>} : (tensor<2xf32>) -> tensor<2xi32>
//   %16 = gv.bitcast %8 {dtype = #gv.dtype<i32>} : (tensor<2xf32>) -> tensor<2xi32>
//   %17 = gv.cast %15 {dtype = #gv.dtype<i64>} : (tensor<2xi32>) -> tensor<2xi64>
//   %18 = gv.cast %16 {dtype = #gv.dtype<i64>} : (tensor<2xi32>) -> tensor<2xi64>
//   %19 = gv.constant {value = #gv.array<i64, "", [4294967295]>} : () -> tensor<i64>
//   %20 = gv.bitwise_and %17, %19 : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
//   %21 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %22 = gv.shift_left %18, %21 : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
//   %23 = gv.bitwise_or %20, %22 : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
//   %24 = gv.of_words %23 : (tensor<2xi64>) -> tensor<2xcomplex<f32>>
//   func.return %24 : tensor<2xcomplex<f32>>
// }

// -----
// Real programs stay as they are.
func.func @real(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// ->
// func.func @real(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.neg %x : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
// Numbers in memory are added up as they lie there; those that are computed, part by part.
func.func @sums(%x: tensor<3x4xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<1x4xcomplex<f32>>) {
  %0 = gv.sum %x {axes = array<i64: -1>} : (tensor<3x4xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %1 = gv.conj %x : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
  %2 = gv.sum %1 {axes = array<i64: 0>, keepdims = true} : (tensor<3x4xcomplex<f32>>) -> tensor<1x4xcomplex<f32>>
  func.return %0, %2 : tensor<3xcomplex<f32>>, tensor<1x4xcomplex<f32>>
}

// ->
// func.func @sums(%x: tensor<3x4xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<1x4xcomplex<f32>>) {
//   %0 = gv.words %x : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xi64>
//   %1 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %2 = gv.shift_right %0, %1 : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi64>
//   %3 = gv.cast %0 {dtype = #gv.dtype<i32>} : (tensor<3x4xi64>) -> tensor<3x4xi32>
//   %4 = gv.bitcast %3 {dtype = #gv.dtype<f32>} : (tensor<3x4xi32>) -> tensor<3x4xf32>
//   %5 = gv.cast %2 {dtype = #gv.dtype<i32>} : (tensor<3x4xi64>) -> tensor<3x4xi32>
//   %6 = gv.bitcast %5 {dtype = #gv.dtype<f32>} : (tensor<3x4xi32>) -> tensor<3x4xf32>
//   %7 = gv.pairs %x : (tensor<3x4xcomplex<f32>>) -> tensor<3x4x2xf32>
//   %8 = gv.sum %7 {axes = array<i64: 1>} : (tensor<3x4x2xf32>) -> tensor<3x2xf32>
//   %9 = gv.of_pairs %8 : (tensor<3x2xf32>) -> tensor<3xcomplex<f32>>
//   %10 = gv.neg %6 : (tensor<3x4xf32>) -> tensor<3x4xf32>
//   %11 = gv.sum %4 {axes = array<i64: 0>, keepdims = true} : (tensor<3x4xf32>) -> tensor<1x4xf32>
//   %12 = gv.sum %10 {axes = array<i64: 0>, keepdims = true} : (tensor<3x4xf32>) -> tensor<1x4xf32>
//   %13 = gv.bitcast %11 {dtype = #gv.dtype<i32>} : (tensor<1x4xf32>) -> tensor<1x4xi32>
//   %14 = gv.bitcast %12 {dtype = #gv.dtype<i32>} : (tensor<1x4xf32>) -> tensor<1x4xi32>
//   %15 = gv.cast %13 {dtype = #gv.dtype<i64>} : (tensor<1x4xi32>) -> tensor<1x4xi64>
//   %16 = gv.cast %14 {dtype = #gv.dtype<i64>} : (tensor<1x4xi32>) -> tensor<1x4xi64>
//   %17 = gv.constant {value = #gv.array<i64, "", [4294967295]>} : () -> tensor<i64>
//   %18 = gv.bitwise_and %15, %17 : (tensor<1x4xi64>, tensor<i64>) -> tensor<1x4xi64>
//   %19 = gv.constant {value = #gv.array<i64, "", [32]>} : () -> tensor<i64>
//   %20 = gv.shift_left %16, %19 : (tensor<1x4xi64>, tensor<i64>) -> tensor<1x4xi64>
//   %21 = gv.bitwise_or %18, %20 : (tensor<1x4xi64>, tensor<1x4xi64>) -> tensor<1x4xi64>
//   %22 = gv.of_words %21 : (tensor<1x4xi64>) -> tensor<1x4xcomplex<f32>>
//   func.return %9, %22 : tensor<3xcomplex<f32>>, tensor<1x4xcomplex<f32>>
// }
