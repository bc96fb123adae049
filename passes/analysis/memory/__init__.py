"""What passes ask about memory: who lives when, and who shares a place with whom."""
