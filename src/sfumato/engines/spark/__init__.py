"""The Spark engine: shards of a table, each published by the same methods, joined as one release.

Spark schedules and moves bytes; everything that is done to rows is done by the code of the local
engine, in Python processes. No value of the data is ever an object of the JVM: not in a plan, not
in its logs.
"""
