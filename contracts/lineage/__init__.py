"""Lineage between datasets: edges by kind of evidence, and their form in OpenLineage events."""
