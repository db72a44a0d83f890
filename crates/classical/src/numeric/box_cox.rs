//! Values by a power, so that what grows by a share grows by a sum.

/// The transformation of Box and Cox (1964, An Analysis of Transformations) of values above zero: `(y^power - 1) / power`, the logarithm
/// where the power is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxCox {
    /// The power, 0 or above.
    pub power: f64,
}

impl BoxCox {
    /// A history that is transformed; `None` where a value is not above zero.
    pub(crate) fn all(self, y: &[f64]) -> Option<Vec<f64>> {
        y.iter().map(|&y| (y > 0.0).then(|| self.transformed(y))).collect()
    }

    /// A value above zero, transformed.
    pub(crate) fn transformed(self, y: f64) -> f64 {
        if self.power == 0.0 { y.ln() } else { (y.powf(self.power) - 1.0) / self.power }
    }

    /// The value of a transformed one; zero of what no value is transformed to.
    pub(crate) fn back(self, z: f64) -> f64 {
        if self.power == 0.0 { z.exp() } else { (self.power * z + 1.0).max(0.0).powf(self.power.recip()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        for power in [0.0, 0.5, 1.0, 2.0] {
            let by = BoxCox { power };
            let y = [0.25, 1.0, 3.0, 900.0];
            let there = by.all(&y).expect("all are above zero");
            assert!(y.iter().zip(&there).all(|(y, z)| (by.back(*z) / y - 1.0).abs() < 1e-12), "{power}");
            assert!(by.transformed(1.0) == 0.0 && by.all(&[1.0, 0.0]).is_none(), "{power}");
        }
        assert_eq!(BoxCox { power: 0.5 }.back(-3.0), 0.0);
    }
}
