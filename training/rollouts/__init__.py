"""Driving a policy through an environment, and keeping what happened."""
