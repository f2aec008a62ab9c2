"""Starts the processes of a studio on one machine, and sees to it that they live."""
