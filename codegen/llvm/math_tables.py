"""Coefficients of the device math; `tools/fit_polynomials.py` prints this file.

Polynomials are given from their lowest power, for each precision: float, double, and `wide`,
which is computed in double for a result in float.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


def _read(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))


Table = Mapping[str, tuple[float, ...]]


class Lookup(NamedTuple):
    """An odd function f of floats as 32 or 8 polynomials: f(x) = f(c) + d p(d), where d = x - c.

    The first has c = 0, and is f(x) = x + x p(x).
    """

    offset: float
    shift: int
    """The bits of x + offset, shifted right by this, end in the number of x's polynomial."""
    end: float
    """From here on f has the value that it has here."""
    rows: tuple[tuple[float, ...], ...]
    """For each polynomial c, f(c), and its coefficients, from the lowest power."""


HALF_PI: Table = {
    "float": _read("""0x1.921fb4p+0 0x1.4442d0p-24 0x1.84698ap-48"""),
    "double": _read("""0x1.921fb54442d18p+0 0x1.1a62633145c06p-54 0x1.c1cd129024e09p-107"""),
}
"""pi/2 in parts."""
HALF_PI_SHORT: Table = {
    "float": _read("""0x1.920000p+0 0x1.fb4000p-12 0x1.444000p-24 0x1.68c234p-39"""),
    "double": _read("""0x1.921fb5p+0 0x1.110b46p-26 0x1.1a6263p-54 0x1.8a2e03707344ap-81"""),
}
"""pi/2 in parts of few bits, whose products with a count are exact without FMA."""
TURNS: Table = {
    "double": _read(
        """0x1.45f306dc9c882p+197 0x1.4a7f09d5f47d4p+144 0x1.a6ee06db14accp+91
        0x1.3c439041fe516p+38 0x1.d5ef5de2b0db9p-17 0x1.1b8e909374b80p-72
        0x1.924bba8274648p-128 0x1.cfe1deb1cb129p-182 0x1.4e7dd1046bea5p-235
        0x1.aed1213a671c0p-288 0x1.35a2fbf209cc8p-341 0x1.d639835339f49p-394
        0x1.908bf177bf250p-447 0x1.d8ffc4bffef02p-501 0x1.980fef2f118b5p-554
        0x1.414da3eda6cfdp-607 0x1.3c9f2c26dd3d1p-660 0x1.1fb34f2ff516bp-713
        0x1.527bac7ebe5f1p-766 0x1.ecf41ce7de294p-820 0x1.497535fdafd88p-873
        0x1.f8d5d08560330p-926"""
    ),
}
"""2^200 / (2 pi) in pieces, as many as the exponents of doubles need."""
LN2: Table = {
    "float": _read("""0x1.62e400p-1 0x1.7f7d1cp-20"""),
    "double": _read("""0x1.62e42fefa3800p-1 0x1.ef35793c76730p-45"""),
}
"""ln(2) in two parts; an exponent times the first is exact, and both are positive."""
LN2_LONG: Table = {
    "double": _read("""0x1.62e42fefa3800p-1 0x1.ef35793c76000p-45 0x1.cc01f97b57a08p-87"""),
}
"""ln(2) in three parts; an exponent times the first or the second is exact."""
TWO_THIRDS: Table = {
    "double": _read("""0x1.5555555555555p-1 0x1.5555555555555p-55"""),
}
"""2/3 in two parts."""
LOG2_E: Table = {
    "float": _read("""0x1.715476p+0 0x1.4ae0c0p-26"""),
    "double": _read("""0x1.71547652b82fep+0 0x1.777d0ffda0d24p-56"""),
}
"""1 / ln(2) in two parts."""
LOG10_E: Table = {
    "float": _read("""0x1.bcb7b0p-2 0x1.526e50p-26"""),
    "double": _read("""0x1.bcb7b1526e50ep-2 0x1.95355baaafad3p-57"""),
}
"""1 / ln(10) in two parts."""
LOG10_2: Table = {
    "float": _read("""0x1.344000p-2 0x1.3509f8p-18"""),
    "double": _read("""0x1.34413509f7800p-2 0x1.fef311f12b358p-46"""),
}
"""log10(2) in two parts; an exponent times the first is exact."""
EXPM1: Table = {
    # greatest error 2^-27.7
    "float": _read("""0x1.000000p-1 0x1.55548ep-3 0x1.55545ep-5 0x1.123b56p-7 0x1.6db42ap-10"""),
    # greatest error 2^-56.5
    "double": _read(
        """0x1.000000000000bp-1 0x1.5555555555561p-3 0x1.5555555550031p-5
        0x1.111111110d630p-7 0x1.6c16c185a721dp-10 0x1.a01a01bae4e8ep-13
        0x1.a0199694412a4p-16 0x1.71dddfc710628p-19 0x1.28b048a17fb73p-22
        0x1.af858db6e4b49p-26"""
    ),
    # greatest error 2^-34.3
    "wide": _read(
        """0x1.00000042eabfep-1 0x1.555555980dbaap-3 0x1.5554805869a2dp-5
        0x1.11107cde6a678p-7 0x1.6d96832aea39ap-10 0x1.a1b81a2c183f0p-13"""
    ),
}
"""e^r is 1 + r + r^2 times this, |r| <= ln(2)/2."""
EXPM1_HALF: Table = {
    # greatest error 2^-26.0
    "float": _read(
        """0x1.000002p-1 0x1.555552p-3 0x1.555298p-5 0x1.111320p-7 0x1.6ee6bep-10
        0x1.a047d0p-13"""
    ),
    # greatest error 2^-57.6
    "double": _read(
        """0x1.000000p-1 0x1.5555555555556p-3 0x1.55555555555dcp-5 0x1.1111111110f3fp-7
        0x1.6c16c16bf43bap-10 0x1.a01a01a0951d5p-13 0x1.a01a021865a74p-16
        0x1.71de397d035cap-19 0x1.27e430d34cd6fp-22 0x1.ae65797672d49p-26
        0x1.203429056258cp-29 0x1.612ae857f27e0p-33"""
    ),
}
"""The same for |r| <= 1/2, with an error relative to e^r - 1."""
SINH: Table = {
    # greatest error 2^-27.5
    "float": _read("""0x1.555556p-3 0x1.111134p-7 0x1.9ffe92p-13 0x1.7a15b4p-19"""),
    # greatest error 2^-56.8
    "double": _read(
        """0x1.5555555555555p-3 0x1.1111111111111p-7 0x1.a01a01a019fc1p-13
        0x1.71de3a5573f79p-19 0x1.ae6456741b913p-26 0x1.61246afa2c9cbp-33
        0x1.ae756e99ccc2cp-41 0x1.9a7940c35f816p-49"""
    ),
}
"""sinh(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1."""
SIN: Table = {
    # greatest error 2^-27.7
    "float": _read("""-0x1.555544p-3 0x1.1106d4p-7 -0x1.9920c2p-13"""),
    # greatest error 2^-56.6
    "double": _read(
        """-0x1.5555555555547p-3 0x1.111111110f529p-7 -0x1.a01a019ba67b4p-13
        0x1.71de351a0bf77p-19 -0x1.ae5e1c5079820p-26 0x1.5d7d6afcdf333p-33"""
    ),
}
"""sin(x) is x + x^3 times this, as a polynomial in x^2, |x| <= pi/4."""
COS: Table = {
    # greatest error 2^-30.2
    "float": _read("""0x1.55554ap-5 -0x1.6c0bc4p-10 0x1.99cb82p-16"""),
    # greatest error 2^-59.3
    "double": _read(
        """0x1.5555555555549p-5 -0x1.6c16c16c14c8ap-10 0x1.a01a019c3747cp-16
        -0x1.27e4f7b23b3a2p-22 0x1.1ee9b0b818fd1p-29 -0x1.8f9025f6f9480p-37"""
    ),
}
"""cos(x) is 1 - x^2 / 2 + x^4 times this, as a polynomial in x^2, |x| <= pi/4."""
TAN: Table = {
    # greatest error 2^-27.7
    "float": _read(
        """0x1.555562p-2 0x1.110d02p-3 0x1.baf53ap-5 0x1.5ba3d0p-6 0x1.689d54p-7
        -0x1.0f033cp-13 0x1.26005ep-8"""
    ),
    # greatest error 2^-58.4
    "double": _read(
        """0x1.5555555555561p-2 0x1.111111111025fp-3 0x1.ba1ba1baede64p-5
        0x1.664f485330693p-6 0x1.226e3bc297e8bp-7 0x1.d6d2b371b2e1dp-9
        0x1.7db472d904d6bp-10 0x1.349f59e9319aep-11 0x1.0063a58d44bf4p-12
        0x1.56535037825e5p-14 0x1.28c19e6217da3p-14 -0x1.f8da367037670p-16
        0x1.b727180f09a07p-15 -0x1.b611a71ab6b43p-16 0x1.567e674d4b629p-17"""
    ),
}
"""tan(x) is x + x^3 times this, as a polynomial in x^2, |x| <= pi/4."""
TANH: Table = {
    # greatest error 2^-27.8
    "float": _read("""-0x1.55554ap-2 0x1.110d26p-3 -0x1.b9287cp-5 0x1.593d0cp-6 -0x1.9b3060p-8"""),
    # greatest error 2^-58.8
    "double": _read(
        """-0x1.5555555555555p-2 0x1.11111111110b1p-3 -0x1.ba1ba1ba143e8p-5
        0x1.664f488077ed6p-6 -0x1.226e34f41f8c0p-7 0x1.d6d3b83a677ebp-9
        -0x1.7da17a98761b5p-10 0x1.353e12ec944f2p-11 -0x1.f392838c21569p-13
        0x1.8a218eb0c7335p-14 -0x1.148b84cbf83acp-15 0x1.f3e4fb39e9152p-18"""
    ),
}
"""tanh(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 0.55."""
ERF: Table = {
    # greatest error 2^-27.3
    "float": _read(
        """0x1.06eba8p-3 -0x1.81273ep-2 0x1.ce2cf6p-4 -0x1.b7f908p-6 0x1.540588p-8
        -0x1.a3f5bep-11 0x1.496696p-14"""
    ),
    # greatest error 2^-54.9
    "double": _read(
        """0x1.06eba8214db68p-3 -0x1.812746b0379bdp-2 0x1.ce2f21a040d0ep-4
        -0x1.b82ce311fa731p-6 0x1.565bccf926e53p-8 -0x1.c02db03d2f815p-11
        0x1.f9a2ba9910de3p-14 -0x1.f4ca4c769fe56p-17 0x1.b97fca2011c97p-20
        -0x1.5c06ea8d46a93p-23 0x1.d71967d575237p-27 -0x1.aba9498cc2705p-31"""
    ),
}
"""erf(x) is x + x times this, as a polynomial in x^2, |x| <= 1."""
LOG_ERFC: Table = {
    # greatest error 2^-27.0
    "float": _read(
        """-0x1.575b32p+2 -0x1.1ac320p+2 -0x1.d8f62ap-1 -0x1.0e20a2p-6 0x1.d07a52p-9
        -0x1.75abd0p-11 0x1.852cd0p-13"""
    ),
    # greatest error 2^-54.1
    "double": _read(
        """-0x1.575b329b1f510p+2 -0x1.1ac3258a8dbcfp+2 -0x1.d8f5dece92b34p-1
        -0x1.0dc3b5fc0b951p-6 0x1.d406b36e792f8p-9 -0x1.7ffcfa28761f2p-11
        0x1.1bc3ac072414ap-13 -0x1.5b65e57c61a06p-16 0x1.05fe41ad7ccb4p-19
        0x1.b5a49f405b752p-23 -0x1.733f4e121bf73p-23 0x1.ef658ae7d1930p-25
        -0x1.e90febe70f318p-27 0x1.68112883aa2f7p-29 -0x1.4ed2b49fc1570p-33
        -0x1.7223faee0168bp-34 0x1.3220af8478a0fp-36"""
    ),
}
"""ln(1 - erf(x)), as a polynomial in x - 2, from 1 to where erf is 1."""
POW: Table = {
    # greatest error 2^-66.1
    "double": _read(
        """0x1.9999999999b2fp-2 0x1.2492492457f50p-2 0x1.c71c722d3ca40p-3
        0x1.745ce9f101e72p-3 0x1.3b1ee9b1fb193p-3 0x1.0f801dd7f188bp-3
        0x1.0e40dcf08801dp-3"""
    ),
}
"""ln((1 + s) / (1 - s)) is 2 s + s^3 (2/3 + z times this), with z = s^2."""
CUBE_ROOT: Table = {
    # greatest error 2^-14.7
    "float": _read("""0x1.e963e6p+0 -0x1.01c81cp+1 0x1.ca9206p+0 -0x1.b59f98p-1 0x1.53547ap-3"""),
    # greatest error 2^-14.7
    "double": _read(
        """0x1.dfd87b61c4c1dp+0 -0x1.dc7e9de6a381fp+0 0x1.8f7b9ff9ed6bcp+0
        -0x1.675509f4e048dp-1 0x1.069bd76af9861p-3"""
    ),
}
"""1 / cbrt(m) nearly, from 2/3 to 4/3, of doubles from 0.7 to 1.42."""
ASIN: Table = {
    # greatest error 2^-27.4
    "float": _read("""0x1.5555c8p-3 0x1.3301e4p-4 0x1.747e4cp-5 0x1.8c283ap-6 0x1.596d26p-5"""),
    # greatest error 2^-55.8
    "double": _read(
        """0x1.5555555555390p-3 0x1.333333336e7c2p-4 0x1.6db6db427cdc8p-5
        0x1.f1c72c3844b63p-6 0x1.6e89f44f5c11ap-6 0x1.1c6be0d57497bp-6
        0x1.c6fdd08087225p-7 0x1.8ec2a23fa6f3cp-7 0x1.abd2381518242p-8
        0x1.3ff2d2a3f5854p-6 -0x1.09d06c8f57da8p-6 0x1.056c884ec38b7p-5"""
    ),
}
"""asin(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1/2."""
ATAN: Table = {
    # greatest error 2^-27.8
    "float": _read(
        """-0x1.555552p-2 0x1.9996ecp-3 -0x1.244accp-3 0x1.c02488p-4 -0x1.47070ap-4
        0x1.3d38bcp-5"""
    ),
    # greatest error 2^-58.5
    "double": _read(
        """-0x1.5555555555555p-2 0x1.99999999998f4p-3 -0x1.249249248d11dp-3
        0x1.c71c71c474bb4p-4 -0x1.745d16df06bc9p-4 0x1.3b13a723f0c35p-4
        -0x1.11106368f1046p-4 0x1.e1d15a0a5a0f1p-5 -0x1.ae9705c4528cap-5
        0x1.827509a606a0ap-5 -0x1.5336374e0882fp-5 0x1.0ea632a434c58p-5
        -0x1.4eec85cb837e4p-6 0x1.c6692cfe14b82p-8"""
    ),
    # greatest error 2^-40.6
    "wide": _read(
        """-0x1.55555550f79c2p-2 0x1.99999519296ffp-3 -0x1.24917d3411a69p-3
        0x1.c6f94ccc32109p-4 -0x1.72ab5f055049dp-4 0x1.2ea54a339d742p-4
        -0x1.b3f705c44ef28p-5 0x1.81b2e007c2b3cp-6"""
    ),
}
"""atan(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1/2."""
LOG: Table = {
    # greatest error 2^-27.4
    "float": _read(
        """0x1.555506p-2 -0x1.fffef0p-3 0x1.99d028p-3 -0x1.559dccp-3 0x1.1ed726p-3
        -0x1.f31140p-4 0x1.1e6674p-3 -0x1.08057cp-3"""
    ),
    # greatest error 2^-27.3
    "float-512": _read(
        """0x1.555528p-2 -0x1.000084p-2 0x1.99b68cp-3 -0x1.554046p-3 0x1.21c5cep-3
        -0x1.fceaf4p-4 0x1.fb255ep-4 -0x1.e6ae86p-4 0x1.f0e908p-5"""
    ),
    # greatest error 2^-59.2
    "double": _read(
        """0x1.5555555555592p-1 0x1.999999997fea9p-2 0x1.24924941e48f7p-2
        0x1.c71c5213029b0p-3 0x1.74663d0a8f1c7p-3 0x1.39a1e8258f458p-3
        0x1.2f03b3bad07dcp-3"""
    ),
    # greatest error 2^-61.2
    "double-512": _read(
        """0x1.555555555554fp-1 0x1.999999999c0d4p-2 0x1.24924921ede1fp-2
        0x1.c71c74876a0e7p-3 0x1.745c4cc7b147bp-3 0x1.3b3582daea167p-3
        0x1.0dcf9a4aa0a82p-3 0x1.1b66ae25991a3p-3"""
    ),
    # greatest error 2^-37.6
    "wide": _read(
        """0x1.555554fdda03fp-1 0x1.999a7a2b4d931p-2 0x1.2438ecc730f97p-2
        0x1.e2f38e2120eacp-3"""
    ),
    # greatest error 2^-35.4
    "wide-512": _read(
        """0x1.55555423cf889p-1 0x1.999bd9de91f84p-2 0x1.23e9f4954cf1fp-2
        0x1.ed83dc2a135d4p-3"""
    ),
}
"""ln(1 + f) is f - f^2/2 + f^3 times this, |f| <= 1/3 (with AVX-512 up to 1/2); of doubles,
with s = f / (2 + f) and z = s^2, it is f - h + s (h + z times this), h = f^2/2."""
TANH_LOOKUPS = {
    # greatest error 2^-25.3
    16: Lookup(
        0.625,
        20,
        9.37,
        (
            _read(
                """0x1.8002aap+0 0x1.bfff90p+0 0x1.fffaa4p+0 0x1.1ffe24p+1 0x1.3ffdeep+1
                0x1.600230p+1 0x1.7ffd52p+1 0x1.9ffd2cp+1 0x1.d001c8p+1 0x1.080016p+2
                0x1.27ff24p+2 0x1.48027ap+2 0x1.680320p+2 0x1.87fce0p+2 0x1.a80320p+2
                0x1.c7fce0p+2 0x1.f7fce0p+2 0x1.1be866p+3 0x0p+0 0x1.8001eap-4 0x1.40023ap-3
                0x1.bffda6p-3 0x1.1ffe3ap-2 0x1.600068p-2 0x1.c0023cp-2 0x1.1ffcecp-1
                0x1.5ffe5ap-1 0x1.9ffd40p-1 0x1.e0029ap-1 0x1.0ffe9cp+0 0x1.3000eep+0
                0x1.5002bep+0"""
            ),
            _read(
                """0x1.cf708ep-1 0x1.e1fbe0p-1 0x1.ed9444p-1 0x1.f4bf84p-1 0x1.f9254ap-1
                0x1.fbd52ep-1 0x1.fd77b6p-1 0x1.fe7668p-1 0x1.ff45fcp-1 0x1.ffbb88p-1
                0x1.ffe6cep-1 0x1.fff6bcp-1 0x1.fffc98p-1 0x1.fffebep-1 0x1.ffff8ap-1
                0x1.ffffd4p-1 0x1.fffff6p-1 0x1.fffffep-1 0x0p+0 0x1.7ee2e8p-4 0x1.3d6df4p-3
                0x1.b8fac6p-3 0x1.18a1f6p-2 0x1.52c322p-2 0x1.a5747ap-2 0x1.050628p-1
                0x1.3156d0p-1 0x1.57877cp-1 0x1.77d96cp-1 0x1.92bea4p-1 0x1.a8dc60p-1
                0x1.bad66cp-1"""
            ),
            _read(
                """0x1.720f72p-3 0x1.d22dd8p-4 0x1.216e10p-4 0x1.641a06p-5 0x1.b3bce0p-6
                0x1.099e0ap-6 0x1.435704p-7 0x1.88ffbep-8 0x1.73b578p-9 0x1.11c288p-10
                0x1.930590p-12 0x1.28712cp-13 0x1.b4346ap-15 0x1.41310ep-16 0x1.d8481ep-18
                0x1.5bc058p-19 0x1.35a0d2p-21 0x1.510df6p-24 -0x1.10828cp-26 0x1.fb86aap-1
                0x1.f3b334p-1 0x1.e84308p-1 0x1.d98baap-1 0x1.c7f704p-1 0x1.a944f8p-1
                0x1.7aed40p-1 0x1.49e80ep-1 0x1.1981dep-1 0x1.d8315ep-2 0x1.8664c4p-2
                0x1.3ee54cp-2 0x1.01f6e4p-2"""
            ),
            _read(
                """-0x1.4ef6d6p-3 -0x1.b6d9fep-4 -0x1.1704a6p-4 -0x1.5c4708p-5 -0x1.ade806p-6
                -0x1.0774d6p-6 -0x1.41bdf6p-7 -0x1.87d212p-8 -0x1.73335ep-9 -0x1.11a19cp-10
                -0x1.92f74cp-12 -0x1.286f80p-13 -0x1.b436d2p-15 -0x1.4134fcp-16 -0x1.d84d72p-18
                -0x1.5bc556p-19 -0x1.35deb6p-21 -0x1.5151dap-24 0x1.107616p-17 -0x1.7b89e8p-4
                -0x1.35cda2p-3 -0x1.a488acp-3 -0x1.038e26p-2 -0x1.2dafd4p-2 -0x1.5e0fd0p-2
                -0x1.825cf2p-2 -0x1.897d58p-2 -0x1.79c204p-2 -0x1.5aa0b6p-2 -0x1.331682p-2
                -0x1.089f2cp-2 -0x1.be3c62p-3"""
            ),
            _read(
                """0x1.6777acp-4 0x1.02056ap-4 0x1.59c4f6p-5 0x1.bd1f22p-6 0x1.17d1d4p-6
                0x1.5ac3aap-7 0x1.aa4daap-8 0x1.049f7ap-8 0x1.f529cap-10 0x1.722968p-11
                0x1.10c23ap-12 0x1.91687ap-14 0x1.275f06p-15 0x1.b30280p-17 0x1.3fd2c2p-18
                0x1.d6fe62p-20 0x1.b81444p-22 0x1.dec056p-25 -0x1.55ff9ep-2 -0x1.495500p-2
                -0x1.34fe34p-2 -0x1.1820c8p-2 -0x1.e8fbaep-3 -0x1.9843c8p-3 -0x1.16eda0p-3
                -0x1.bee68cp-5 0x1.cd6594p-7 0x1.05e5e0p-4 0x1.832982p-4 0x1.bcee04p-4
                0x1.c4a41ep-4 0x1.abaf3ep-4"""
            ),
            _read(
                """-0x1.95ff68p-6 -0x1.8082c4p-6 -0x1.25300ep-6 -0x1.945daep-7 -0x1.0848b8p-7
                -0x1.4f18ccp-8 -0x1.a16aecp-9 -0x1.013ed4p-9 -0x1.f12e62p-11 -0x1.708e78p-12
                -0x1.0feafcp-13 -0x1.90854cp-15 -0x1.26cb3ep-16 -0x1.b1e2c2p-18 -0x1.3f3a52p-19
                -0x1.d5caf0p-21 -0x1.b4a63ep-23 -0x1.dae2a0p-26 0x1.109422p-6 0x1.ee7844p-5
                0x1.8cbf4ep-4 0x1.045b18p-3 0x1.32b3f0p-3 0x1.4fe9ecp-3 0x1.5b6404p-3
                0x1.39fd82p-3 0x1.e99162p-4 0x1.478c48p-4 0x1.639fd2p-5 0x1.db65fep-7
                -0x1.6b37e0p-8 -0x1.212bfcp-6"""
            ),
        ),
    ),
    # greatest error 2^-24.7
    8: Lookup(
        1.024999976158142,
        22,
        9.2,
        (
            _read(
                """0x1.799ca0p+0 0x1.3ccc3ep+1 0x1.0b3274p+2 0x1.8b3654p+2 0x1.09eea6p+3 0x0p+0
                0x0p+0 0x1.7335e6p-1"""
            ),
            _read(
                """0x1.cd1304p-1 0x1.f8cc20p-1 0x1.ffc20ap-1 0x1.fffedep-1 0x1.fffffcp-1 0x0p+0
                0x0p+0 0x1.3d71e4p-1"""
            ),
            _read(
                """0x1.8324fep-3 0x1.c9b9fcp-6 0x1.ef700cp-11 0x1.225d42p-16 0x1.03a25ep-22 0x0p+0
                0x1.48c316p-26 0x1.3b2e60p-1"""
            ),
            _read(
                """-0x1.5ca212p-3 -0x1.c348e4p-6 -0x1.ef3fbcp-11 -0x1.226224p-16 -0x1.03ad18p-22
                0x0p+0 -0x1.02a4eep-18 -0x1.86d4c0p-2"""
            ),
            _read(
                """0x1.71d5e2p-4 0x1.245b7cp-6 0x1.4b6e10p-11 0x1.854258p-17 0x1.5da9e8p-23 0x0p+0
                -0x1.55342cp-2 0x1.019654p-5"""
            ),
            _read(
                """-0x1.9359e6p-6 -0x1.13c328p-7 -0x1.49a4eap-12 -0x1.83ea46p-18 -0x1.5bad00p-24
                0x0p+0 -0x1.9581c4p-10 0x1.b96bf8p-4"""
            ),
            _read(
                """-0x1.f3d912p-9 0x1.856878p-9 0x1.e9a74cp-14 0x1.1e8664p-19 0x1.ed0260p-26
                0x0p+0 0x1.233644p-3 -0x1.048042p-4"""
            ),
            _read(
                """0x1.0cbc2cp-7 -0x1.735d9ap-11 -0x1.69018ap-15 -0x1.ac3636p-21 -0x1.801224p-27
                0x0p+0 -0x1.98d572p-6 -0x1.8f7faep-8"""
            ),
            _read(
                """-0x1.03d2eap-8 0x1.995346p-15 0x1.404386p-16 0x1.913f3ep-22 0x1.83f1e0p-28
                0x0p+0 -0x1.8a7ebep-6 0x1.805254p-6"""
            ),
        ),
    ),
}
"""tanh, for 16 and for 8 lanes."""
ERF_LOOKUPS = {
    # greatest error 2^-26.1
    16: Lookup(
        1.3125,
        19,
        3.93,
        (
            _read(
                """0x1.7ffd0ap-1 0x1.c0027ap-1 0x1.000238p+0 0x1.2000c2p+0 0x1.4001f8p+0
                0x1.5ffe1ep+0 0x1.8001c0p+0 0x1.a00288p+0 0x1.c0029cp+0 0x1.e0013ap+0
                0x1.ffff20p+0 0x1.0fff16p+1 0x1.20028cp+1 0x1.3000bep+1 0x1.3ffce2p+1
                0x1.4fff60p+1 0x1.67fddcp+1 0x1.87fff4p+1 0x1.a80320p+1 0x1.c7fce0p+1
                0x1.e7883ep+1 0x0p+0 0x1.8002bap-4 0x1.3ffd12p-3 0x1.c0028ep-3 0x1.200252p-2
                0x1.600288p-2 0x1.a0028ap-2 0x1.dffe88p-2 0x1.1000e4p-1 0x1.2ffd38p-1
                0x1.4ffcf8p-1"""
            ),
            _read(
                """0x1.6c1ab0p-1 0x1.917396p-1 0x1.af7852p-1 0x1.c6db4ep-1 0x1.d8874cp-1
                0x1.e575e8p-1 0x1.eea5c0p-1 0x1.f4f6fcp-1 0x1.f92d4ep-1 0x1.fbe634p-1
                0x1.fd9ad8p-1 0x1.fea416p-1 0x1.ff405ap-1 0x1.ff9964p-1 0x1.ffcaa2p-1
                0x1.ffe514p-1 0x1.fff6dep-1 0x1.fffe0ep-1 0x1.ffffa2p-1 0x1.fffff0p-1
                0x1.fffffep-1 0x0p+0 0x1.b00b1ep-4 0x1.6626d2p-3 0x1.f1936ap-3 0x1.3c9d14p-2
                0x1.7e181ep-2 0x1.bcd25ap-2 0x1.f86e56p-2 0x1.185668p-1 0x1.32a318p-1
                0x1.4b1138p-1"""
            ),
            _read(
                """0x1.493126p-1 0x1.0ca926p-1 0x1.a90aa8p-2 0x1.45e784p-2 0x1.e45bfep-3
                0x1.5cecb8p-3 0x1.e71988p-4 0x1.4992b2p-4 0x1.b045b4p-5 0x1.12c9a6p-5
                0x1.529ffcp-6 0x1.946e14p-7 0x1.d3e97ap-8 0x1.0689a6p-8 0x1.1da4e2p-9
                0x1.2ceef8p-10 0x1.b2370cp-12 0x1.8f9ef0p-14 0x1.44744cp-16 0x1.d1d0e0p-19
                0x1.2edbb2p-21 0x1.06eba6p-3 0x1.1e5652p+0 0x1.19e608p+0 0x1.135e0ap+0
                0x1.0ae4f8p+0 0x1.00ab60p+0 0x1.e9d4acp-1 0x1.cfc4bep-1 0x1.b3aa2ep-1
                0x1.9618eep-1 0x1.7794a4p-1"""
            ),
            _read(
                """-0x1.edc5dap-2 -0x1.d62a90p-2 -0x1.a90e50p-2 -0x1.6ea564p-2 -0x1.2ebb5ap-2
                -0x1.dfc2eep-3 -0x1.6d54dcp-3 -0x1.0bc8e2p-3 -0x1.7a3f58p-4 -0x1.019ddcp-4
                -0x1.529fb4p-5 -0x1.adb406p-6 -0x1.073600p-6 -0x1.37c4c8p-7 -0x1.650b92p-8
                -0x1.8afa0cp-9 -0x1.315e5cp-10 -0x1.320d5ep-12 -0x1.0ccd40p-14 -0x1.9f16cap-17
                -0x1.208e22p-19 0x1.ce367ap-18 -0x1.ad841cp-4 -0x1.605c34p-3 -0x1.e1e73ep-3
                -0x1.2c43fcp-2 -0x1.60ee28p-2 -0x1.8dff36p-2 -0x1.b2c71ap-2 -0x1.cee654p-2
                -0x1.e23930p-2 -0x1.eceea4p-2"""
            ),
            _read(
                """0x1.b26df8p-6 0x1.7b4edap-4 0x1.1ab574p-3 0x1.4c17d0p-3 0x1.56a422p-3
                0x1.432888p-3 0x1.1c01aap-3 0x1.d65070p-4 0x1.716250p-4 0x1.14745ap-4
                0x1.8b94cep-5 0x1.0f2abap-5 0x1.64b0b6p-6 0x1.c33862p-7 0x1.12b3f4p-7
                0x1.41e034p-8 0x1.11d210p-9 0x1.2fbfb6p-11 0x1.24c3dcp-13 0x1.eca7bap-16
                0x1.71af72p-18 -0x1.81b7a6p-2 -0x1.76f0fcp-2 -0x1.656432p-2 -0x1.4be8c2p-2
                -0x1.2b77eap-2 -0x1.0546a6p-2 -0x1.b56e84p-3 -0x1.5a956cp-3 -0x1.f9ffaep-4
                -0x1.3f87aap-4 -0x1.163e66p-5"""
            ),
            _read(
                """0x1.3460bap-3 0x1.cc508cp-4 0x1.1ba3c4p-4 0x1.cc3e46p-6 -0x1.8a4bf2p-8
                -0x1.f15df8p-6 -0x1.6c57fep-5 -0x1.968bd6p-5 -0x1.899140p-5 -0x1.59f3e6p-5
                -0x1.1a1f5ap-5 -0x1.b0098ap-6 -0x1.38ea72p-6 -0x1.aeee2cp-7 -0x1.1b159ap-7
                -0x1.63b56ep-8 -0x1.4abc98p-9 -0x1.99b10ep-11 -0x1.b35120p-13 -0x1.8f0e7ep-15
                -0x1.442c46p-17 0x1.cde736p-7 0x1.a6d6a4p-5 0x1.5972c6p-4 0x1.d1aedap-4
                0x1.1c1938p-3 0x1.44dad6p-3 0x1.61fa58p-3 0x1.72e72cp-3 0x1.77a5fep-3
                0x1.70c2fap-3 0x1.5f4e0ep-3"""
            ),
        ),
    ),
    # greatest error 2^-24.9
    8: Lookup(
        4.775000095367432,
        20,
        3.93,
        (
            _read(
                """0x1.c9eea6p+1 0x0p+0 0x1.e66662p-2 0x1.f33378p-1 0x1.7999e4p+0 0x1.f9983cp+0
                0x1.3ccad4p+1 0x1.7cc9acp+1"""
            ),
            _read(
                """0x1.fffff2p-1 0x0p+0 0x1.fe3758p-2 0x1.aa0416p-1 0x1.ed10ccp-1 0x1.fd539cp-1
                0x1.ffc30ap-1 0x1.fffc9cp-1"""
            ),
            _read(
                """0x1.a39302p-19 0x1.06eba8p-3 0x1.cd09e8p-1 0x1.be9554p-2 0x1.065f2ap-3
                0x1.7603d8p-6 0x1.436c58p-9 0x1.534cb4p-13"""
            ),
            _read(
                """-0x1.76c518p-17 -0x1.139272p-21 -0x1.b5fc78p-2 -0x1.b36b84p-2 -0x1.83000cp-3
                -0x1.715626p-5 -0x1.903916p-8 -0x1.f8aae4p-12"""
            ),
            _read(
                """0x1.a380dcp-16 -0x1.812046p-2 -0x1.51591cp-3 0x1.0c374cp-3 0x1.251f16p-3
                0x1.a80e24p-5 0x1.2f2d0cp-7 0x1.d76b24p-11"""
            ),
            _read(
                """-0x1.5b7978p-15 -0x1.0b1b1ap-11 0x1.7403a4p-3 0x1.3f1ffep-4 -0x1.5c811ep-5
                -0x1.279c2cp-5 -0x1.3497e6p-7 -0x1.34ea28p-10"""
            ),
            _read(
                """0x1.01dd30p-14 0x1.e03796p-4 0x1.f35794p-7 -0x1.165108p-4 -0x1.2b5606p-6
                0x1.9bf2c8p-7 0x1.b0386cp-8 0x1.34f9d4p-10"""
            ),
            _read(
                """-0x1.e8822cp-15 -0x1.20f030p-6 -0x1.9609f2p-5 0x1.1b2628p-10 0x1.437ffep-6
                0x1.5245a8p-10 -0x1.74a9b6p-9 -0x1.b1738ep-11"""
            ),
        ),
    ),
}
"""erf, for 16 and for 8 lanes."""
