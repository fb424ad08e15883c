"""``make fuzz``: a campaign against every reader, and its table.

    PYTHONPATH=tests python -m fuzz --cases 1000000 --seconds 3600 --seed 0

Cases are numbered: the same seed and number give the same damaged file. The exit code is 1 if a
case failed.
"""

import argparse
import sys
import warnings

from fuzz import campaign
from fuzz.targets import targets


def main():
    names = [target.name for target in targets()]
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1_000_000, help="the most for each reader")
    parser.add_argument("--seconds", type=float, default=3600, help="for all readers together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", choices=names, help="only this one")
    arguments = parser.parse_args()
    chosen = [target for target in targets() if arguments.reader in (None, target.name)]
    # Warnings of scikit-learn about versions are no failures.
    warnings.simplefilter("ignore")
    print(campaign.HEADING)
    failures = []
    for target in chosen:
        target.samples()
        seconds = arguments.seconds / len(chosen)
        outcome = campaign.run(target, cases=arguments.cases, seed=arguments.seed, seconds=seconds)
        print(outcome.line(), flush=True)
        failures += outcome.failures
    print(*failures, sep="\n", file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
