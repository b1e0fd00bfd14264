"""The policy EXACT: whatever was valid under the writer is valid under the reader, proven or refuted by a document.

``W`` is inside ``R`` exactly when no document is valid under ``W`` and invalid under ``R``. So a pair becomes a *goal*:
a set of demands on one value, each to be met or to be missed. A goal is split by the value's type and along every
disjunction until it is closed (no such value exists) or stays open; members and items of the value are goals below.
An open goal is filled with a value, and only a value that the evaluator confirms on both sides counts as a refusal;
everything else that stays open is undecided.
"""
