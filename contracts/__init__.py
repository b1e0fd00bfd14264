"""Values and logic that audits, registry and clients share.

These are audit results, data contracts, quality rules, rule language, encryption, lineage and change log.

Does no I/O, and imports only ``compatibility``. To add an outcome code, follow "an outcome
code" in ``docs/architecture.md``.
"""
