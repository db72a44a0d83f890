//! The automatic forecast after it is fitted.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use foretell::own_estimator::{
    Asked, Estimator, ForecastPart, ForecastValues, Learned, Span, Trained, WithoutParts,
};
use foretell::{EstimatorError, Fitted, Future, Panel, Workers, pack_model, unpack_model};

use crate::board::Board;
use crate::chosen::Chosen;
use crate::grid::{MEDIAN, WIDTH, value_at};
use crate::history::History;
use crate::member::{Grids, grids};
use crate::packed::{to_bytes, to_numbers};

/// Members with what they have learned, and how they are combined.
#[derive(Clone)]
pub struct TrainedAuto {
    /// What it was before its fit, with what was chosen.
    estimator: Box<dyn Estimator>,
    chosen: Arc<Chosen>,
    members: Vec<Arc<dyn Trained>>,
}

/// The name under which a member is kept.
fn name_of(place: usize) -> String {
    format!("member_{place}")
}

impl TrainedAuto {
    pub(crate) fn new(estimator: Box<dyn Estimator>, chosen: Chosen, members: Vec<Arc<dyn Trained>>) -> Self {
        Self { estimator, chosen: Arc::new(chosen), members }
    }

    /// The automatic forecast among fitted models, if there is one.
    pub fn of(fitted: &Fitted) -> Option<&Self> {
        fitted.models().iter().find_map(|model| {
            let any: &dyn Any = model.trained();
            any.downcast_ref()
        })
    }

    /// What was tried, how good it was, and what to expect.
    pub fn board(&self) -> &Board {
        &self.chosen.board
    }

    /// The names and weights of the members, without those that have none.
    pub fn weights(&self) -> Vec<(&str, f64)> {
        let mix = &self.chosen.mix;
        let named = self.members.iter().zip(&mix.weights);
        named
            .map(|(member, weight)| (member.estimator().alias(), *weight))
            .filter(|(_, weight)| *weight > 0.0)
            .collect()
    }

    /// The one with these members, as a directory keeps them.
    pub(crate) fn restored(
        estimator: Box<dyn Estimator>,
        chosen: Chosen,
        learned: &Learned,
    ) -> Result<Self, String> {
        let members = (0..chosen.members.len()).map(|place| {
            let numbers = learned.numbers.get(&name_of(place));
            let bytes = numbers.and_then(|numbers| to_bytes(numbers));
            unpack_model(&bytes.ok_or_else(|| format!("it has not its member {place}"))?)
        });
        let members = members.collect::<Result<_, String>>()?;
        Ok(Self::new(estimator, chosen, members))
    }

    /// The part of the panel that a member is given: the rows that its windows reach back to.
    fn shown(&self, place: usize, panel: &Panel, span: Span<'_>) -> Panel {
        let member = self.chosen.members[place].member();
        match span {
            Span::Predict { .. } => member.shown(panel),
            Span::Train { .. } | Span::Validation { .. } | Span::Test { .. } | Span::Insample { .. } => {
                panel.clone()
            }
        }
    }
}

impl Trained for TrainedAuto {
    fn estimator(&self) -> &dyn Estimator {
        &*self.estimator
    }

    fn reaches_any_horizon(&self) -> bool {
        self.members.iter().all(|member| member.reaches_any_horizon())
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let (chosen, h) = (&self.chosen, asked.h);
        let mut cutoffs = Vec::new();
        let mut of_members: Vec<Vec<Option<Vec<f32>>>> = Vec::with_capacity(self.members.len());
        let mut means: Vec<Vec<Option<Vec<f32>>>> = Vec::with_capacity(self.members.len());
        for (place, trained) in self.members.iter().enumerate() {
            let shown = self.shown(place, panel, asked.span);
            let found = grids(&**trained, &shown, (asked.span, h), workers)?;
            let Grids { cutoffs: mut own, values, is_point, means: own_means } = found;
            // Of a panel that is shown in part, cutoffs count fewer rows.
            own.iter_mut().for_each(|(series, rows)| *rows += panel.len(*series) - shown.len(*series));
            if place == 0 {
                cutoffs.clone_from(&own);
            }
            let mut by_window: Vec<Option<Vec<f32>>> = vec![None; cutoffs.len()];
            let mut means_by_window = by_window.clone();
            let mut own_means = own_means.into_iter().flatten();
            let needed = trained.estimator().needs().rows_needed;
            for (cutoff, values) in own.into_iter().zip(values) {
                let mean = own_means.next();
                if let Ok(window) = cutoffs.binary_search(&cutoff)
                    && cutoff.1 >= needed
                {
                    by_window[window] = Some(values);
                    means_by_window[window] = mean;
                }
            }
            if let Some(spread) = chosen.members[place].spread.as_ref().filter(|_| is_point) {
                for (window, values) in by_window.iter_mut().enumerate() {
                    if let Some(values) = values {
                        spread.add(&self.history(panel, cutoffs[window]), values);
                    }
                }
            }
            of_members.push(by_window);
            means.push(means_by_window);
        }
        let quantiles = asked.quantiles.unwrap_or_default();
        let mut values = Vec::with_capacity(cutoffs.len() * h * (1 + quantiles.len()));
        for (window, &cutoff) in cutoffs.iter().enumerate() {
            let members: Vec<Option<&[f32]>> = of_members.iter().map(|own| own[window].as_deref()).collect();
            let history = self.history(panel, cutoff);
            let (combined, _) = chosen.mix.combined(&history, h, &members);
            let means: Vec<Option<&[f32]>> = means.iter().map(|own| own[window].as_deref()).collect();
            let mean = chosen.mix.mean(&history, h, &means);
            for (number, step) in combined.chunks_exact(WIDTH).enumerate() {
                values.push(mean.as_ref().map_or(step[MEDIAN], |mean| mean[number]));
                values.extend(quantiles.iter().map(|&q| value_at(step, q)));
            }
        }
        Ok(ForecastValues { cutoffs, values })
    }

    /// Quantiles of members that are combined have no parts; which of the members have some is told.
    fn parts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        let has_parts = |(place, _): &(usize, (&str, f64))| {
            let shown = self.shown(*place, panel, Span::Predict { future });
            matches!(self.members[*place].parts(&shown, future, h, workers), Some(Ok(_)))
        };
        let named = self.members.iter().zip(&self.chosen.mix.weights);
        let named = named.map(|(member, weight)| (member.estimator().alias(), *weight)).enumerate();
        let (with, without): (Vec<_>, Vec<_>) = named.partition(has_parts);
        let listed = |members: &[(usize, (&str, f64))]| {
            let told = members.iter().map(|(_, (name, weight))| format!("{name} (weight {weight:.2})"));
            told.collect::<Vec<_>>().join(", ")
        };
        let what = match (&with[..], &without[..]) {
            ([], without) => format!("and its members have none either: {}", listed(without)),
            (with, without) => format!(
                "and those of its members by themselves have some, of {}{}; fit one of them alone (season_length = {}), and take its \
                 forecasts apart",
                listed(with),
                if without.is_empty() { String::new() } else { format!(", not of {}", listed(without)) },
                self.chosen.season
            ),
        };
        let reason = format!(
            "it combines the quantiles of several models, so that its forecasts have no parts, {what}"
        );
        Some(Err(WithoutParts { model: self.estimator.alias().to_owned(), reason }.into()))
    }

    fn held_bytes(&self) -> [u64; 2] {
        self.members.iter().fold([0, 0], |[own, copied], member| {
            let [more_own, more_copied] = member.held_bytes();
            [own + more_own, copied + more_copied]
        })
    }

    fn learned(&self) -> Learned {
        let packed = |(place, member): (usize, &Arc<dyn Trained>)| {
            let bytes = pack_model(&**member).expect("a model that was trained is whole");
            (name_of(place), to_numbers(&bytes))
        };
        Learned { series: Vec::new(), numbers: self.members.iter().enumerate().map(packed).collect() }
    }
}

impl TrainedAuto {
    /// What was known of a series at a cutoff.
    fn history(&self, panel: &Panel, (series, rows): (usize, usize)) -> History {
        let zero = f64::from(panel.level(series).hold(0.0));
        History::of(&panel.known_y(series, 0..rows), self.chosen.season, zero)
            .below_zero(self.chosen.below_zero)
    }
}

impl fmt::Debug for TrainedAuto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrainedAuto").field("weights", &self.weights()).finish()
    }
}
