"""The report's pictures, as SVG text: each works without scripts, in dark and light, and printed in grey."""
