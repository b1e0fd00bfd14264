"""Quality rules of topics: as values, evaluated by the results of an audit, or inferred from them.

``odcs_reader.py`` and ``odcs_writer.py`` are for files with quality rules alone, ``<topic>.quality.yaml``, in the form
of ODCS. Whole contracts are in ``contracts/odcs/``, which imports this package, never the other way round.
"""
