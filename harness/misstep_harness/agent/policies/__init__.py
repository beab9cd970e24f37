"""What decides an agent's next command: a model, a recorded run, a script that misbehaves on purpose."""
