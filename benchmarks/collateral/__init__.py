"""How much planted damage the rules of `collateral` see, and how often they see some that is not there."""
