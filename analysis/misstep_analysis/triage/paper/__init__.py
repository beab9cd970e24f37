"""AutoTriage: whose fault a failed run is, by annotators and by judges."""
