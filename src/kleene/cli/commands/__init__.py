"""The commands, by theme."""
