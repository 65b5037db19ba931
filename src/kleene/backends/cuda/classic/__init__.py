"""Methods of the literature that ``auto`` never chooses."""
