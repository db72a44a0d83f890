//! The size of values, for searches that end at an absolute tolerance.

/// The exponent of the mean size of values that are searched with: from 16 to 32.
const USUAL: f64 = 4.0;

/// The power of two that brings values to the usual size; 1 of values that are all 0. Products with it are exact.
pub(crate) fn to_usual_size(y: &[f64]) -> f64 {
    let size = y.iter().map(|y| y.abs()).sum::<f64>() / y.len() as f64;
    let factor = (USUAL - size.log2().floor()).exp2();
    if factor.is_normal() { factor } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_size_become_a_few_tens() {
        for size in [1e-30, 3e-5, 1.0, 300.0, 1e12] {
            let y = [size, -size, 1.5 * size];
            let factor = to_usual_size(&y);
            let mean = y.iter().map(|y| (y * factor).abs()).sum::<f64>() / 3.0;
            assert!((16.0..32.0).contains(&mean), "{size}: {mean}");
            assert_eq!(factor.log2().fract(), 0.0);
        }
        assert_eq!((to_usual_size(&[0.0; 3]), to_usual_size(&[])), (1.0, 1.0));
    }
}
