"""Settings: one module for every process, one for the tests."""
