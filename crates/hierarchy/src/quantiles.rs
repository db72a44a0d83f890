//! Quantiles that are coherent: those of samples that add up.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::draws::Draws;
use crate::error::HierarchyError;
use crate::reconciler::Reconciler;

/// Makes quantiles of all series coherent: samples are drawn from them, reconciled, and their quantiles taken.
///
/// Between known quantiles, and beyond the outermost, a quantile is linear in that of the standard normal distribution: three
/// quantiles of a normal distribution are all of it. Sums hold for each sample; quantiles of sums are not sums of quantiles.
#[derive(Clone, Debug)]
pub struct CoherentQuantiles<'a> {
    reconciler: &'a Reconciler<'a>,
    draws: &'a Draws,
    known: usize,
    /// For each rank the known quantile below, and how far on it is towards the next one.
    places: Vec<(usize, f64)>,
}

impl<'a> CoherentQuantiles<'a> {
    /// For forecasts of the quantiles of these probabilities, which rise.
    ///
    /// # Errors
    /// If there is none, or they do not rise from above 0 to below 1.
    ///
    /// # Panics
    /// If the draws are of another number of series.
    #[track_caller]
    pub fn new(
        reconciler: &'a Reconciler<'a>,
        draws: &'a Draws,
        known: &[f64],
    ) -> Result<Self, HierarchyError> {
        assert_eq!(draws.n_series(), reconciler.hierarchy().n_series(), "draws of all series");
        let rise = known.windows(2).all(|pair| pair[0] < pair[1]);
        if known.is_empty() || !rise || !known.iter().all(|q| *q > 0.0 && *q < 1.0) {
            return Err(HierarchyError::Quantiles { found: format!("{known:?}") });
        }
        let normal = Normal::standard();
        let at: Vec<f64> = known.iter().map(|q| normal.inverse_cdf(*q)).collect();
        let place = |rank: usize| {
            if at.len() == 1 {
                return (0, 0.0);
            }
            let z = normal.inverse_cdf((rank as f64 + 0.5) / draws.samples() as f64);
            let below = at.partition_point(|known| *known <= z).clamp(1, at.len() - 1) - 1;
            (below, (z - at[below]) / (at[below + 1] - at[below]))
        };
        let places = (0..draws.samples()).map(place).collect();
        Ok(Self { reconciler, draws, known: known.len(), places })
    }

    /// Coherent samples `[series, samples]` of series with the quantiles `values [series, known quantiles]`. Quantiles that cross
    /// are sorted.
    ///
    /// # Panics
    /// If there are not this many values.
    #[track_caller]
    pub fn samples(&self, values: &[f64]) -> Vec<f64> {
        assert_eq!(values.len(), self.draws.n_series() * self.known, "quantiles of all series");
        let mut samples = Vec::with_capacity(self.draws.n_series() * self.draws.samples());
        let mut known = vec![0.0; self.known];
        for (values, ranks) in values.chunks_exact(self.known).zip(self.draws.of_each_series()) {
            known.copy_from_slice(values);
            known.sort_unstable_by(f64::total_cmp);
            samples.extend(ranks.iter().map(|rank| {
                let (below, part) = self.places[*rank as usize];
                let low = known[below];
                low + part * (known.get(below + 1).unwrap_or(&low) - low)
            }));
        }
        self.reconciler.reconcile(&mut samples, self.draws.samples());
        samples
    }

    /// The quantiles `[series, asked]` of [`CoherentQuantiles::samples`], of these probabilities.
    ///
    /// # Panics
    /// If there are not this many values.
    #[track_caller]
    pub fn reconcile(&self, values: &[f64], asked: &[f64]) -> Vec<f64> {
        let mut samples = self.samples(values);
        let mut quantiles = Vec::with_capacity(self.draws.n_series() * asked.len());
        for samples in samples.chunks_exact_mut(self.draws.samples()) {
            samples.sort_unstable_by(f64::total_cmp);
            quantiles.extend(asked.iter().map(|q| quantile(samples, *q)));
        }
        quantiles
    }
}

/// The quantile of sorted samples, linear between them, each in the middle of its share of probability (Hazen 1914).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = (q * sorted.len() as f64 - 0.5).clamp(0.0, (sorted.len() - 1) as f64);
    let (below, part) = (place.floor() as usize, place.fract());
    let low = sorted[below];
    low + part * (sorted.get(below + 1).unwrap_or(&low) - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Hierarchy;
    use crate::method::Reconciliation;
    use crate::reconciler::Evidence;
    use crate::residuals::Residuals;

    const KNOWN: [f64; 3] = [0.1, 0.5, 0.9];

    /// The quantiles of normal distributions.
    fn normals(of: &[(f64, f64)]) -> Vec<f64> {
        let quantiles = |&(mean, deviation): &(f64, f64)| {
            let normal = Normal::new(mean, deviation).expect("a normal distribution");
            KNOWN.map(|q| normal.inverse_cdf(q))
        };
        of.iter().flat_map(quantiles).collect()
    }

    fn pair() -> Hierarchy {
        Hierarchy::from_levels(&[("a", ["sum"]), ("b", ["sum"])]).unwrap()
    }

    /// The sum of independent normal numbers is normal, and its variance is the sum of theirs.
    #[test]
    fn sums_of_normal_series_are_normal() {
        let hierarchy = pair();
        let reconciler = Reconciler::new(&hierarchy, Reconciliation::BottomUp, &Evidence::default()).unwrap();
        let draws = Draws::independent(3, 20_000, 7);
        let coherent = CoherentQuantiles::new(&reconciler, &draws, &KNOWN).unwrap();
        let values = normals(&[(0.0, 1.0), (10.0, 3.0), (5.0, 4.0)]);
        let asked = [0.025, 0.5, 0.975];
        let found = coherent.reconcile(&values, &asked);
        let sum = Normal::new(15.0, 5.0).unwrap();
        for (found, q) in found.iter().zip(asked) {
            assert!((found - sum.inverse_cdf(q)).abs() < 0.4, "{q}: {found}");
        }
        // Those of the bottom stay, also beyond the outermost known.
        let a = Normal::new(10.0, 3.0).unwrap();
        for (found, q) in found[3..6].iter().zip(asked) {
            assert!((found - a.inverse_cdf(q)).abs() < 1e-3, "{q}: {found}");
        }
    }

    #[test]
    fn series_that_move_together_have_wider_sums() {
        let hierarchy = pair();
        let reconciler = Reconciler::new(&hierarchy, Reconciliation::BottomUp, &Evidence::default()).unwrap();
        let values = normals(&[(0.0, 1.0), (0.0, 3.0), (0.0, 4.0)]);
        let width = |draws: &Draws| {
            let coherent = CoherentQuantiles::new(&reconciler, draws, &KNOWN).unwrap();
            let ends = coherent.reconcile(&values, &[0.1, 0.9]);
            ends[1] - ends[0]
        };
        let errors: Vec<f64> =
            (0..3).flat_map(|series| (0..50).map(move |t| f64::from(t * (series + 1)))).collect();
        let together = Draws::like(&Residuals::new(3, &errors).unwrap(), 5000, 1);
        let ratio = width(&together) / width(&Draws::independent(3, 5000, 1));
        // 3 + 4 beside the root of 9 + 16.
        assert!((ratio - 1.4).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn samples_add_up_and_quantiles_rise() {
        let series: Vec<(String, [String; 1])> =
            (0..20).map(|i| (format!("s{i}"), [format!("g{}", i % 3)])).collect();
        let hierarchy = Hierarchy::from_levels(&series).unwrap();
        let draws = Draws::independent(hierarchy.n_series(), 200, 3);
        let values: Vec<f64> = (0..hierarchy.n_series()).flat_map(|i| [1e6, 2e6 + i as f64, 1.5e6]).collect();
        for method in [Reconciliation::BottomUp, Reconciliation::MinTraceOls, Reconciliation::MinTraceWls] {
            let reconciler = Reconciler::new(&hierarchy, method, &Evidence::default()).unwrap();
            let coherent = CoherentQuantiles::new(&reconciler, &draws, &KNOWN).unwrap();
            assert!(hierarchy.incoherence(&coherent.samples(&values), 200) < 1e-12, "{method}");
            let asked = [0.05, 0.25, 0.75, 0.95];
            let found = coherent.reconcile(&values, &asked);
            assert!(found.chunks_exact(4).all(|row| row.is_sorted()), "{method}");
        }
    }

    #[test]
    fn one_quantile_is_a_number_and_none_an_error() {
        let hierarchy = pair();
        let reconciler = Reconciler::new(&hierarchy, Reconciliation::BottomUp, &Evidence::default()).unwrap();
        let draws = Draws::independent(3, 10, 1);
        let coherent = CoherentQuantiles::new(&reconciler, &draws, &[0.5]).unwrap();
        assert_eq!(coherent.reconcile(&[9.0, 2.0, 3.0], &[0.2, 0.5]), [5.0, 5.0, 2.0, 2.0, 3.0, 3.0]);
        for wrong in [&[][..], &[0.5, 0.5], &[0.0, 0.5], &[0.5, 1.0], &[f64::NAN]] {
            assert!(CoherentQuantiles::new(&reconciler, &draws, wrong).is_err(), "{wrong:?}");
        }
    }
}
