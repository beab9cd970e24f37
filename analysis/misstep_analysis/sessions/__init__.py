"""Sessions of agents: findings, prevalence, rates, costs, and the pages that show them."""
