"""The test failure bot: from a failing test in a git repository to a task with its trace, blamed change and owner."""
