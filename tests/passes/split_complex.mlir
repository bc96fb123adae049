// test: split-complex
// What is given and what is returned lie in memory: the parts of each number side by side.
func.func @sum(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = gv.add %x, %y : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  func.return %0 : tensor<4xcomplex<f32>>
}

// ->
// func.func @sum(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
//   %0 = gv.pairs %y : (tensor<4xcomplex<f32>>) -> tensor<4x2xf32>
//   %1 = gv.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 4, 1>} : (tensor<4x2xf32>) -> tensor<4x1xf32>
//   %2 = gv.reshape %1 {shape = array<i64: 4>} : (tensor<4x1xf32>) -> tensor<4xf32>
//   %3 = gv.slice %0 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>, stops = array<i64: 4, 2>} : (tensor<4x2xf32>) -> tensor<4x1xf32>
//   %4 = gv.reshape %3 {shape = array<i64: 4>} : (tensor<4x1xf32>) -> tensor<4xf32>
//   %5 = gv.pairs %x : (tensor<4xcomplex<f32>>) -> tensor<4x2xf32>
//   %6 = gv.slice %5 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 4, 1>} : (tensor<4x2xf32>) -> tensor<4x1xf32>
//   %7 = gv.reshape %6 {shape = array<i64: 4>} : (tensor<4x1xf32>) -> tensor<4xf32>
//   %8 = gv.slice %5 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>, stops = array<i64: 4, 2>} : (tensor<4x2xf32>) -> tensor<4x1xf32>
//   %9 = gv.reshape %8 {shape = array<i64: 4>} : (tensor<4x1xf32>) -> tensor<4xf32>
//   %10 = gv.add %7, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %11 = gv.add %9, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %12 = gv.reshape %10 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
//   %13 = gv.reshape %11 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
//   %14 = gv.concat %12, %13 {axis = 1 : i64} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
//   %15 = gv.of_pairs %14 : (tensor<4x2xf32>) -> tensor<4xcomplex<f32>>
//   func.return %15 : tensor<4xcomplex<f32>>
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
//   %2 = gv.reshape %1 {shape = array<i64>} : (tensor<1xf64>) -> tensor<f64>
//   %3 = gv.slice %0 {starts = array<i64: 1>, steps = array<i64: 1>, stops = array<i64: 2>} : (tensor<2xf64>) -> tensor<1xf64>
//   %4 = gv.reshape %3 {shape = array<i64>} : (tensor<1xf64>) -> tensor<f64>
//   %5 = gv.mul %2, %2 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %6 = gv.mul %4, %4 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %7 = gv.sub %5, %6 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %8 = gv.mul %2, %4 : (tensor<f64>, tensor<f64>) -> tensor<f64>
//   %9 = gv.mul %4, %2 : (tensor<f64>, tensor<f64>) -> tensor<f64>
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
//   %0 = gv.pairs %z : (tensor<complex<f32>>) -> tensor<2xf32>
//   %1 = gv.slice %0 {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 1>} : (tensor<2xf32>) -> tensor<1xf32>
//   %2 = gv.reshape %1 {shape = array<i64>} : (tensor<1xf32>) -> tensor<f32>
//   %3 = gv.slice %0 {starts = array<i64: 1>, steps = array<i64: 1>, stops = array<i64: 2>} : (tensor<2xf32>) -> tensor<1xf32>
//   %4 = gv.reshape %3 {shape = array<i64>} : (tensor<1xf32>) -> tensor<f32>
//   %5, %6, %7 = gv.while %n, %2, %4 ({
//   ^bb0(%a: tensor<i64>, %8: tensor<f32>, %9: tensor<f32>):
//     %10 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %11 = gv.greater %a, %10 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//     gv.yield %11 : (tensor<i1>) -> ()
//   }, {
//   ^bb0(%c: tensor<i64>, %12: tensor<f32>, %13: tensor<f32>):
//     %14 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
//     %15 = gv.sub %c, %14 : (tensor<i64>, tensor<i64>) -> tensor<i64>
//     %16 = gv.neg %13 : (tensor<f32>) -> tensor<f32>
//     gv.yield %15, %12, %16 : (tensor<i64>, tensor<f32>, tensor<f32>) -> ()
//   }) {carried = 3 : i64} : (tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<i64>, tensor<f32>, tensor<f32>)
//   %17 = gv.reshape %6 {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
//   %18 = gv.reshape %7 {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
//   %19 = gv.concat %17, %18 {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
//   %20 = gv.of_pairs %19 : (tensor<2xf32>) -> tensor<complex<f32>>
//   func.return %20 : tensor<complex<f32>>
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
//   %0 = gv.pairs %x : (tensor<2xcomplex<f32>>) -> tensor<2x2xf32>
//   %1 = gv.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2, 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32>
//   %2 = gv.reshape %1 {shape = array<i64: 2>} : (tensor<2x1xf32>) -> tensor<2xf32>
//   %3 = gv.slice %0 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>, stops = array<i64: 2, 2>} : (tensor<2x2xf32>) -> tensor<2x1xf32>
//   %4 = gv.reshape %3 {shape = array<i64: 2>} : (tensor<2x1xf32>) -> tensor<2xf32>
//   %5, %6 = gv.if %p, %2, %4 ({
//   ^bb0(%7: tensor<2xf32>, %8: tensor<2xf32>):
//     gv.yield %7, %8 : (tensor<2xf32>, tensor<2xf32>) -> ()
//   }, {
//   ^bb0(%9: tensor<2xf32>, %10: tensor<2xf32>):
//     %11 = gv.neg %9 : (tensor<2xf32>) -> tensor<2xf32>
//     %12 = gv.neg %10 : (tensor<2xf32>) -> tensor<2xf32>
//     gv.yield %11, %12 : (tensor<2xf32>, tensor<2xf32>) -> ()
//   }) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
//   %13 = gv.reshape %5 {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
//   %14 = gv.reshape %6 {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
//   %15 = gv.concat %13, %14 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
//   %16 = gv.of_pairs %15 : (tensor<2x2xf32>) -> tensor<2xcomplex<f32>>
//   func.return %16 : tensor<2xcomplex<f32>>
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
