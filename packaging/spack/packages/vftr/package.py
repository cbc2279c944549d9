# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of vftr. `spack repo add packaging/spack' makes it known; what it builds
is the clone that it lies in."""
import os

try:  # Spack 1.0 and later
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:
    pass
from spack.package import *


class Vftr(MakefilePackage):
    """Performance tracer for C, C++ and Fortran programs, from one process to MPI jobs on
    many nodes: calls, messages and bytes are exact, not sampled."""

    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("mpi", default=True, description="Trace MPI, and join agents of several nodes by it")
    variant("fortran", default=True, description="Module for Fortran programs, of gfortran")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("gmake", type="build")
    depends_on("gawk", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils")
    depends_on("cjson")
    depends_on("liburing")
    depends_on("libsodium")
    depends_on("mpi", when="+mpi")

    def settings(self):
        """The variables of make(1) that say for which compilers and MPI."""
        spec = self.spec
        mpi = spec["mpi"] if spec.satisfies("+mpi") else None
        # all others have the interface of MPICH
        family = "openmpi" if mpi and mpi.name in ("openmpi", "hpcx-mpi") else "mpich"
        found = ["PREFIX=" + self.prefix, "CC=" + spack_cc]
        found.append("FC=" + (spack_fc if spec.satisfies("+fortran") else "none"))
        for name in ("openmpi", "mpich"):
            mine = mpi is not None and name == family
            found.append("MPICC_{0}={1}".format(name, mpi.mpicc if mine else ""))
            found.append("MPIFC_{0}={1}".format(name, mpi.mpifc if mine else ""))
        return found

    def build(self, spec, prefix):
        make(*self.settings())

    def install(self, spec, prefix):
        make("install", *self.settings())

    def check(self):
        """Nothing: `make check' wants a machine of its own, and packages that are not ours."""

    def test_traced_program(self):
        """a program is compiled, traced, and in its profile"""
        with open("hello.c", "w") as f:
            f.write("int main(void) { return 0; }\n")
        flags = which("vftr", path=self.prefix.bin)("flags", "--cflags", "--libs", output=str)
        cc = which(os.environ.get("CC", "cc"))
        cc("hello.c", "-o", "hello", *flags.split())
        which("vftr-node-agent", path=self.prefix.bin)("--", "./hello")
        with open("hello_all.log") as f:
            assert "main" in f.read()
