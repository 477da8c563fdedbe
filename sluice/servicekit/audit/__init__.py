"""What a service notes of people's requests that change something: who, what, from where, with
which outcome.

Three rows of one request: one before anything is done, so that nothing is done without; one in each
transaction that commits something for it, in whatever service; one with the answer. They are added
and never changed, and chained by their digests afterwards, so that a change by hand is found.
"""
