"""Time of ``contractlog --help``, as a ratio to an interpreter that does nothing.

`check` of 500 files (goal: three seconds) is in check_folder.py, `lint` of 500 files (goal: two seconds) in lint.py.

python benchmarks/command_start.py [--rounds 20]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

COMMANDS = {
    "an interpreter alone": [sys.executable, "-c", ""],
    "contractlog --help": [sys.executable, "-m", "contractlog.clients.cli.main", "--help"],
    "contractlog check --help": [sys.executable, "-m", "contractlog.clients.cli.main", "check", "--help"],
}


def main() -> None:
    """Run the commands in turn, and print the medians, the best times and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(options.rounds):
        for name, command in COMMANDS.items():
            start_time = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times[name].append(1000 * (time.perf_counter() - start_time))
    alone = min(times["an interpreter alone"])
    for name, each in times.items():
        best = min(each)
        print(f"{name:26} {statistics.median(each):6.1f} ms, best {best:6.1f} ms, {best / alone:4.1f} times the first")


if __name__ == "__main__":
    main()
