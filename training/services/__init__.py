"""What writes: one module per thing that changes, keyword-only functions."""
