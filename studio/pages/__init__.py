"""Pages of the studio itself: home, signing in, settings."""
