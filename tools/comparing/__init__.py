"""What results are compared with: `judges` give those of others, `tensors` all that is inside."""
