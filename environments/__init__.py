"""Worlds to act in. The ground floor: imports nothing of ours but ``studio.common``."""
