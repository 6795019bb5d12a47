"""Training with differential privacy: what it will do and cost, what one unit contributes, and the order of it."""
