"""Data sets: reading what people have into the rows that runs learn from; no Django."""
