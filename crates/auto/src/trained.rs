//! The automatic forecast after it is fitted.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use foretell::own_estimator::{
    Asked, Contributions, Estimator, ForecastPart, ForecastValues, Learned, Span, Trained,
};
use foretell::{Attribution, EstimatorError, Fitted, Future, Panel, Workers, pack_model, unpack_model};

use crate::board::Board;
use crate::caveats::rounded_means;
use crate::chosen::Chosen;
use crate::error::AutoError;
use crate::explained::Explained;
use crate::grid::{MEDIAN, WIDTH};
use crate::history::History;
use crate::member::{ByMembers, Grids, grids};
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

    /// The board of the automatic forecast among fitted models, if there is one, with what their settings make of its forecasts.
    pub fn board_of(fitted: &Fitted) -> Option<Board> {
        let mut board = Self::of(fitted)?.board().clone();
        board.told.extend(rounded_means(board.rare_means, fitted.kept_settings().integer));
        Some(board)
    }

    /// What was tried, how good it was, and what to expect.
    pub fn board(&self) -> &Board {
        &self.chosen.board
    }

    /// The widest level, between 0 and 1, whose intervals values of the past have measured: wider ones go on as those of a normal distribution;
    /// nothing of what was saved before these values were kept.
    pub fn widest_measured(&self) -> Option<f64> {
        self.chosen.tails.widest()
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

    /// Where a member forecasts the mean of rare demand.
    fn is_mean_far_from_median(&self) -> bool {
        self.members.iter().any(|member| member.is_mean_far_from_median())
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let h = asked.h;
        let found = self.by_members(panel, (asked.span, h), workers)?;
        let quantiles = asked.quantiles.unwrap_or_default();
        let mut values = Vec::with_capacity(found.cutoffs.len() * h * (1 + quantiles.len()));
        for (window, &cutoff) in found.cutoffs.iter().enumerate() {
            let history = self.history(panel, cutoff);
            let (combined, _) = self.chosen.mix.combined(&history, h, &found.of_window(window));
            let mean = self.chosen.mix.mean(&history, h, &found.means_of(window));
            for (number, step) in combined.chunks_exact(WIDTH).enumerate() {
                values.push(mean.as_ref().map_or(step[MEDIAN], |mean| mean[number]));
                values.extend(quantiles.iter().map(|&q| self.chosen.tails.value_at(&history, step, q)));
            }
        }
        Ok(ForecastValues { cutoffs: found.cutoffs, values })
    }

    fn parts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        Some(self.contributed(panel, future, h, workers).map(|found| self.explained().parts(&found, h)))
    }

    fn attributed_inputs(&self, _: &str, _: usize) -> Option<Vec<String>> {
        Some(self.explained().names())
    }

    /// Whatever the method: shares of members are what they are.
    fn contributions(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        (_, output): (Attribution, usize),
        workers: &Workers,
    ) -> Option<Result<Vec<Contributions>, EstimatorError>> {
        Some(match output {
            0 => self.contributed(panel, future, h, workers),
            output => Err(AutoError::Output { found: output }.into()),
        })
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
    /// What explains its forecasts.
    fn explained(&self) -> Explained<'_> {
        Explained::of(self.members.iter().map(|member| member.estimator().alias()))
    }

    /// The contributions of members to what follows each series.
    fn contributed(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Result<Vec<Contributions>, EstimatorError> {
        let found = self.by_members(panel, (Span::Predict { future }, h), workers)?;
        let history = |window: usize| self.history(panel, found.cutoffs[window]);
        Ok(self.explained().contributions(&found, &self.chosen.mix, h, history))
    }

    /// What each member forecasts.
    fn by_members(
        &self,
        panel: &Panel,
        (span, h): (Span<'_>, usize),
        workers: &Workers,
    ) -> Result<ByMembers, EstimatorError> {
        let chosen = &self.chosen;
        let mut cutoffs = Vec::new();
        let mut of_members: Vec<Vec<Option<Vec<f32>>>> = Vec::with_capacity(self.members.len());
        let mut means: Vec<Vec<Option<Vec<f32>>>> = Vec::with_capacity(self.members.len());
        for (place, trained) in self.members.iter().enumerate() {
            let shown = self.shown(place, panel, span);
            let found = grids(&**trained, &shown, (span, h), workers)?;
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
        Ok(ByMembers { cutoffs, values: of_members, means })
    }

    /// What was known of a series at a cutoff.
    fn history(&self, panel: &Panel, (series, rows): (usize, usize)) -> History {
        let history = History::of_series(panel, series, rows, self.chosen.season);
        history.below_zero(self.chosen.below_zero)
    }
}

impl fmt::Debug for TrainedAuto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrainedAuto").field("weights", &self.weights()).finish()
    }
}
