"""Arrays, compilation of kernels, spatial algebra, plane geometry, random numbers."""
