"""The Common Expression Language as the API server uses it: checked against a schema once, then run as closures.

An evaluator of our own, because no library carries the API server's dialect: two-variable macros, the Kubernetes
functions on quantities, addresses and URLs, lists that are equal in any order (``x-kubernetes-list-type``), fields of
declared types, and its error texts.
"""
