"""An observer that looks on while an agent works, without holding it up, and steers it back (Wink, section 3).

Every k steps a detector (`detectors`) is shown the run so far. `state` takes a bounded part of its answer and decides
with `episodes` whether the problem is still there and was spoken of; `guidance` words what is said, filled from
the `evidence`. The `observer` of a live run asks a detector in a process of its own (`detector_process`); `replay` puts
a recorded run before the same state, `follow` a session that grows, and `hook` the events of a coding agent.
"""
