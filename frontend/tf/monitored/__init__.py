"""Training that is watched: sessions that start, save and stop by themselves, and their hooks."""
