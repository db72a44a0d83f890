//! The lessons of a teacher: stretches of history, each followed by what the teacher forecasts after it.

use foretell_data::{Excerpt, Panel};
use foretell_tables::Frame;

use crate::error::Error;
use crate::fitted::Fitted;
use crate::insample_options::InsampleOptions;
use crate::interval_error::IntervalError;

/// The forecasts that a student is to learn.
pub(super) struct Taught<'a> {
    pub(super) teacher: &'a Fitted,
    /// Rows of history that the student reads.
    pub(super) input_size: usize,
    /// Steps from one cutoff to the next.
    pub(super) step_size: usize,
    /// The quantiles that it is to learn, each as a path of its own; none for the point forecast.
    pub(super) quantiles: &'a [f64],
}

impl Taught<'_> {
    /// Rows of a lesson.
    pub(super) fn rows(&self) -> usize {
        self.input_size + self.teacher.h()
    }

    /// The lessons from the cutoffs in a panel before which the student has all the history that it reads, and how many cutoffs these are.
    pub(super) fn lessons(&self, panel: &Panel) -> Result<(Vec<Excerpt>, usize), Error> {
        let h = self.teacher.h();
        let long = panel.without_shorter_than(self.rows());
        if long.n_series() == 0 {
            return Ok((Vec::new(), 0));
        }
        let options = InsampleOptions::new(self.step_size).quantiles(self.quantiles);
        let (mut lessons, mut cutoffs) = (Vec::new(), 0);
        for block in self.teacher.predict_insample_blocks(&long, &options)? {
            let block = block?;
            let forecasts = self.forecasts(&block, &self.teacher.columns().target)?;
            let mut row = 0;
            while row < block.n_rows() {
                let id = &block.ids[row];
                let rows = block.ids[row..].iter().take_while(|other| *other == id).count();
                let series = panel.find(id).unwrap_or_default();
                let level = panel.level(series);
                let windows = rows / h;
                for window in 0..windows {
                    // The last window ends with the series.
                    let cutoff = panel.len(series) - h - (windows - 1 - window) * self.step_size;
                    let Some(from) = cutoff.checked_sub(self.input_size) else { continue };
                    cutoffs += 1;
                    let steps = row + window * h..row + (window + 1) * h;
                    for forecast in &forecasts {
                        let ends = forecast[steps.clone()].iter().map(|y| level.hold(*y)).collect();
                        lessons.push(Excerpt { series, rows: from..cutoff + h, ends });
                    }
                }
                row += rows;
            }
        }
        Ok((lessons, cutoffs))
    }

    /// What the teacher forecasts: the means over its models, or what its ensemble says if it has one, at each quantile or of a single
    /// number.
    fn forecasts(&self, block: &Frame, target: &str) -> Result<Vec<Vec<f64>>, Error> {
        let taught = match self.teacher.ensembles().last() {
            Some((column, _)) => vec![column.to_owned()],
            // Without baselines, which are no members.
            None => self.teacher.column_names()[..self.teacher.trained.n_members()].to_vec(),
        };
        let models = block.models(target);
        let members: Vec<_> =
            models.iter().filter(|model| taught.iter().any(|name| **name == *model.model)).collect();
        let mean = |places: Vec<Option<usize>>| -> Result<Vec<f64>, Error> {
            let names = places.into_iter().flatten().map(|place| &block.columns[place].0);
            let columns: Vec<_> = names.filter_map(|name| block.wide_column(name)).collect();
            if columns.is_empty() {
                return Err(IntervalError::NoIntervals { model: taught.join(", "), has_loss: false }.into());
            }
            let share = 1.0 / columns.len() as f64;
            let of_row = |row: usize| columns.iter().map(|column| share * column[row]).sum();
            Ok((0..block.n_rows()).map(of_row).collect())
        };
        match self.quantiles {
            [] => Ok(vec![mean(members.iter().map(|model| model.point()).collect())?]),
            quantiles => {
                let at = |&q: &f64| mean(members.iter().map(|model| model.quantile(q)).collect());
                quantiles.iter().map(at).collect()
            }
        }
    }
}
