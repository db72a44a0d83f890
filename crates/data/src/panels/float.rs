//! Numbers in single or double precision.

/// `f32` and `f64`.
pub(crate) trait Float: Copy + Into<f64> + PartialOrd {
    /// The number that is nearest to this one.
    fn of(value: f64) -> Self;

    fn is_nan(&self) -> bool {
        (*self).into().is_nan()
    }

    /// Whichever of two numbers is larger.
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// Whichever of two numbers is smaller.
    fn smaller(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Float for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }
}

impl Float for f64 {
    fn of(value: f64) -> Self {
        value
    }
}
