//! The nodes and weights of Gauss and Legendre between 0 and 1.

/// `(node, weight)` of each of this many points: exact for polynomials of a degree below twice their number.
pub(crate) fn gauss_legendre(points: usize) -> Vec<(f64, f64)> {
    let n = points as f64;
    let node = |i: usize| {
        // A zero of the Legendre polynomial by Newton's method, from Tricomi's approximation.
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut before, mut value) = (1.0, x);
            for k in 2..=points {
                let k = k as f64;
                (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            let moved = value / slope;
            x -= moved;
            if moved.abs() < 1e-15 {
                break;
            }
        }
        ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..points).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_integrated_exactly() {
        for points in [1, 2, 5, 50] {
            for power in 0..(2 * points as i32).min(20) {
                let sum: f64 = gauss_legendre(points).iter().map(|(x, w)| w * x.powi(power)).sum();
                assert!(
                    (sum - 1.0 / f64::from(power + 1)).abs() < 1e-12,
                    "{points} points, x^{power}: {sum}"
                );
            }
        }
    }
}
