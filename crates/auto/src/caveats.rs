//! What a forecast is not good for, in sentences.

use foretell::{Frame, Panel};

use crate::board::{AUTO, Board};
use crate::gathered::Gathered;
use crate::history::History;

/// Values of a window from which the share that intervals hold tells something.
const ENOUGH: usize = 20;

/// The share of values below which 80 % intervals are too narrow, whatever the window.
const NARROW: f64 = 0.6;

/// That intervals held far less than they say, in a sentence.
pub(crate) fn too_narrow(board: &Board, scored: &Gathered) -> Option<String> {
    let values: usize = scored.cases.iter().map(|case| case.y.iter().filter(|y| !y.is_nan()).count()).sum();
    let coverage = board.row(AUTO)?.coverage;
    (values >= ENOUGH && coverage < NARROW).then(|| {
        format!(
            "The intervals are too narrow: those of 80 % held {:.0} % of the {values} values that are scored; expect as many outside",
            100.0 * coverage
        )
    })
}

/// What the forecast is of rare series, in a sentence: the mean demand by these models, or, without any, the median.
pub(crate) fn rarely_sold(rare: usize, panel: &Panel, means_of: &[&str]) -> Option<String> {
    let what = match means_of {
        [] => "the forecast is the median, which is near 0 then, and medians do not add up to an amount; CrostonSBA, ADIDA and IMAPA forecast \
               the mean demand of a step"
            .to_owned(),
        models => format!(
            "the median says nothing of the amount there, and their forecast is the mean demand of a step ({}); their quantiles and scores \
             are as of others",
            models.join(", ")
        ),
    };
    (rare > 0).then(|| {
        let are = if rare == 1 { "is" } else { "are" };
        format!("{rare} of {} series {are} 0 at more than half of the steps: {what}", panel.n_series())
    })
}

/// That means of rare demand are rounded, in a sentence.
pub(crate) fn rounded_means(rare: usize, are_whole: bool) -> Option<String> {
    (rare > 0 && are_whole).then(|| {
        "Forecasts are rounded to whole numbers, those of series that are 0 at most steps, too: a mean demand of less than 0.5 a step is 0, and \
         steps no longer add up to the demand; leave them unrounded to order by their sum"
            .to_owned()
    })
}

/// Which series have ended, in a sentence.
pub(crate) fn ended(panel: &Panel, season: usize) -> Option<String> {
    const NAMED: usize = 5;
    let has_ended = |series: &usize| History::of_series(panel, *series, panel.len(*series), season).has_ended;
    let ended: Vec<usize> = (0..panel.n_series()).filter(has_ended).collect();
    let names: Vec<&str> = ended.iter().take(NAMED).map(|&series| &**panel.id(series)).collect();
    let more = if ended.len() > NAMED { ", ..." } else { "" };
    (!ended.is_empty()).then(|| {
        format!(
            "{} of {} series were 0 for more than a season, and longer than ever before: they are forecast as 0 ({}{more})",
            ended.len(),
            panel.n_series(),
            names.join(", ")
        )
    })
}

/// The series of which a forecast stops at zero although none of their values is that low: those whose trend would have sold less than
/// nothing.
pub fn stopped_at_zero<'f>(panel: &Panel, frame: &'f Frame) -> Vec<&'f str> {
    let Some((_, values)) = frame.columns.first() else { return Vec::new() };
    let mut start = 0;
    let stops = |ids: &'f [std::sync::Arc<str>]| {
        start += ids.len();
        let series = panel.find(&ids[0])?;
        let level = panel.level(series);
        let y = panel.known_y(series, 0..panel.len(series));
        let is_above = y.iter().filter(|y| !y.is_nan()).all(|y| level.value(*y) > 0.0);
        (is_above && values[start - ids.len()..start].contains(&0.0)).then_some(&*ids[0])
    };
    frame.ids.chunk_by(|one, other| one == other).filter_map(stops).collect()
}
