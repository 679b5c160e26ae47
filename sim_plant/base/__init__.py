"""Arrays, compilation of kernels, spatial algebra, plane geometry, random numbers.

Each state of the plant's sources has its own cache of compiled kernels: numba checks only a kernel's own file, and
would run an old law after an edit. Kernels are compiled without numba's runtime (its private option `_nrt`): none can
allocate, and a tree steps a third faster.
"""
