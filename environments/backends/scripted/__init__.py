"""A world of coloured squares, drawn without a browser: for tests and demos."""
