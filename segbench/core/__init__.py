"""What every package builds on: metrics, protocols, samples, counts that add, errors."""
