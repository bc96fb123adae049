"""Coefficients of the device math, as `tools/accuracy/fit_polynomials.py` prints them.

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
EXP2_NEAR: Table = {
    # greatest error 2^-23.1
    "float": _read("""0x1.62e42ap-1 0x1.ebf9bcp-3 0x1.c6b752p-5 0x1.3cea86p-7 0x1.5bba1cp-10"""),
}
"""2^f is 1 + f times this, |f| <= 1/2, some units in the last place off."""
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
}
"""atan(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1/2."""
ATAN_TO_ONE: Table = {
    # greatest error 2^-36.5
    "wide": _read(
        """-0x1.5555552f2821ap-2 0x1.9999846c584f2p-3 -0x1.24903922c8553p-3
        0x1.c6e85ae09b6e4p-4 -0x1.72d63093dd6f6p-4 0x1.33a16dda40fcbp-4
        -0x1.f02fa11828b7ap-5 0x1.69ea5f6a444adp-5 -0x1.b2f59e8643e7ap-6
        0x1.81f6a27d5ff12p-7 -0x1.b402ba7b1c8c7p-9 0x1.ce1a21d203d61p-12"""
    ),
}
"""atan(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1."""
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
                """0x1.7f042ap+0 0x1.be7c50p+0 0x1.fee048p+0 0x1.1f80cep+1 0x1.404960p+1
                0x1.60b8dep+1 0x1.7fd2d2p+1 0x1.9f97dep+1 0x1.ced22ep+1 0x1.0886e4p+2
                0x1.27abbcp+2 0x1.47285ep+2 0x1.6717b6p+2 0x1.8883b0p+2 0x1.a8094ap+2
                0x1.c79a6ep+2 0x1.f7042ap+2 0x1.2bd70ap+3 0x0p+0 0x1.818d4cp-4 0x1.3cca7ep-3
                0x1.c391c8p-3 0x1.211808p-2 0x1.5e6166p-2 0x1.c043ecp-2 0x1.203158p-1
                0x1.619458p-1 0x1.9ec936p-1 0x1.e17fd6p-1 0x1.1074f2p+0 0x1.307a12p+0
                0x1.504586p+0"""
            ),
            _read(
                """0x1.cf1442p-1 0x1.e1a33cp-1 0x1.ed6c32p-1 0x1.f4a9a4p-1 0x1.f92d4cp-1
                0x1.fbe0f6p-1 0x1.fd7608p-1 0x1.fe73f8p-1 0x1.ff4282p-1 0x1.ffbca6p-1
                0x1.ffe68cp-1 0x1.fff67cp-1 0x1.fffc7ep-1 0x1.fffec4p-1 0x1.ffff8ap-1
                0x1.ffffd4p-1 0x1.fffff6p-1 0x1.000000p+0 0x0p+0 0x1.806ad2p-4 0x1.3a49d0p-3
                0x1.bc641ap-3 0x1.19a686p-2 0x1.51515ap-2 0x1.a5ab08p-2 0x1.052cf2p-1
                0x1.325beep-1 0x1.56dddap-1 0x1.7888d8p-1 0x1.9318bep-1 0x1.a927b6p-1
                0x1.baf80ap-1"""
            ),
            _read(
                """0x1.74ab8ap-3 0x1.d76480p-4 0x1.23d80ap-4 0x1.66c69cp-5 0x1.b1c342p-6
                0x1.06b232p-6 0x1.442cf2p-7 0x1.8b6de2p-8 0x1.7aa70cp-9 0x1.0d4be6p-10
                0x1.972502p-12 0x1.30717cp-13 0x1.c0ed42p-15 0x1.3bf3b2p-16 0x1.d7ed3ap-18
                0x1.5ff49ep-19 0x1.3f2572p-21 0x1.e7683ep-26 -0x1.10828cp-26 0x1.fb7d7ep-1
                0x1.f3f136p-1 0x1.e7e4a4p-1 0x1.d94420p-1 0x1.c87116p-1 0x1.a92e82p-1
                0x1.7ac5b0p-1 0x1.48b016p-1 0x1.1a6548p-1 0x1.d62dccp-2 0x1.854924p-2
                0x1.3deb28p-2 0x1.018292p-2"""
            ),
            _read(
                """-0x1.511020p-3 -0x1.bb71c8p-4 -0x1.194286p-4 -0x1.5ed6b0p-5 -0x1.abfaa8p-6
                -0x1.04930cp-6 -0x1.429264p-7 -0x1.8a3e46p-8 -0x1.7a3532p-9 -0x1.0d1d8ap-10
                -0x1.9723aep-12 -0x1.308826p-13 -0x1.c11686p-15 -0x1.3be65cp-16 -0x1.d7f160p-18
                -0x1.600718p-19 -0x1.3fea42p-21 -0x1.300b70p-25 0x1.107616p-17 -0x1.7d075cp-4
                -0x1.32e322p-3 -0x1.a7775cp-3 -0x1.0457bep-2 -0x1.2cb6fap-2 -0x1.5e2aa2p-2
                -0x1.826e0ep-2 -0x1.895916p-2 -0x1.7a379ep-2 -0x1.59c7ccp-2 -0x1.327c20p-2
                -0x1.07fe86p-2 -0x1.bd9512p-3"""
            ),
            _read(
                """0x1.690a80p-4 0x1.0449bap-4 0x1.5c4904p-5 0x1.c033fcp-6 0x1.169854p-6
                0x1.5701a8p-7 0x1.ab6354p-8 0x1.063568p-8 0x1.fe5de8p-10 0x1.6c057cp-11
                0x1.138cf2p-12 0x1.9c0824p-14 0x1.2fcec4p-15 0x1.abc7a4p-17 0x1.3f9460p-18
                0x1.dcaa10p-20 0x1.c5c012p-22 0x1.0b8cacp-29 -0x1.55ff9ep-2 -0x1.493d54p-2
                -0x1.359d20p-2 -0x1.173864p-2 -0x1.e7aa94p-3 -0x1.9a6430p-3 -0x1.169482p-3
                -0x1.bce2c6p-5 0x1.fe1da0p-7 0x1.02d386p-4 0x1.854010p-4 0x1.bd5e5ap-4
                0x1.c47ac2p-4 0x1.ab6452p-4"""
            ),
            _read(
                """-0x1.95e7f2p-6 -0x1.80ac58p-6 -0x1.25577ap-6 -0x1.949832p-7 -0x1.082ec2p-7
                -0x1.4ec848p-8 -0x1.a18454p-9 -0x1.016370p-9 -0x1.f204b4p-11 -0x1.6fff66p-12
                -0x1.102f70p-13 -0x1.91789ep-15 -0x1.278b32p-16 -0x1.b13930p-18 -0x1.3f3458p-19
                -0x1.d65450p-21 -0x1.b60026p-23 -0x1.d1b910p-26 0x1.109422p-6 0x1.ee96eep-5
                0x1.8c73bap-4 0x1.047892p-3 0x1.32c196p-3 0x1.4fdd9ap-3 0x1.5b638ep-3
                0x1.39f9a4p-3 0x1.e93eaep-4 0x1.47d49ap-4 0x1.631438p-5 0x1.da5c26p-7
                -0x1.6c9a66p-8 -0x1.2147a2p-6"""
            ),
        ),
    ),
    # greatest error 2^-24.6
    8: Lookup(
        1.024999976158142,
        22,
        9.2,
        (
            _read(
                """0x1.817ad8p+0 0x1.3e01aap+1 0x1.0e6624p+2 0x1.88ec12p+2 0x1.266666p+3 0x0p+0
                0x0p+0 0x1.6d33d8p-1"""
            ),
            _read(
                """0x1.cff7ccp-1 0x1.f8ee62p-1 0x1.ffc7f0p-1 0x1.fffec8p-1 0x1.000000p+0 0x0p+0
                0x0p+0 0x1.39b830p-1"""
            ),
            _read(
                """0x1.6e3b86p-3 0x1.c1480ep-6 0x1.c04de2p-11 0x1.37e72cp-16 0x1.66d8cep-25 0x0p+0
                0x1.48c316p-26 0x1.3fc60cp-1"""
            ),
            _read(
                """-0x1.4bdeeap-3 -0x1.bb1376p-6 -0x1.bff5a6p-11 -0x1.380490p-16 -0x1.07731ep-25
                0x0p+0 -0x1.02a4eep-18 -0x1.87df50p-2"""
            ),
            _read(
                """0x1.654f60p-4 0x1.1f314cp-6 0x1.2bd9eap-11 0x1.a20baap-17 0x1.138c66p-24 0x0p+0
                -0x1.55342cp-2 0x1.aedda2p-6"""
            ),
            _read(
                """-0x1.9b1e80p-6 -0x1.0f329ep-7 -0x1.2c6816p-12 -0x1.9ec28ap-18 0x1.a54a26p-25
                0x0p+0 -0x1.9581c4p-10 0x1.c8a62cp-4"""
            ),
            _read(
                """-0x1.37eeb0p-9 0x1.802990p-9 0x1.b8a790p-14 0x1.365c2cp-19 0x1.049e4cp-24
                0x0p+0 0x1.233644p-3 -0x1.02770ap-4"""
            ),
            _read(
                """0x1.e19ceap-8 -0x1.71a55cp-11 -0x1.31dceep-15 -0x1.ddde1cp-21 0x1.91a92ep-26
                0x0p+0 -0x1.98d572p-6 -0x1.06e690p-7"""
            ),
            _read(
                """-0x1.03ce38p-8 0x1.9916b8p-15 0x1.3e661ep-16 0x1.9309eap-22 0x1.7f64fap-28
                0x0p+0 -0x1.8a7ebep-6 0x1.80514ap-6"""
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
                """0x1.81a792p-1 0x1.c11578p-1 0x1.00c320p+0 0x1.20161cp+0 0x1.3f252ap+0
                0x1.60b506p+0 0x1.7f3158p+0 0x1.9f35d4p+0 0x1.c0042ap+0 0x1.df973ap+0
                0x1.ff4b9ep+0 0x1.1002bap+1 0x1.1fc90ep+1 0x1.2fdc46p+1 0x1.4064c4p+1
                0x1.506b7ep+1 0x1.6861b8p+1 0x1.87c2cep+1 0x1.a86c9ep+1 0x1.c7c0e2p+1
                0x1.f70a3ep+1 0x0p+0 0x1.859df6p-4 0x1.40ce56p-3 0x1.c27024p-3 0x1.208d9ep-2
                0x1.5e7210p-2 0x1.a191c8p-2 0x1.de7210p-2 0x1.0ff75ap-1 0x1.306b56p-1
                0x1.4f07b0p-1"""
            ),
            _read(
                """0x1.6d2c42p-1 0x1.92039ep-1 0x1.b017fep-1 0x1.c6e8e4p-1 0x1.d81e6ap-1
                0x1.e5b3fep-1 0x1.ee73f2p-1 0x1.f4d5e0p-1 0x1.f92d78p-1 0x1.fbdf12p-1
                0x1.fd9362p-1 0x1.fea444p-1 0x1.ff3eb4p-1 0x1.ff98cep-1 0x1.ffcb88p-1
                0x1.ffe592p-1 0x1.fff708p-1 0x1.fffe08p-1 0x1.ffffa4p-1 0x1.fffff0p-1
                0x1.000000p+0 0x0p+0 0x1.b6503ap-4 0x1.670d3ep-3 0x1.f42fdap-3 0x1.3d2e48p-2
                0x1.7c8664p-2 0x1.be5012p-2 0x1.f706f6p-2 0x1.184e4ap-1 0x1.32fa64p-1
                0x1.4a5d12p-1"""
            ),
            _read(
                """0x1.4795eap-1 0x1.0baccap-1 0x1.a68b00p-2 0x1.45aa5ep-2 0x1.e8736cp-3
                0x1.5a4116p-3 0x1.ebc398p-4 0x1.4ceebcp-4 0x1.b03c84p-5 0x1.147572p-5
                0x1.565a5ap-6 0x1.943d34p-7 0x1.d79eaap-8 0x1.07edd2p-8 0x1.19264ep-9
                0x1.27c346p-10 0x1.aad64ap-12 0x1.943586p-14 0x1.3d9d34p-16 0x1.d7ebc0p-19
                0x1.d4bc8ap-23 0x1.06eba6p-3 0x1.1e4360p+0 0x1.19dd06p+0 0x1.133962p+0
                0x1.0ad088p+0 0x1.00f044p+0 0x1.e9394ep-1 0x1.d06cecp-1 0x1.b3b2cep-1
                0x1.95b132p-1 0x1.7880bep-1"""
            ),
            _read(
                """-0x1.ed7f58p-2 -0x1.d590e2p-2 -0x1.a7cda6p-2 -0x1.6e7bd4p-2 -0x1.3076e4p-2
                -0x1.dd0edep-3 -0x1.700bf8p-3 -0x1.0dfe88p-3 -0x1.7a389cp-4 -0x1.02f5e6p-4
                -0x1.55e2dcp-5 -0x1.ad85c6p-6 -0x1.0917dep-6 -0x1.394708p-7 -0x1.5fdbacp-8
                -0x1.84a82ap-9 -0x1.2c6bb6p-10 -0x1.3573a0p-12 -0x1.073d64p-14 -0x1.a47d28p-17
                -0x1.075742p-20 0x1.ce367ap-18 -0x1.b3ac24p-4 -0x1.61374ap-3 -0x1.e44334p-3
                -0x1.2cbe24p-2 -0x1.5fbb04p-2 -0x1.8efe6ap-2 -0x1.b1fd2ap-2 -0x1.cedf42p-2
                -0x1.e26c86p-2 -0x1.ecbbb8p-2"""
            ),
            _read(
                """0x1.d2a18ep-6 0x1.7f30bap-4 0x1.1c6440p-3 0x1.4c2b66p-3 0x1.56d048p-3
                0x1.42783ap-3 0x1.1d2a74p-3 0x1.d8da56p-4 0x1.715d8ap-4 0x1.159230p-4
                0x1.8ea9b6p-5 0x1.0f1208p-5 0x1.66e0f6p-6 0x1.c52204p-7 0x1.0f17f8p-7
                0x1.3d2762p-8 0x1.0dbb1ep-9 0x1.32ddc4p-11 0x1.1f0f8cp-13 0x1.f2a324p-16
                0x1.ecf862p-21 -0x1.81b7a6p-2 -0x1.76a76cp-2 -0x1.654112p-2 -0x1.4b5bd4p-2
                -0x1.2b2acap-2 -0x1.0644bap-2 -0x1.b346e4p-3 -0x1.5cd3c4p-3 -0x1.fa37aap-4
                -0x1.3d0d10p-4 -0x1.20c132p-5"""
            ),
            _read(
                """0x1.343b06p-3 0x1.cc1032p-4 0x1.1b474ap-4 0x1.cc1746p-6 -0x1.85a060p-8
                -0x1.f1fef8p-6 -0x1.6c2b08p-5 -0x1.9683e0p-5 -0x1.899116p-5 -0x1.5a05e4p-5
                -0x1.1a410cp-5 -0x1.b006bep-6 -0x1.390e7cp-6 -0x1.af1288p-7 -0x1.1acc34p-7
                -0x1.634ca2p-8 -0x1.4a528ap-9 -0x1.9a1238p-11 -0x1.b2950cp-13 -0x1.8f8202p-15
                -0x1.3ec80ep-17 0x1.cde736p-7 0x1.a73206p-5 0x1.598268p-4 0x1.d1d90cp-4
                0x1.1c219ep-3 0x1.44c67ep-3 0x1.620658p-3 0x1.72e0eep-3 0x1.77a608p-3
                0x1.70bf20p-3 0x1.5f5dacp-3"""
            ),
        ),
    ),
    # greatest error 2^-25.2
    8: Lookup(
        4.775000095367432,
        20,
        3.93,
        (
            _read(
                """0x1.f70a3ep+1 0x0p+0 0x1.db5380p-2 0x1.f4e982p-1 0x1.78ec96p+0 0x1.f876aep+0
                0x1.3d3020p+1 0x1.7e0b48p+1"""
            ),
            _read(
                """0x1.000000p+0 0x0p+0 0x1.f43192p-2 0x1.aac280p-1 0x1.ece438p-1 0x1.fd4646p-1
                0x1.ffc408p-1 0x1.fffcd0p-1"""
            ),
            _read(
                """0x1.81fcf0p-23 0x1.06eba8p-3 0x1.d1bec0p-1 0x1.bbad6ep-2 0x1.086cb8p-3
                0x1.7c9794p-6 0x1.3e824cp-9 0x1.400548p-13"""
            ),
            _read(
                """-0x1.0530ccp-19 -0x1.139272p-21 -0x1.b0623ep-2 -0x1.b211ecp-2 -0x1.855446p-3
                -0x1.76fde0p-5 -0x1.8aa280p-8 -0x1.dd9970p-12"""
            ),
            _read(
                """-0x1.d59d9ep-18 -0x1.812046p-2 -0x1.61669ap-3 0x1.0e55b8p-3 0x1.260a46p-3
                0x1.ad4d12p-5 0x1.2b614cp-7 0x1.bfc66ep-11"""
            ),
            _read(
                """-0x1.4a09a4p-15 -0x1.0b1b1ap-11 0x1.72275ep-3 0x1.3a7712p-4 -0x1.5a8360p-5
                -0x1.29e372p-5 -0x1.3144cap-7 -0x1.261f20p-10"""
            ),
            _read(
                """-0x1.f14ac2p-15 0x1.e03796p-4 0x1.2e5362p-6 -0x1.164232p-4 -0x1.307198p-6
                0x1.9ac378p-7 0x1.acc76ep-8 0x1.281222p-10"""
            ),
            _read(
                """-0x1.e055aap-15 -0x1.20f030p-6 -0x1.9634eep-5 0x1.1f5dc8p-10 0x1.4391c2p-6
                0x1.53de14p-10 -0x1.7496a4p-9 -0x1.b0b868p-11"""
            ),
        ),
    ),
}
"""erf, for 16 and for 8 lanes."""
