"""An observer that looks on while an agent works, without holding it up, and steers it back (Wink, section 3)."""
