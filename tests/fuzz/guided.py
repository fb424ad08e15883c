"""Does guidance by coverage reach more of a reader than damage drawn from a seed?

    pip install atheris
    PYTHONPATH=tests python -m fuzz.guided --reader "Forest files" --seconds 60

Each way reads damaged files for the same processor time, in a process of its own: drawn from a
seed as in `make fuzz`; with the same damage to whatever atheris found to reach a new branch; and
with the damage that atheris knows, to bytes. The table says how many branches each has taken.
"""

import argparse
import gc
import multiprocessing
import os
import tempfile
import time
import types
import warnings
from pathlib import Path

import coverage
import numpy as np

from fuzz.campaign import REFUSED
from fuzz.targets import targets

PACKAGE = "localmdi"
LONGEST = 200_000


class Reading:
    """Reads contents for so many seconds of processor time, and counts."""

    def __init__(self, target, *, seconds, back):
        self.target, self.seconds, self.back = target, seconds, back
        self.names = sorted(target.samples())
        self.folder = Path(tempfile.mkdtemp())
        for name in self.names:  # imports what a reader needs, so that atheris can prepare it
            self.read(name, target.samples()[name])
        self.cases = 0
        self.coverage = coverage.Coverage(source=[PACKAGE], branch=True, data_file=None)
        self.coverage.start()
        self.begin = time.process_time()

    def read(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        try:
            self.target.read(path)
        except self.target.refusals:
            return REFUSED
        return None

    def case(self, name, content):
        if time.process_time() - self.begin > self.seconds:
            self.coverage.stop()
            data = self.coverage.get_data()
            n = sum(len(data.arcs(file) or []) for file in data.measured_files())
            self.back.send((self.cases, n))
            os._exit(0)  # atheris does not return
        self.cases += 1
        self.read(name, content)


def seeded(reading):
    for number in range(10**9):
        random = np.random.default_rng([0, number])
        reading.case(*reading.target.draw(random))


def guided(reading, *, ours):
    import atheris

    functions = [found for found in gc.get_objects() if isinstance(found, types.FunctionType)]
    for function in functions:
        if str(function.__module__).startswith(PACKAGE):
            atheris.instrument_func(function)
    corpus = Path(tempfile.mkdtemp())
    for number, name in enumerate(reading.names):  # the first byte says whose file it is
        (corpus / name).write_bytes(bytes([number]) + reading.target.samples()[name])

    def named(data):
        return reading.names[data[0] % len(reading.names)], data[1:]

    def read(data):
        if len(data) > 1:
            reading.case(*named(data))

    def damage(data, longest, seed):
        name, content = named(data if len(data) > 1 else b"\0 ")
        try:
            damaged = reading.target.damaged(np.random.default_rng(seed), name, content)
        except Exception:  # our damage takes files apart, which some of these no longer are
            return atheris.Mutate(data, longest)
        return data[:1] + damaged[: longest - 1]

    options = [f"-max_len={LONGEST}", "-verbosity=0", str(corpus)]
    atheris.Setup(["fuzz", *options], read, **({"custom_mutator": damage} if ours else {}))
    atheris.Fuzz()


WAYS = {
    "drawn from a seed": seeded,
    "ours, guided by coverage": lambda reading: guided(reading, ours=True),
    "atheris' own, guided by coverage": lambda reading: guided(reading, ours=False),
}


def work(way, target, seconds, back):
    warnings.simplefilter("ignore")
    WAYS[way](Reading(target, seconds=seconds, back=back))


def main():
    names = [target.name for target in targets()]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--reader", choices=names, default=names[0])
    parser.add_argument("--seconds", type=float, default=60, help="of processor time for each way")
    arguments = parser.parse_args()
    target = next(target for target in targets() if target.name == arguments.reader)
    print(f"| damage to {target.name} | cases | branches taken |\n|---|---|---|")
    context = multiprocessing.get_context("fork")
    for way in WAYS:
        here, back = context.Pipe(duplex=False)
        child = context.Process(target=work, args=(way, target, arguments.seconds, back))
        child.start()
        back.close()
        cases, branches = here.recv()
        child.join()
        print(f"| {way} | {cases:,} | {branches:,} |", flush=True)


if __name__ == "__main__":
    main()
