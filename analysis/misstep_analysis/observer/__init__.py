"""The observer: interventions, recovery, live experiments, and the tables of Wink."""
