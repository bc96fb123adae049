"""What programs have around their graphs: flags, messages, tests."""
