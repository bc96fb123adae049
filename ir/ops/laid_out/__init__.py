"""Operations whose operands passes have laid out for a kernel: packed, blocked, transformed."""
