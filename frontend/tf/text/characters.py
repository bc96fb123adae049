"""Texts as characters: `tf.strings.unicode_*`."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ....lazy import cached_property
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT, Text, Texts
from ..core.bridge import TfTensor
from ..core.host_ops import each, host, like_input, texts, unknown
from ..core.values import InvalidShapesError
from ..ragged.planning import with_levels
from ..ragged.rows import splits_of
from ..ragged.tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph
from .pieces import Lists, OfMany, Parts, array, in_rows, texts_of

OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
"""By the names that TensorFlow has for encodings of results: Python's."""
SEPARATOR = b"\0"
LAST_CONTROL, LAST = 0x1F, 0x10FFFF
CONTROL = chr(LAST_CONTROL)
HIGH = 0xF0
"""The least byte that begins a character of UTF-8 which has four of them, and two of UTF-16."""

MARKS = {
    "utf-16": {codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF16_LE: "utf-16-le"},
    "utf-32": {codecs.BOM_UTF32_BE: "utf-32-be", codecs.BOM_UTF32_LE: "utf-32-le"},
}
"""What the texts of an encoding begin with, by which the order of their bytes is known."""


class CharacterReading:
    """How bytes are read as characters, and what becomes of those that are none."""

    def __init__(
        self, encoding: str, errors: str, replacement_char: int, replace_control: bool = False
    ) -> None:
        if errors not in ("strict", "replace", "ignore"):
            raise InvalidShapesError(
                f'Attr \'errors\': Op passed string {errors!r} not in: "strict", "replace", '
                '"ignore". It is not in the list of allowed values'
            )
        self.encoding, self.errors = encoding, errors
        self.replacement, self.replaces_control = replacement_char, replace_control

    @cached_property
    def codec(self) -> str:
        """Return Python's name of the encoding, or raise: in the run, as there."""
        return codec_of(self.encoding)

    @cached_property
    def marks(self) -> dict[bytes, str]:
        """Return what texts begin with that say the order of their bytes."""
        codec_of(self.encoding)
        return MARKS.get(codecs.lookup(OUTPUTS.get(self.encoding, self.encoding)).name, {})

    def check(self) -> None:
        """Raise where what stands for characters that are none is none itself."""
        if not 0 <= self.replacement <= LAST:
            raise InvalidArgumentError(
                f"replacement_char out of unicode codepoint range: {self.replacement}"
            )

    def order(self, text: bytes) -> tuple[str, int]:
        """Return in which order of bytes a text is, and where it begins: behind what says so."""
        mark = next((mark for mark in self.marks if text.startswith(mark)), b"")
        return self.marks.get(mark, self.codec), len(mark)

    def characters(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Give the number of each character, and the byte where it begins."""
        self.check()
        codec, at = self.order(text)
        while at < len(text):
            begin = at
            try:
                part, wrong = text[at:].decode(codec), None
                at = len(text)
            except UnicodeDecodeError as error:
                part, wrong = text[at : at + error.start].decode(codec), at + error.start
                at += error.end
            for character in part:
                number = ord(character)
                if self.replaces_control and number <= LAST_CONTROL:
                    yield from self.wrong(begin)
                else:
                    yield number, begin
                begin += len(character.encode(codec))
            if wrong is not None:
                yield from self.wrong(wrong)

    def many(self, texts: Texts) -> tuple[Array, Array, Array] | None:
        """Return the characters of texts, where they begin, and how many each text has.

        None: it is no UTF-8, or some bytes are no character.
        """
        whole, begins = self.whole(texts), splits_of(texts.sizes)
        if whole is None:
            return None
        numbers = np.frombuffer(whole.encode("utf-32-le"), "<i4")
        places = np.flatnonzero(begins_character(texts.every))
        counts = np.diff(np.searchsorted(places, begins))
        return numbers, places - np.repeat(begins[:-1], counts), counts

    def whole(self, texts: Texts) -> str | None:
        """Return texts one behind the other, None as said above."""
        self.check()
        every = texts.every
        if self.codec != "utf-8" or (self.replaces_control and (every <= LAST_CONTROL).any()):
            return None
        if not begins_character(every[texts.begins[texts.sizes > 0]]).all():
            return None
        try:
            return every.tobytes().decode()
        except UnicodeDecodeError:
            return None

    @cached_property
    def is_plain(self) -> bool:
        """Say whether a text has no marks and no characters that are replaced; raise as `check`."""
        self.check()
        return not self.marks and not self.replaces_control

    def one(self, text: bytes) -> str | None:
        """Return a text, None if some bytes are no character or what is wanted for one is not."""
        try:
            if self.is_plain:
                return text.decode(self.codec)
            codec, begin = self.order(text)
            made = text[begin:].decode(codec)
        except UnicodeDecodeError:
            return None
        return None if self.replaces_control and min(made, default=" ") <= CONTROL else made

    def wrong(self, at: int) -> Iterator[tuple[int, int]]:
        """Give what stands for bytes that are no character."""
        if self.errors == "strict":
            raise InvalidArgumentError("Invalid formatting on input string")
        if self.errors == "replace":
            yield self.replacement, at


def begins_character(every: Array) -> Array:
    """Say of each byte of UTF-8 whether it begins a character."""
    return np.asarray(every & 0b11000000 != 0b10000000)


def codec_of(encoding: str) -> str:
    """Return Python's name of an encoding."""
    try:
        name = codecs.lookup(OUTPUTS.get(encoding, encoding)).name
    except LookupError:
        raise InvalidArgumentError(
            f"Could not create converter for input encoding: {encoding}"
        ) from None
    return {"utf-16": "utf-16-be", "utf-32": "utf-32-be"}.get(name, name)


def output_of(encoding: str) -> str:
    """Return Python's name of an encoding of results, of which there are three."""
    if encoding not in OUTPUTS:
        raise InvalidShapesError(
            f"Attr 'output_encoding': Op passed string {encoding!r} not in the list of allowed "
            f"values: {', '.join(OUTPUTS)}"
        )
    return OUTPUTS[encoding]


def _decoded(
    input: object,
    reading: CharacterReading,
    name: str | None,
    *,
    split: str | None = None,
) -> list[Ragged]:
    """Return characters, as numbers or as texts of an encoding, and where they begin."""
    first = kinds.i32 if split is None else TEXT
    with same_graph(input):
        function = Characters(reading, split)
        return in_rows(
            "UnicodeDecode",
            texts_of(input, type_="UnicodeDecode"),
            function,
            [first, kinds.i64],
            name,
        )


@dataclass(frozen=True)
class Characters(OfMany):
    """Cuts a text into characters, as numbers or as texts of an encoding, and where they begin."""

    reading: CharacterReading
    split: str | None

    def __call__(self, text: bytes) -> Lists:
        """Return those of a text."""
        found = list(self.reading.characters(text))
        offsets = [at for _, at in found]
        numbers = [number for number, _ in found]
        return numbers if self.split is None else [encoded(n, self.split) for n in numbers], offsets

    def many(self, texts: Texts) -> Parts | None:
        """Return those of many texts."""
        found = self.reading.many(texts)
        if found is None:
            return None
        numbers, offsets, counts = found
        if self.split is None:
            return [numbers, offsets], counts
        there = np.flatnonzero(np.bincount(numbers, minlength=1))
        table = np.empty(int(there.max(initial=0)) + 1, object)
        table[there] = array([encoded(number, self.split) for number in there.tolist()], TEXT)
        return [table[numbers], offsets], counts


def encoded(number: int, codec: str) -> bytes:
    """Return a character as bytes."""
    return chr(number).encode(codec, "surrogatepass")


def unicode_decode(
    input: object,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Ragged:
    """Return the numbers of the characters of each text."""
    how = CharacterReading(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded(input, how, name)[0]


def unicode_decode_with_offsets(
    input: object,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Ragged, Ragged]:
    """Return the numbers of the characters of each text, and the bytes where they begin."""
    how = CharacterReading(input_encoding, errors, replacement_char, replace_control_characters)
    numbers, offsets = _decoded(input, how, name)
    return numbers, offsets


def unicode_split(
    input: object,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Ragged:
    """Return the characters of each text as texts of the same encoding."""
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char, name)[0]


def unicode_split_with_offsets(
    input: object,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Ragged, Ragged]:
    """Return the characters of each text as texts, and the bytes where they begin."""
    how = CharacterReading(input_encoding, errors, replacement_char)
    made, offsets = _decoded(input, how, name, split=output_of(input_encoding))
    return made, offsets


def written(numbers: Sequence[int], codec: str, errors: str, replacement: int) -> bytes:
    """Return characters as a text."""
    made = []
    for number in numbers:
        if 0 <= number <= LAST and not 0xD800 <= number <= 0xDFFF:
            made.append(encoded(number, codec))
        elif errors == "strict":
            raise InvalidArgumentError("Code point is out of range for Unicode, or a noncharacter.")
        elif errors == "replace":
            made.append(encoded(replacement, codec))
    return b"".join(made)


def are_characters(numbers: Array) -> bool:
    """Say whether all numbers are those of characters."""
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    halves = high >= 0xD800 and ((numbers >= 0xD800) & (numbers <= 0xDFFF)).any()
    return bool(low >= 0 and high <= LAST and not halves)


def unicode_encode(
    input: object,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Ragged:
    """Return rows of characters as texts."""
    codec = output_of(output_encoding)
    how = CharacterReading("UTF-8", errors, replacement_char)
    with same_graph(input):
        x = ragged_or_tensor(input)
        if x.dtype.name != "int32":
            raise TypeError(f"input must be of type int32, found {x.dtype.name}")
        rank = x.shape.rank
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 1 and isinstance(x, TfTensor):

            def of_one(numbers: Array) -> Sequence[Array]:
                how.check()
                found = written(numbers.tolist(), codec, how.errors, how.replacement)
                return (texts([found]).reshape(()),)

            return host("UnicodeEncode", of_one, [x], [unknown(TEXT)], name=name)[0]
        rows = with_levels(x, rank - 1)
        assert isinstance(rows, RaggedTensor), "there are rows"
        made = _outer(rows, codec, how, name)
        if isinstance(x, TfTensor):
            return made.to_tensor() if isinstance(made, RaggedTensor) else made
        return made


def _outer(x: RaggedTensor, codec: str, how: CharacterReading, name: str | None) -> Ragged:
    """Return the texts of the innermost rows."""
    if isinstance(x.values, RaggedTensor):
        return x.with_values(_outer(x.values, codec, how, name))

    def compute(numbers: Array, splits: Array) -> Sequence[Array]:
        how.check()
        ends: list[int] = splits.tolist()
        if are_characters(numbers):
            whole = numbers.astype("<u4").tobytes().decode("utf-32-le")
            found = [whole[i:j].encode(codec) for i, j in pairwise(ends)]
        else:
            every: list[int] = numbers.tolist()
            found = [
                written(every[i:j], codec, how.errors, how.replacement) for i, j in pairwise(ends)
            ]
        return (array(found, TEXT),)

    spec = unknown(TEXT, x.shape.as_list()[0])
    return host("UnicodeEncode", compute, [x.values, x.row_splits], [spec], name=name)[0]


def unicode_transcode(
    input: object,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Ragged:
    """Return texts in another encoding."""
    compute = _transcoding(
        input_encoding, output_encoding, errors, replacement_char, replace_control_characters
    )
    with same_graph(input):
        x = texts_of(input, type_="UnicodeTranscode")
        flat = x.flat_values if isinstance(x, RaggedTensor) else x
        made = host("UnicodeTranscode", compute, [flat], _LIKE_INPUT, reads_text=True, name=name)[0]
        return x.with_flat_values(made) if isinstance(x, RaggedTensor) else made


_LIKE_INPUT = like_input(TEXT)


@lru_cache(maxsize=64)
def _transcoding(
    encoding: str, output: str, errors: str, replacement: int, replaces_control: bool
) -> Transcoding:
    """Return what brings texts to another encoding: one for all calls that ask for the same."""
    how = CharacterReading(encoding, errors, replacement, replaces_control)
    return Transcoding(how, output_of(output))


@dataclass(frozen=True)
class Transcoding:
    """Brings texts to another encoding."""

    reading: CharacterReading
    codec: str

    def __call__(self, values: Array | Text) -> Sequence[object]:
        """Return texts of the same shape."""
        if isinstance(values, Text) and values.is_long:
            row = transcoded(values.row, self.reading, self.codec)
            if row is not None:
                return (values.with_row(row),)
        array = np.asarray(values)
        made = self.of_few(array.ravel().tolist())
        return (each(self.of_one, array) if made is None else texts(made).reshape(array.shape),)

    def of_few(self, flat: list[bytes]) -> list[bytes] | None:
        """Return texts of UTF-8 read as one, None where one is something else."""
        if not (self.reading.is_plain and self.reading.codec == "utf-8"):
            return None
        try:
            whole = SEPARATOR.join(flat).decode()  # (which ends a character that is not whole)
        except UnicodeDecodeError:
            return None
        if self.codec == "utf-8":
            return flat
        made = [x.encode(self.codec) for x in whole.split(SEPARATOR.decode())]
        return made if len(made) == len(flat) else None

    @cached_property
    def of_one(self) -> Callable[[bytes], bytes]:
        """Return what does it to one text."""
        read, codec = self.reading.one, self.codec

        def function(text: bytes) -> bytes:
            whole = read(text)
            if whole is not None:
                return whole.encode(codec, "surrogatepass")
            return b"".join([encoded(number, codec) for number, _ in self.reading.characters(text)])

        return function


def transcoded(texts: Texts, reading: CharacterReading, codec: str) -> Texts | None:
    """Return many texts in another encoding, None where some have to be looked at."""
    whole = reading.whole(texts)
    if whole is None or codec == "utf-8":
        return None if whole is None else texts
    sizes = texts.characters() * (4 if codec == "utf-32-be" else 2)
    if codec == "utf-16-be" and texts.every.max(initial=0) >= HIGH:
        before = splits_of(texts.every >= HIGH)
        sizes = sizes + 2 * (before[texts.ends] - before[texts.begins])
    return Texts(np.frombuffer(whole.encode(codec), np.uint8), sizes)
