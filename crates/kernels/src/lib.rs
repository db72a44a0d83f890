//! Fused forward and backward pairs over slices: pooling, interpolation, moving averages
