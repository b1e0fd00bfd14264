"""The change log: entries in order and without gaps, served with long polling and sent to webhooks."""
