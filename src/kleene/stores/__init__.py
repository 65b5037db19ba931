"""Answers larger than memory, in checked blocks with a ledger."""
