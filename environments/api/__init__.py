"""The HTTP API of tasks, suites and slots."""
