"""Pictures of the report as SVG, which work without scripts, in dark and light, and printed in grey."""
