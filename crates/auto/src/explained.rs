//! What each member adds to a forecast.

use foretell::own_estimator::{Contributions, Cutoff, ForecastPart, Span};
use foretell::{EstimatorError, Future, Panel, Workers};

use crate::board::BASELINE;
use crate::grid::{MEDIAN, WIDTH};
use crate::mix::weighted;
use crate::trained::{ByMembers, TrainedAuto};

/// The name of what bounds change: a series that has ended is forecast as zero, what was never below zero stops there, and the last
/// value stands for a series that no member can forecast.
pub(crate) const LIMITS: &str = "limits";

/// Everything is measured from the seasonal naive's forecast, so that a shift of the series changes no contribution.
impl TrainedAuto {
    /// The places and names of the members that have contributions: those that have a weight or stand in for others, but for the one
    /// that everything is measured from.
    pub(crate) fn explaining(&self) -> Vec<(usize, String)> {
        let members = self.members().iter().enumerate();
        let others = members.filter(|(place, _)| self.baseline() != Some(*place));
        others.map(|(place, member)| (place, member.estimator().alias().to_owned())).collect()
    }

    /// The place of the seasonal naive.
    fn baseline(&self) -> Option<usize> {
        self.members().iter().position(|member| member.estimator().alias() == BASELINE)
    }

    /// The contributions to the median of the steps after each series: from the seasonal naive's forecast (or the last value, where it
    /// has none), each member adds its weight times how far it is from that, and the last one is what limits change.
    pub(crate) fn explained(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Result<Vec<Contributions>, EstimatorError> {
        let ByMembers { cutoffs, values } = self.by_members(panel, (Span::Predict { future }, h), workers)?;
        let explaining = self.explaining();
        let of_window = |(window, &cutoff): (usize, &Cutoff)| {
            let members: Vec<Option<&[f32]>> = values.iter().map(|own| own[window].as_deref()).collect();
            let history = self.history(panel, cutoff);
            let (combined, _) = self.mix().combined(&history, h, &members);
            let shares = match history.has_ended {
                true => None,
                false => self.mix().shares(&history, &members).0,
            };
            let naive = self.baseline().and_then(|place| members[place]);
            let baseline: Vec<f32> = (0..h)
                .map(|step| {
                    let of_naive = naive.map(|values| values[step * WIDTH + MEDIAN]);
                    of_naive.filter(|value| value.is_finite()).unwrap_or(history.last as f32)
                })
                .collect();
            let before = shares.as_ref().map(|shares| weighted(shares, &members, h * WIDTH));
            let mut values = Vec::with_capacity(h * (explaining.len() + 1));
            for (step, &from) in baseline.iter().enumerate() {
                let median = step * WIDTH + MEDIAN;
                values.extend(explaining.iter().map(|(place, _)| {
                    let share = shares.as_ref().map_or(0.0, |shares| shares[*place]);
                    match members[*place].filter(|_| share > 0.0) {
                        Some(own) => (share * (f64::from(own[median]) - f64::from(from))) as f32,
                        None => 0.0,
                    }
                }));
                values.push(combined[median] - before.as_ref().map_or(from, |before| before[median]));
            }
            Contributions { values, baseline }
        };
        Ok(cutoffs.iter().enumerate().map(of_window).collect())
    }

    /// The same as parts that add up to the forecast, the seasonal naive's first.
    pub(crate) fn parts_of(&self, found: &[Contributions], h: usize) -> Vec<ForecastPart> {
        let names: Vec<String> =
            self.explaining().into_iter().map(|(_, name)| name).chain([LIMITS.to_owned()]).collect();
        let n = names.len();
        let first = found.iter().flat_map(|window| window.baseline.iter().copied()).collect();
        let others = names.into_iter().enumerate().map(|(input, name)| {
            let of_window = |window: &Contributions| -> Vec<f32> {
                (0..h).map(|step| window.values[step * n + input]).collect()
            };
            ForecastPart { name, values: found.iter().flat_map(of_window).collect() }
        });
        std::iter::once(ForecastPart { name: BASELINE.to_owned(), values: first }).chain(others).collect()
    }
}
