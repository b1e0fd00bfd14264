"""``python -m contractlog.registry`` runs the registry, as ``contractlog serve`` does."""

import sys
from argparse import ArgumentParser

from contractlog.registry.cli import serve

if __name__ == "__main__":
    sys.exit(serve(ArgumentParser(prog="python -m contractlog.registry"), sys.argv[1:]))
