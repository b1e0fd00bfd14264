"""Charts of the report as SVG, which work without scripts, in light and dark mode, and in print."""
