"""What may train: one rule per module, no I/O."""
