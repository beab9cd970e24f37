"""The reflexive loop: planner, worker, evaluator, reflector and strategist around a target that the worker may break.

Each mechanism is a property of the loop: it holds whatever agent, tool or skill takes part.
Source: "Failure Modes in Reflexive Agent Harnesses" (version 0.1).
"""
