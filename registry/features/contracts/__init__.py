"""Data contracts of topics."""
