//! Numeric kernels over slices, dispatched at run time: AVX-512, AVX2, NEON, scalar
