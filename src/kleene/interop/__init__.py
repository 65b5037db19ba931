"""Kleene under the interfaces of other libraries."""
