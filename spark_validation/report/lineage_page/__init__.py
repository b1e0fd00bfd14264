"""The page of `contractlog lineage --format html`: the graph of topics, its layout, and the HTML."""
