//! 64-byte aligned buffers, recycled by size class
