"""Who decides: a served model, or a scripted expert."""
