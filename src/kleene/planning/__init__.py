"""What runs, on which device, in which type, with how much memory, and why."""
