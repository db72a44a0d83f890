//! Errors of tables that are compared.

use std::sync::Arc;

use foretell_data::DataError;
use foretell_evaluate::EvaluationError;
use foretell_messages::Setting;

use crate::one_zone::OneZone;
use crate::other_steps::OtherSteps;

/// How two rows of one time are told apart.
fn apart(clocks: &Option<String>) -> String {
    match clocks {
        Some(zone) => format!(
            "clocks of {zone} were put forward to that time, and one of the rows is of the hour that they skipped: if the times are in standard time, \
             also in summer, name its offset ({}); if they are local, leave out the row of the time that never was",
            Setting::Zone.to("+01:00")
        ),
        None => "keep one of them, or, where they are of two forecasts, tell them apart by a column `cutoff`, the last time that each knew"
            .to_owned(),
    }
}

/// Why forecasts cannot be scored; the message says what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ScoresError {
    /// A table without a column that is needed, or with ids of another spelling.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Metrics or models that are none.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// A table of forecasts none of whose rows has come true.
    #[error(
        "no row of {forecast} has come true: no series and time of it has a value ({found}); check ids and times of both tables, and \
         that the actual values reach over the forecast"
    )]
    NothingCameTrue {
        /// The file of forecasts.
        forecast: Arc<str>,
        /// Series and times of the tables.
        found: String,
    },
    /// Forecasts of other steps than those of the actual values.
    #[error(transparent)]
    OtherSteps(#[from] Box<OtherSteps>),
    /// Times with a zone beside times without one.
    #[error(transparent)]
    OneZone(#[from] Box<OneZone>),
    /// A table with two rows of one series and time (and cutoff), which would count twice.
    #[error(
        "{table} has the series {id} at {time} twice, in the rows {} and {}; {}",
        rows[0], rows[1], apart(clocks)
    )]
    DoubledRow {
        /// The file.
        table: Arc<str>,
        /// The series.
        id: String,
        /// The time.
        time: String,
        /// The rows, counted from 1 behind the header.
        rows: [usize; 2],
        /// The zone whose clocks were put forward to that time, if they were: they showed no hour before it.
        clocks: Option<String>,
    },
    /// A model that a table has no forecasts of.
    #[error("there are no forecasts of {name}; the models are {}", found.join(", "))]
    UnknownForecasts {
        /// The model.
        name: String,
        /// The models that there are.
        found: Vec<String>,
    },
    /// Forecasts without ids beside several series.
    #[error(
        "{forecast} has no ids of series, and {beside} has several, {} and {} among them; give the forecasts a column of ids, which says what \
         they are of, or keep the rows of that series alone in {beside}",
        series[0], series[1]
    )]
    UnnamedForecasts {
        /// The file of forecasts.
        forecast: Arc<str>,
        /// That of the series.
        beside: Arc<str>,
        /// Two of them.
        series: Box<[Arc<str>; 2]>,
    },
    /// A table without a column of forecasts.
    #[error("{forecast} has no column of forecasts beside ids, times, cutoff and target; add one per model")]
    NoForecasts {
        /// The file of forecasts.
        forecast: Arc<str>,
    },
    /// A table of sample paths where one of forecasts is expected.
    #[error(
        "{table} holds sample paths, which its column `sample_id` numbers: many values of each series and time, where one forecast \
         is expected; give forecasts instead (of `foretell predict`, which has intervals, too), or the rows of one path"
    )]
    SamplePaths {
        /// The file of the paths.
        table: Arc<str>,
    },
}
