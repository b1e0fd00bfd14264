"""Data contracts: audit outcomes, mergeable audit states and their report; pure."""
