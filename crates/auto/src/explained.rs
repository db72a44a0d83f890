//! What each member adds to a forecast.

use foretell::own_estimator::{Contributions, ForecastPart};

use crate::board::BASELINE;
use crate::grid::{MEDIAN, WIDTH};
use crate::history::History;
use crate::member::ByMembers;
use crate::mix::{Mix, weighted};

/// The name of what bounds change: a series that has ended is forecast as zero, what was never below zero stops there, and the last
/// value stands for a series that no member can forecast; and of rare demand, whose forecast is its mean, how far that is from the median.
const LIMITS: &str = "limits";

/// What explains forecasts: the seasonal naive's forecast, from which all is measured, so that a shift of the series changes no
/// contribution; what each other member adds to it; and what limits change.
pub(crate) struct Explained<'a> {
    /// The members by their aliases.
    members: Vec<&'a str>,
    /// The place of the seasonal naive.
    baseline: Option<usize>,
}

impl<'a> Explained<'a> {
    /// That of members of these names.
    pub(crate) fn of(members: impl Iterator<Item = &'a str>) -> Self {
        let members: Vec<&str> = members.collect();
        let baseline = members.iter().position(|name| *name == BASELINE);
        Self { members, baseline }
    }

    /// The places of the members that have contributions: all but the one from which these are measured.
    fn places(&self) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(|place| self.baseline != Some(*place))
    }

    /// The names of the contributions.
    pub(crate) fn names(&self) -> Vec<String> {
        self.places().map(|place| self.members[place]).chain([LIMITS]).map(str::to_owned).collect()
    }

    /// The contributions to the forecast of the steps after each series: from the seasonal naive's forecast (or the last value, where it
    /// has none), each member adds its weight times how far it is from that, and the last one is what limits change.
    pub(crate) fn contributions(
        &self,
        found: &ByMembers,
        mix: &Mix,
        h: usize,
        history: impl Fn(usize) -> History,
    ) -> Vec<Contributions> {
        let of_window = |window: usize| {
            let members = found.of_window(window);
            let history = history(window);
            let mean = mix.mean(&history, h, &found.means_of(window));
            let (combined, _) = mix.combined(&history, h, &members);
            let shares = (!history.has_ended).then(|| mix.shares(&history, &members).0).flatten();
            let naive = self.baseline.and_then(|place| members[place]);
            let baseline: Vec<f32> = (0..h)
                .map(|step| {
                    let of_naive = naive.map(|values| values[step * WIDTH + MEDIAN]);
                    of_naive.filter(|value| value.is_finite()).unwrap_or(history.last as f32)
                })
                .collect();
            let before = shares.as_ref().map(|shares| weighted(shares, &members, h * WIDTH));
            let mut values = Vec::with_capacity(h * (self.members.len() + 1));
            for (step, &from) in baseline.iter().enumerate() {
                let median = step * WIDTH + MEDIAN;
                values.extend(self.places().map(|place| {
                    let share = shares.as_ref().map_or(0.0, |shares| shares[place]);
                    match members[place].filter(|_| share > 0.0) {
                        Some(own) => (share * (f64::from(own[median]) - f64::from(from))) as f32,
                        None => 0.0,
                    }
                }));
                let point = mean.as_ref().map_or(combined[median], |mean| mean[step]);
                values.push(point - before.as_ref().map_or(from, |before| before[median]));
            }
            Contributions { values, baseline }
        };
        (0..found.cutoffs.len()).map(of_window).collect()
    }

    /// The same as parts that add up to the forecast, the seasonal naive's first.
    pub(crate) fn parts(&self, found: &[Contributions], h: usize) -> Vec<ForecastPart> {
        let names = self.names();
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
