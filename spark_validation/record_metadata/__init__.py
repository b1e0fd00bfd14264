"""Facts of records beside their values: headers with producers and origins, timestamps, sizes."""
