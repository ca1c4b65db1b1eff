"""The pixel protocol: soft maps against masks, for one class or many."""
