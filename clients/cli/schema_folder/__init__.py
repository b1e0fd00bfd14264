"""Files of schemas in a folder: how they are found and read, their manifest, subjects and references.

Nothing here changes a registry. Commands read files through ``argument_files``. A new key of the manifest starts in
``manifest.schema.json``.
"""
