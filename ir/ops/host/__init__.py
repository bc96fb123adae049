"""Operations that a host carries out between compiled code."""
