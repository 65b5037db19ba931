"""What the engine has never heard of, for tests of it: a form of a graph and a sink.

They show what such a thing needs, and that no line of the library has to know of it. Workers of a
cluster import them from here.
"""
