"""Pages of runs, trajectories and data sets: they read by selectors, act by services."""
