"""Other libraries' interfaces over Kleene's engines."""
