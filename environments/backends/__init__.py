"""One package per world; ``environments.registry`` knows their names."""
