"""The audit's result as report.json and report.html."""
