"""What changes the catalogue."""
