// test:

// What a region is given is a tensor that there is.
func.func @branch(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.if %p, %x ({ // error: region 0: argument 0: element type i256 is not a gravure element type
  ^bb0(%a: tensor<2xi256>):
    gv.yield %a : (tensor<2xi256>) -> () // error: element type i256
  }, {
  ^bb0(%a: tensor<2xf32>):
    gv.yield %a : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----
func.func @function(%x: tensor<2xi256>) -> tensor<2xi256> { // error: region 0: argument 0: element type i256
  func.return %x : tensor<2xi256>
}
