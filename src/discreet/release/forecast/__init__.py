"""What would happen, told before it does: accuracy, explanations, outlooks on the budget, shares of a workload."""
