"""Recovery from misbehaviour: after guidance, without it, and the difference that is the effect of guidance."""
