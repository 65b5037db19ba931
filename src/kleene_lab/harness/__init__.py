"""The harness: what experiments are made of, the runner that measures them, and their records."""
