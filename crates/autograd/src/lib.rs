//! Differentiable operations and the backward pass
