"""What is measured by hand: ``python -m benchmarks.<name>``."""
