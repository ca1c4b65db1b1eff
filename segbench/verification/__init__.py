"""What segbench promises, derived anew: the papers' numbers, its own identities, BSDS500, published curves."""
