//! Weights of members, by greedy selection with replacement.

use crate::loss::{Case, Criterion};

/// Members that are added, one after the other.
const ROUNDS: usize = 24;

/// Parts of the cases, each of which is left out once.
const BAGS: usize = 6;

/// The weights of members, which add up to 1, with a small mean loss of the weighted mean of their quantiles (Caruana, Niculescu-Mizil,
/// Crew and Ksikes 2004, "Ensemble selection from libraries of models"): from the best one on, again and again the member is added
/// that lowers the loss most, until none does. The mean of what is found without each of six parts of the cases, so that one window does
/// not decide.
///
/// `forecasts[member][case]` are quantiles `[h, WIDTH]`.
pub(crate) fn greedy(cases: &[&Case], forecasts: &[Vec<&[f32]>], criterion: Criterion) -> Vec<f64> {
    let members = forecasts.len();
    let mut weights = vec![0.0; members];
    if members == 0 || cases.is_empty() {
        return weights;
    }
    let bags = if cases.len() < 2 * BAGS { 1 } else { BAGS };
    for bag in 0..bags {
        let kept: Vec<usize> = (0..cases.len()).filter(|case| bags == 1 || case % bags != bag).collect();
        let picks = picked(cases, forecasts, &kept, criterion);
        let all = picks.iter().sum::<usize>() as f64;
        weights.iter_mut().zip(picks).for_each(|(weight, n)| *weight += n as f64 / all / bags as f64);
    }
    weights
}

/// How often each member is added.
fn picked(cases: &[&Case], forecasts: &[Vec<&[f32]>], kept: &[usize], criterion: Criterion) -> Vec<usize> {
    let mut picks = vec![0; forecasts.len()];
    let mut sums: Vec<Vec<f32>> = kept.iter().map(|&case| vec![0.0; forecasts[0][case].len()]).collect();
    let (mut best, mut mean) = (f64::INFINITY, Vec::new());
    for round in 1..=ROUNDS {
        let mut loss_with = |member: usize| {
            let of_case = |(sum, &case): (&Vec<f32>, &usize)| {
                mean.clear();
                let added = sum.iter().zip(forecasts[member][case]);
                mean.extend(added.map(|(sum, value)| (sum + value) / round as f32));
                criterion.loss(cases[case], &mean)
            };
            sums.iter().zip(kept).map(of_case).sum::<f64>()
        };
        let losses: Vec<f64> = (0..forecasts.len()).map(&mut loss_with).collect();
        let (member, loss) =
            losses.into_iter().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are members");
        if round > 1 && loss >= best {
            break;
        }
        best = loss;
        picks[member] += 1;
        for (sum, &case) in sums.iter_mut().zip(kept) {
            sum.iter_mut().zip(forecasts[member][case]).for_each(|(sum, value)| *sum += value);
        }
    }
    picks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::WIDTH;
    use crate::history::{History, SeriesGroup};

    #[test]
    fn errors_of_opposite_signs_cancel_and_what_is_worse_gets_nothing() {
        let history = History {
            len: 9,
            group: SeriesGroup::Regular,
            scale: 1.0,
            range: [0.0, 9.0],
            last: 5.0,
            grown: 1.0,
            least: None,
            has_ended: false,
            is_rare: false,
        };
        let cases: Vec<Case> = (0..20).map(|i| Case { series: i / 2, y: vec![5.0; 3], history }).collect();
        let cases: Vec<&Case> = cases.iter().collect();
        let flat = [4.0_f32, 6.0, 20.0].map(|value| vec![value; 3 * WIDTH]);
        let forecasts: Vec<Vec<&[f32]>> = flat.iter().map(|flat| vec![&flat[..]; 20]).collect();
        let weights = greedy(&cases, &forecasts, Criterion::Balanced);
        assert!((weights[0] - 0.5).abs() < 1e-9 && weights[2] == 0.0, "{weights:?}");
        assert_eq!(greedy(&cases[..1], &forecasts[..1], Criterion::Mase), [1.0]);
        assert!(greedy(&[], &forecasts, Criterion::Mase).iter().all(|weight| *weight == 0.0));
    }
}
