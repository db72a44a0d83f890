//! What a training leaves beside weights: the errors that calibrated intervals, and the statistics of local scalers.

use std::collections::BTreeMap;

use foretell_calendar::Zone;
use foretell_checkpoint::Column;
use foretell_data::{LocalScaler, LocalStats, Panel};
use foretell_tables::Frame;

use crate::directory::dataset::read_times;
use crate::error::Error;
use crate::fitted::Fitted;

impl Fitted {
    /// The absolute errors that calibrated the intervals, in units of the target: a row for each series, cutoff and step, a column for
    /// each model of one number, NaN where the truth is not known. Nothing if no intervals were calibrated.
    pub fn calibration_errors(&self) -> Option<Frame> {
        let table = self.trained.conformal.as_ref()?.table();
        let mut frame = Frame::new(self.freq());
        frame.id_col.clone_from(&self.columns().id);
        frame.time_col.clone_from(&self.columns().time);
        for (name, column) in table {
            match column {
                Column::Text(ids) if *name == frame.id_col => {
                    frame.ids = ids.iter().map(|id| id.as_str().into()).collect();
                }
                Column::Integers(ids) if *name == frame.id_col => {
                    frame.integer_ids = true;
                    frame.ids = ids.iter().map(|id| id.to_string().into()).collect();
                }
                Column::Floats(errors) => frame.push_wide(name, errors.clone(), false),
                times => {
                    let (zone, times) = read_times(times, self.freq().kind()).ok()?;
                    match *name == frame.time_col {
                        true => frame.times = times,
                        false => frame.cutoffs = Some(times),
                    }
                    frame.zone = zone.and_then(|zone| Zone::parse(&zone).ok());
                }
            }
        }
        Some(frame)
    }

    /// How each series is scaled by its own statistics, and how static columns are ([`Forecaster::local_scaler`](crate::Forecaster::local_scaler),
    /// [`Forecaster::local_static_scaler`](crate::Forecaster::local_static_scaler)).
    pub fn local_scalers(&self) -> [Option<LocalScaler>; 2] {
        [self.trained.pipeline.local_scalers.series, self.trained.pipeline.local_scalers.statics]
    }

    /// The offset and the scale of every column that local scalers scale, of all rows of a panel but the last `held_out` of each
    /// series: of columns of rows a pair for each series, of static columns one pair.
    ///
    /// # Errors
    /// If the panel lacks a column that the models read, or a scaler refuses its values.
    pub fn local_statistics(
        &self,
        panel: &Panel,
        held_out: usize,
    ) -> Result<[BTreeMap<String, Vec<LocalStats>>; 2], Error> {
        Ok(self.trained.seen(panel, held_out)?.statistics(&self.columns().target))
    }
}
