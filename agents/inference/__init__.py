"""Inference workers, and everything that speaks to them."""
