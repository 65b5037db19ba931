"""Results of calls, and the proof that they are right."""
