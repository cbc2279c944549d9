# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for what Spack gives to a recipe: builds the package that is named as Spack would.
	python3 standin-spack.py RECIPE PREFIX [mpi=NAME] [fortran]
Spack's own directives are noted; make(1) is called for real, with what $MAKE says first."""
import os
import shlex
import subprocess
import sys
import types

noted = {}


def directive(name):
    def note(*args, **kwargs):
        noted.setdefault(name, []).append((args, kwargs))
    return note


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


class Mpi:
    def __init__(self, name):
        suffix = {"openmpi": "openmpi"}.get(name, "mpich")
        self.name = name
        self.mpicc = "mpicc." + suffix
        self.mpifc = "mpif90." + suffix


class Spec:
    def __init__(self, mpi, fortran):
        self.mpi, self.variants = mpi, {"+mpi": mpi is not None, "+fortran": fortran}

    def satisfies(self, what):
        return self.variants[what]

    def __getitem__(self, name):
        assert name == "mpi" and self.mpi, name
        return self.mpi


class MakefilePackage:
    def __init__(self, spec, prefix):
        self.spec, self.prefix = spec, prefix


def make(*args):
    subprocess.run(shlex.split(os.environ["MAKE"]) + list(args), check=True)


api = types.ModuleType("spack.package")
api.MakefilePackage = MakefilePackage
api.make = make
api.spack_cc, api.spack_fc = "gcc", "gfortran"
for word in ("license", "version", "variant", "depends_on"):
    setattr(api, word, directive(word))
api.__all__ = [n for n in vars(api) if not n.startswith("__")]
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = api

recipe, prefix = sys.argv[1:3]
words = dict((w.split("=") + [""])[:2] for w in sys.argv[3:])
module = {"__name__": "recipe", "__file__": os.path.abspath(recipe)}
with open(recipe) as f:
    exec(compile(f.read(), recipe, "exec"), module)
spec = Spec(Mpi(words["mpi"]) if "mpi" in words else None, "fortran" in words)
package = module["Vftr"](spec, Prefix(prefix))
package.build(spec, package.prefix)
package.install(spec, package.prefix)
package.check()
print("git", module["Vftr"].git)
for args, _ in noted["depends_on"]:
    print("depends", args[0])
