"""Answer formats: prompt text, parser and renderer together, so they cannot drift apart."""
