//! Intervals of an ensemble from the spread of its members.
//!
//! If the forecasts of `m` members and the truth were draws of one normal distribution, the truth would lie around the mean of the
//! members as Student's t distribution of `m - 1` degrees of freedom has it, in units of their deviation times the root of
//! `1 + 1 / m`.

/// The quantile of `q` around the ensemble's forecast `center`, from the forecasts of its members; NaN with fewer than two.
pub(crate) fn spread_quantile(q: f64, center: f32, members: impl Iterator<Item = f32> + Clone) -> f32 {
    let count = members.clone().count();
    if count < 2 {
        return f32::NAN;
    }
    let m = count as f64;
    let mean = members.clone().map(f64::from).sum::<f64>() / m;
    let variance = members.map(|member| (f64::from(member) - mean).powi(2)).sum::<f64>() / (m - 1.0);
    (f64::from(center) + student_quantile(q, count - 1) * (variance * (1.0 + 1.0 / m)).sqrt()) as f32
}

/// The quantile of Student's t distribution of `freedom` degrees, a whole number, by halving.
fn student_quantile(q: f64, freedom: usize) -> f64 {
    if q < 0.5 {
        return -student_quantile(1.0 - q, freedom);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while student_cdf(high, freedom) < q && high < 1e12 {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if student_cdf(middle, freedom) < q { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The probability of at most `t >= 0` (Abramowitz and Stegun 26.7.3 and 26.7.4).
fn student_cdf(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    // 1 + a_1 cos² + a_1 a_2 cos⁴ + ..., whose factors are 1/2, 3/4, ... for even degrees and 2/3, 4/5, ... for odd ones.
    let is_odd = freedom % 2 == 1;
    let terms = freedom / 2;
    let (mut term, mut sum) = (1.0, 0.0);
    for i in 0..terms {
        sum += term;
        let k = 2.0 * i as f64 + if is_odd { 2.0 } else { 1.0 };
        term *= k / (k + 1.0) * cosine * cosine;
    }
    let within = match is_odd {
        true => 2.0 / std::f64::consts::PI * (angle + sine * cosine * sum),
        false => sine * sum,
    };
    0.5 + 0.5 * within
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of the distribution.
    #[test]
    fn quantiles_are_students() {
        for (freedom, q, expected) in [
            (1, 0.975, 12.706_204_736),
            (2, 0.975, 4.302_652_730),
            (3, 0.9, 1.637_744_354),
            (4, 0.95, 2.131_846_786),
            (9, 0.975, 2.262_157_163),
            (30, 0.95, 1.697_260_887),
        ] {
            let found = student_quantile(q, freedom);
            assert!((found - expected).abs() < 1e-8, "{freedom}, {q}: {found}");
        }
        assert!(student_quantile(0.5, 3).abs() < 1e-9);
        assert_eq!(student_quantile(0.25, 5), -student_quantile(0.75, 5));
    }

    #[test]
    fn members_that_agree_leave_no_doubt_and_one_member_no_interval() {
        let at = |q: f64, members: &[f32]| spread_quantile(q, 5.0, members.iter().copied());
        assert_eq!(at(0.9, &[4.0, 4.0, 4.0]), 5.0);
        assert!(at(0.9, &[4.0]).is_nan());
        // Deviation 1 of two members: the quarter of Cauchy's distribution is 1.
        let expected = 5.0 + (2.0_f32 * 1.5).sqrt();
        assert!((at(0.75, &[4.0, 6.0]) - expected).abs() < 1e-5, "{}", at(0.75, &[4.0, 6.0]));
    }
}
