"""Commands of the studio: ``manage.py …``."""
