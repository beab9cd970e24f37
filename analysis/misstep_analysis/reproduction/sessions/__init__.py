"""Sessions looked at: one page of many, two side by side, and a folder that is watched."""
