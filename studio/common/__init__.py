"""The floor of the house: the few helpers that every app may use."""
