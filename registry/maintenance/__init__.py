"""Commands of ``contractlog db`` that change id counters, contexts and audit results."""
