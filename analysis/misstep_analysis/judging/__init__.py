"""How good a judge is: its verdicts against people's labels. `scores.score` is the way in."""
