"""Results of audits as plain values: outcome codes, mergeable states, reports.

Pure, like ``compatibility``, the only folder that it imports. A new outcome code: ``audit/outcomes.py``.
"""
