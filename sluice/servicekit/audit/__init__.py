"""The audit log: which person changed what, from where, and with what result.

A request writes up to three kinds of rows. The first is written before the work begins, so that
nothing happens unrecorded. Each transaction that commits a change adds one, in any service. The
last records the response. Rows are never changed, and a chain of digests reveals manipulation.
"""
