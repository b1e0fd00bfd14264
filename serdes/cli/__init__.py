"""``contractlog produce`` and ``contractlog consume``: topics to and from JSON lines and Avro files."""
