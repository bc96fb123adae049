"""Operations by TensorFlow's names, one family a file."""
