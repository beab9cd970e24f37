"""Look on while an agent works, without holding it up, and steer it back (Wink, section 3)."""
