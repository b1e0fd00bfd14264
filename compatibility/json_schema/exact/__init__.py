"""Policy EXACT: every document valid under the writer is valid under the reader, proven or refuted.

``W`` is contained in ``R`` if and only if no document is valid under ``W`` and invalid under ``R``. So a pair becomes a
*goal*: a set of constraints on one value, each to be satisfied or to be violated. A goal is split by the value's type
and along every disjunction until it is unsatisfiable (no such value exists) or remains open; members and items of the
value become sub-goals. For an open goal a value is constructed, and only a value that the evaluator confirms on both
sides counts as a refutation; everything else that remains open is undecided.
"""
