"""Random draws that repeat until a number fits: the host makes them, by TensorFlow's sequences."""
