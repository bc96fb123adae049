"""What passes ask about a program: pure functions that two passes or more use."""
