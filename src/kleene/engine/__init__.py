"""One engine under all calls: rows flow from a runner, in pieces, into a sink."""
