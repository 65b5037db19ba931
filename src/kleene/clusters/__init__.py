"""Runners on several machines."""
