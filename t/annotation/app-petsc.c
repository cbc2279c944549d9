/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves a small linear system with PETSc in a stage of its own, with an event of its own. */
#include <petscksp.h>

static PetscErrorCode fill(Mat a, PetscInt n)
{
	PetscInt first, last;

	PetscFunctionBegin;
	PetscCall(MatGetOwnershipRange(a, &first, &last));
	for (PetscInt i = first; i < last; i++) {
		PetscCall(MatSetValue(a, i, i, 2.5, INSERT_VALUES));
		if (i)
			PetscCall(MatSetValue(a, i, i - 1, -1, INSERT_VALUES));
		if (i + 1 < n)
			PetscCall(MatSetValue(a, i, i + 1, -1, INSERT_VALUES));
	}
	PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
	PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
	PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
	const PetscInt n = 200;
	PetscLogEvent event;
	PetscLogStage stage;
	PetscInt iterations;
	KSP solver;
	Vec x, b;
	Mat a;

	PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
	PetscCall(PetscLogEventRegister("OwnEvent", KSP_CLASSID, &event));
	PetscCall(PetscLogStageRegister("Solving", &stage));
	PetscCall(MatCreateAIJ(
		PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 2, NULL, &a));
	PetscCall(fill(a, n));
	PetscCall(MatCreateVecs(a, &x, &b));
	PetscCall(VecSet(b, 1));
	PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
	PetscCall(KSPSetOperators(solver, a, a));
	PetscCall(KSPSetFromOptions(solver));
	PetscCall(PetscLogStagePush(stage));
	for (int i = 0; i < 3; i++) {
		PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
		PetscCall(KSPSolve(solver, b, x));
		PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
	}
	PetscCall(PetscLogStagePop());
	PetscCall(KSPGetIterationNumber(solver, &iterations));
	PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d iterations\n", (int)iterations));
	PetscCall(KSPDestroy(&solver));
	PetscCall(VecDestroy(&x));
	PetscCall(VecDestroy(&b));
	PetscCall(MatDestroy(&a));
	PetscCall(PetscFinalize());
	return 0;
}
