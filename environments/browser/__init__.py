"""A browser, driven over the raw DevTools protocol; knows nothing of tasks."""
