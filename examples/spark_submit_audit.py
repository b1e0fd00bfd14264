"""Run a command of contractlog with ``spark-submit``, which takes Python files only.

For example: ``spark-submit --master yarn spark_submit_audit.py audit 'shop-*' --out /shared/audit``.
"""

import sys

from contractlog.clients.cli.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
