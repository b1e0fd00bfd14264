"""Results of audits as plain values: outcome codes, mergeable states, reports.

Does no I/O, and imports only ``compatibility``. To add an outcome code, follow "an outcome
code" in ``docs/architecture.md``.
"""
