"""Judge whose fault a run is, with three kinds of access, and check runs that passed (AutoTriage)."""
