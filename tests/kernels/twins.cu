// Compiled twice and linked: both objects have a local string and a local function of the compiler's, of the same names.
#include <cstdio>

__global__ void TWIN(double *p)
{
	p[0] = p[1] / p[2];
	printf(TEXT, p[0]);
}
