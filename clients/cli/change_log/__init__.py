"""The change log: ``contractlog changes`` lists it; ``contractlog journal`` verifies and exports it."""
