"""A generated study: sessions over five weeks with two versions of an agent, misbehaviours planted at stated rates."""
