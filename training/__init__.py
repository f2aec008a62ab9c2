"""Learning: rollouts, rewards, curation, algorithms and the engine that joins them."""
