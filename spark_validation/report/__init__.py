"""Report of an audit: ``report.html``, made from ``report.json``."""
