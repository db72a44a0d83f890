//! Shapes, strides, storage and views, and the operations on them that need no gradient
