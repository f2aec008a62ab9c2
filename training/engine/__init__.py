"""The training process: ``python -m training.engine``. No Django, no database."""
