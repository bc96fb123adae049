"""Training by TensorFlow's names: optimisers, rates, losses, averages, and what is saved."""
