//! Forecasts of all series, changed until they add up.

use crate::cholesky::{Cholesky, dot, subtract};
use crate::covariance::Covariance;
use crate::error::HierarchyError;
use crate::hierarchy::Hierarchy;
use crate::method::Reconciliation;
use crate::residuals::Residuals;

/// The past, as far as methods use it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The errors of past forecasts, for [`Reconciliation::MinTraceVar`] and [`Reconciliation::MinTraceShrink`].
    pub residuals: Option<&'a Residuals>,
    /// A number for each series at the bottom by which [`Reconciliation::TopDown`] and [`Reconciliation::MiddleOut`] divide sums, such as
    /// the mean of its history; their sum may be any.
    pub shares: Option<&'a [f64]>,
}

/// Makes forecasts of the series of a hierarchy coherent: S P y, in the words of the papers.
///
/// Minimum trace is solved on the side of the aggregates. With S = [A; I], the constraints are Uᵀ y = 0 for Uᵀ = [I, -A], and the
/// nearest coherent forecast is y - W U (Uᵀ W U)⁻¹ Uᵀ y: a system of as many equations as there are aggregates. Its matrix is made
/// once, takes 8 bytes times the square of their number, and time with its cube.
#[derive(Clone, Debug)]
pub struct Reconciler<'a> {
    hierarchy: &'a Hierarchy,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    BottomUp,
    /// Aggregates that have each series at the bottom once, and the share of each of these in its aggregate.
    Divided(Vec<usize>, Vec<f64>),
    MinTrace(Box<MinTrace>),
}

#[derive(Clone, Debug)]
struct MinTrace {
    covariance: Covariance,
    /// Uᵀ F, `[aggregates, columns of F]`.
    errors: Vec<f64>,
    /// Of Uᵀ W U.
    system: Cholesky,
}

impl<'a> Reconciler<'a> {
    /// The reconciler of a method.
    ///
    /// # Errors
    /// If the method needs residuals or shares and there are none, or of another number of series; without a total for
    /// [`Reconciliation::TopDown`], or a level in the middle for [`Reconciliation::MiddleOut`]; if its equations cannot be solved.
    pub fn new(
        hierarchy: &'a Hierarchy,
        method: Reconciliation,
        evidence: &Evidence<'_>,
    ) -> Result<Self, HierarchyError> {
        let residuals = || {
            let residuals =
                evidence.residuals.ok_or(HierarchyError::NoResiduals { method: method.name() })?;
            let (expected, found) = (hierarchy.n_series(), residuals.n_series());
            match expected == found {
                true => Ok(residuals),
                false => Err(HierarchyError::Length { what: "series with errors", expected, found }),
            }
        };
        let covariance = match method {
            Reconciliation::BottomUp => return Ok(Self { hierarchy, way: Way::BottomUp }),
            Reconciliation::TopDown | Reconciliation::MiddleOut => {
                let divided = divided(hierarchy, method)?;
                let given = evidence.shares.ok_or(HierarchyError::NoShares { method: method.name() })?;
                let shares = shares(hierarchy, &divided, given)?;
                return Ok(Self { hierarchy, way: Way::Divided(divided, shares) });
            }
            Reconciliation::MinTraceOls => Covariance::identity(hierarchy),
            Reconciliation::MinTraceWls => Covariance::structural(hierarchy),
            Reconciliation::MinTraceVar => Covariance::variances(residuals()?)?,
            Reconciliation::MinTraceShrink => Covariance::shrunk(residuals()?)?,
        };
        let min_trace = MinTrace::new(hierarchy, covariance);
        let min_trace = min_trace.ok_or(HierarchyError::Unsolvable { method: method.name() })?;
        Ok(Self { hierarchy, way: Way::MinTrace(Box::new(min_trace)) })
    }

    /// Of which series, aggregates first, a method reads the forecasts; those of the others it makes of these.
    pub fn reads(hierarchy: &Hierarchy, method: Reconciliation) -> Vec<bool> {
        let (n, aggregates) = (hierarchy.n_series(), hierarchy.n_aggregates());
        match method {
            Reconciliation::BottomUp => (0..n).map(|number| number >= aggregates).collect(),
            Reconciliation::TopDown | Reconciliation::MiddleOut => match divided(hierarchy, method) {
                Ok(divided) => (0..n).map(|number| divided.contains(&number)).collect(),
                Err(_) => vec![true; n],
            },
            _ => vec![true; n],
        }
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &'a Hierarchy {
        self.hierarchy
    }

    /// Makes each column of `values [series, columns]` coherent, in place: each aggregate is then the sum of its series, computed as
    /// such. What is made of a value that is not known (NaN) is not known either; [`Reconciler::reads`] tells which are read.
    ///
    /// # Panics
    /// If there are not this many values.
    #[track_caller]
    pub fn reconcile(&self, values: &mut [f64], columns: usize) {
        let hierarchy = self.hierarchy;
        assert_eq!(values.len(), hierarchy.n_series() * columns, "values of all series");
        if columns == 0 {
            return;
        }
        match &self.way {
            Way::BottomUp => {}
            Way::Divided(divided, shares) => {
                let (aggregates, bottom) = values.split_at_mut(hierarchy.n_aggregates() * columns);
                for &number in divided {
                    let sum = &aggregates[number * columns..][..columns];
                    for &member in hierarchy.members(number) {
                        let (row, share) =
                            (&mut bottom[member as usize * columns..][..columns], shares[member as usize]);
                        row.iter_mut().zip(sum).for_each(|(value, sum)| *value = share * sum);
                    }
                }
            }
            Way::MinTrace(min_trace) => min_trace.change_bottom(hierarchy, values, columns),
        }
        hierarchy.sum(values, columns);
    }

    /// The matrix P `[bottom, series]` that makes coherent forecasts of the bottom: what [`Reconciler::reconcile`] does without it.
    pub fn matrix(&self) -> Vec<f64> {
        let n = self.hierarchy.n_series();
        let mut values = vec![0.0; n * n];
        values.iter_mut().step_by(n + 1).for_each(|value| *value = 1.0);
        self.reconcile(&mut values, n);
        values.split_off(self.hierarchy.n_aggregates() * n)
    }
}

/// The aggregates that a method divides.
fn divided(hierarchy: &Hierarchy, method: Reconciliation) -> Result<Vec<usize>, HierarchyError> {
    match method {
        Reconciliation::TopDown => Ok(vec![hierarchy.total().ok_or(HierarchyError::NoTotal)?]),
        _ => hierarchy.middle().ok_or(HierarchyError::NoMiddle),
    }
}

/// The share of each series at the bottom in that of these aggregates which has it.
fn shares(hierarchy: &Hierarchy, divided: &[usize], given: &[f64]) -> Result<Vec<f64>, HierarchyError> {
    let (expected, found) = (hierarchy.n_bottom(), given.len());
    if expected != found {
        return Err(HierarchyError::Length { what: "shares", expected, found });
    }
    let refused = |place: usize| {
        let (id, found) = (hierarchy.bottom_ids()[place].to_string(), given[place]);
        HierarchyError::Share { id, found }
    };
    if let Some(place) = given.iter().position(|share| !(*share >= 0.0 && *share < f64::INFINITY)) {
        return Err(refused(place));
    }
    let mut shares = vec![0.0; expected];
    for &number in divided {
        let members = || hierarchy.members(number).iter().map(|&member| member as usize);
        let sum: f64 = members().map(|member| given[member]).sum();
        if sum == 0.0 {
            return Err(refused(members().next().unwrap_or(0)));
        }
        members().for_each(|member| shares[member] = given[member] / sum);
    }
    Ok(shares)
}

impl MinTrace {
    fn new(hierarchy: &Hierarchy, covariance: Covariance) -> Option<Self> {
        let (n, columns) = (hierarchy.n_aggregates(), covariance.columns);
        let errors = constraints(hierarchy, &covariance.factor, columns);
        // The lower triangle of D of the aggregates + A D of the bottom Aᵀ + Uᵀ F Fᵀ U.
        let mut matrix = vec![0.0; n * n];
        let (aggregates, bottom) = covariance.diagonal.split_at(n);
        matrix.iter_mut().step_by(n + 1).zip(aggregates).for_each(|(entry, variance)| *entry = *variance);
        for (of_bottom, variance) in hierarchy.aggregates_of_bottom().iter().zip(bottom) {
            for (place, &i) in of_bottom.iter().enumerate() {
                of_bottom[..=place].iter().for_each(|&j| matrix[i as usize * n + j as usize] += variance);
            }
        }
        if columns > 0 {
            let row = |i: usize| &errors[i * columns..][..columns];
            for i in 0..n {
                (0..=i).for_each(|j| matrix[i * n + j] += dot(row(i), row(j)));
            }
        }
        Some(Self { covariance, errors, system: Cholesky::new(n, matrix)? })
    }

    /// Makes the forecasts of the bottom those of the nearest coherent forecasts: with λ = (Uᵀ W U)⁻¹ Uᵀ y, they change by
    /// D Aᵀ λ - F (Uᵀ F)ᵀ λ.
    fn change_bottom(&self, hierarchy: &Hierarchy, values: &mut [f64], columns: usize) {
        let n = hierarchy.n_aggregates();
        let mut gaps = constraints(hierarchy, values, columns);
        self.system.solve(&mut gaps, columns);
        let bottom = &mut values[n * columns..];
        let variances = &self.covariance.diagonal[n..];
        for number in 0..n {
            let gap = &gaps[number * columns..][..columns];
            for &member in hierarchy.members(number) {
                let member = member as usize;
                subtract(&mut bottom[member * columns..][..columns], -variances[member], gap);
            }
        }
        let width = self.covariance.columns;
        if width == 0 {
            return;
        }
        // (Uᵀ F)ᵀ λ, [columns of F, columns].
        let mut common = vec![0.0; width * columns];
        for (errors, gap) in self.errors.chunks_exact(width).zip(gaps.chunks_exact(columns)) {
            for (row, error) in common.chunks_exact_mut(columns).zip(errors) {
                subtract(row, -error, gap);
            }
        }
        let factor = self.covariance.factor[n * width..].chunks_exact(width);
        for (row, factor) in bottom.chunks_exact_mut(columns).zip(factor) {
            for (factor, common) in factor.iter().zip(common.chunks_exact(columns)) {
                subtract(row, *factor, common);
            }
        }
    }
}

/// Uᵀ y: by how much the aggregates of `values [series, columns]` are above the sums of their series, `[aggregates, columns]`.
fn constraints(hierarchy: &Hierarchy, values: &[f64], columns: usize) -> Vec<f64> {
    let (aggregates, bottom) = values.split_at(hierarchy.n_aggregates() * columns);
    let mut gaps = aggregates.to_vec();
    for number in 0..hierarchy.n_aggregates() {
        let gap = &mut gaps[number * columns..][..columns];
        for &member in hierarchy.members(number) {
            subtract(gap, 1.0, &bottom[member as usize * columns..][..columns]);
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_simd::{Key, Stream};

    fn hierarchy() -> Hierarchy {
        let series = [("a", ["x"]), ("b", ["x"]), ("c", ["y"]), ("d", ["y"]), ("e", ["z"])];
        Hierarchy::from_levels(&series).unwrap()
    }

    fn drawn(n: usize, seed: u64) -> Vec<f64> {
        let mut stream = Stream::new(Key::new(seed));
        (0..n).map(|_| 2.0 * stream.uniform_f64() - 1.0).collect()
    }

    #[test]
    fn coherent_forecasts_stay_and_others_become_coherent() {
        let hierarchy = hierarchy();
        let n = hierarchy.n_series();
        let residuals = Residuals::new(n, &drawn(n * 12, 1)).unwrap();
        let shares = [1.0, 2.0, 3.0, 4.0, 5.0];
        let evidence = Evidence { residuals: Some(&residuals), shares: Some(&shares) };
        for method in Reconciliation::ALL {
            let reconciler = Reconciler::new(&hierarchy, method, &evidence).unwrap();
            let mut values = drawn(n * 3, 2);
            reconciler.reconcile(&mut values, 3);
            assert!(hierarchy.incoherence(&values, 3) < 1e-12, "{method}");
            let once = values.clone();
            reconciler.reconcile(&mut values, 3);
            // S P S = S but for methods that divide sums, which have S P S P = S P.
            assert!(once.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-9), "{method}");
        }
    }

    /// No coherent forecast is nearer than that of OLS: what is taken away is at right angles to all coherent ones.
    #[test]
    fn the_least_squares_are_least() {
        let hierarchy = hierarchy();
        let (n, n_bottom) = (hierarchy.n_series(), hierarchy.n_bottom());
        let before = drawn(n, 3);
        let mut after = before.clone();
        Reconciler::new(&hierarchy, Reconciliation::MinTraceOls, &Evidence::default())
            .unwrap()
            .reconcile(&mut after, 1);
        let matrix = hierarchy.summing_matrix();
        for column in 0..n_bottom {
            let along: f64 =
                (0..n).map(|row| matrix[row * n_bottom + column] * (before[row] - after[row])).sum();
            assert!(along.abs() < 1e-12, "{column}: {along}");
        }
    }

    #[test]
    fn methods_read_what_they_do_not_make() {
        let hierarchy = Hierarchy::from_levels(&[("a", ["x"]), ("b", ["y"])]).unwrap();
        for (method, expected) in [
            (Reconciliation::BottomUp, [false, false, false, true, true]),
            (Reconciliation::TopDown, [true, false, false, false, false]),
            (Reconciliation::MiddleOut, [false, true, true, false, false]),
            (Reconciliation::MinTraceOls, [true; 5]),
        ] {
            assert_eq!(Reconciler::reads(&hierarchy, method), expected, "{method}");
        }
    }

    #[test]
    fn the_total_is_divided_by_shares() {
        let hierarchy = hierarchy();
        let shares = [1.0, 1.0, 2.0, 4.0, 0.0];
        let evidence = Evidence { shares: Some(&shares), ..Evidence::default() };
        let mut values = [16.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0];
        Reconciler::new(&hierarchy, Reconciliation::TopDown, &evidence).unwrap().reconcile(&mut values, 1);
        assert_eq!(values, [16.0, 4.0, 12.0, 0.0, 2.0, 2.0, 4.0, 8.0, 0.0]);
    }

    #[test]
    fn the_level_in_the_middle_is_added_up_and_divided() {
        let hierarchy = hierarchy();
        assert_eq!(hierarchy.middle(), Some(vec![1, 2, 3]), "x, y and z below the total");
        let shares = [1.0, 3.0, 2.0, 2.0, 7.0];
        let evidence = Evidence { shares: Some(&shares), ..Evidence::default() };
        let mut values = [99.0, 8.0, 6.0, 5.0, 9.0, 9.0, 9.0, 9.0, 9.0];
        Reconciler::new(&hierarchy, Reconciliation::MiddleOut, &evidence).unwrap().reconcile(&mut values, 1);
        assert_eq!(values, [19.0, 8.0, 6.0, 5.0, 2.0, 6.0, 3.0, 3.0, 5.0]);
        // Of three levels the second; of groups that cross, none.
        let deep: Vec<(&str, [&str; 3])> = vec![
            ("1", ["a", "b", "c"]),
            ("2", ["a", "b", "d"]),
            ("3", ["a", "e", "f"]),
            ("4", ["g", "h", "i"]),
        ];
        let deep = Hierarchy::from_levels(&deep).unwrap();
        let ids: Vec<&str> = deep.ids().map(|id| &**id).collect();
        let middle: Vec<&str> = deep.middle().unwrap().into_iter().map(|number| ids[number]).collect();
        assert_eq!(middle, ["a/b", "a/e", "g/h"]);
        let crossed = [("p", vec![0, 1]), ("q", vec![1, 2])];
        let crossed = Hierarchy::new(["a", "b", "c"], crossed).unwrap();
        let error = Reconciler::new(&crossed, Reconciliation::MiddleOut, &evidence).unwrap_err();
        assert_eq!(error, HierarchyError::NoMiddle);
    }

    #[test]
    fn what_is_missing_is_said() {
        let hierarchy = hierarchy();
        let fault = |method: Reconciliation, evidence: Evidence<'_>| {
            Reconciler::new(&hierarchy, method, &evidence).unwrap_err().to_string()
        };
        assert!(
            fault(Reconciliation::MinTraceShrink, Evidence::default())
                .contains("MinTraceShrink weighs series by the errors")
        );
        assert!(fault(Reconciliation::TopDown, Evidence::default()).contains("give their history"));
        let of_shares = |shares: &[f64]| {
            fault(Reconciliation::TopDown, Evidence { shares: Some(shares), residuals: None })
        };
        assert!(of_shares(&[1.0]).contains("shares: 1 values where 5"));
        assert!(of_shares(&[1.0, -1.0, 0.0, 0.0, 0.0]).contains("share of series b is -1"));
        assert!(of_shares(&[0.0; 5]).contains("share of series a is 0"));
        let other = Residuals::new(2, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let evidence = Evidence { residuals: Some(&other), shares: None };
        assert!(fault(Reconciliation::MinTraceVar, evidence).contains("2 values where 9 are expected"));
        let flat = Hierarchy::new(["a", "b"], [("c", vec![0])]).unwrap();
        let error = Reconciler::new(&flat, Reconciliation::TopDown, &Evidence::default()).unwrap_err();
        assert_eq!(error, HierarchyError::NoTotal);
    }

    /// Ten thousand series under a hundred sums: no matrix of all series is made.
    #[test]
    fn many_series_need_little_memory() {
        let labels: Vec<(String, [String; 2])> = (0..10_000)
            .map(|i| (format!("s{i}"), [format!("{}", i % 10), format!("{}", i / 10 % 10)]))
            .collect();
        let hierarchy = Hierarchy::from_levels(&labels).unwrap();
        assert_eq!((hierarchy.n_aggregates(), hierarchy.members(0).len()), (111, 10_000));
        for method in [Reconciliation::BottomUp, Reconciliation::MinTraceOls, Reconciliation::MinTraceWls] {
            let reconciler = Reconciler::new(&hierarchy, method, &Evidence::default()).unwrap();
            let mut values = drawn(hierarchy.n_series() * 2, 5);
            reconciler.reconcile(&mut values, 2);
            assert!(hierarchy.incoherence(&values, 2) < 1e-12, "{method}");
        }
    }
}
