//! The series of a hierarchy, of those at its bottom.

use std::collections::HashSet;
use std::sync::Arc;

use foretell_data::Panel;
use foretell_hierarchy::Hierarchy;

use crate::error::Error;
use crate::hierarchies::alike_sums::alike_sums;
use crate::reconciliation_error::ReconciliationError;
use crate::warning::Warning;

/// The panel of all series of a hierarchy, of a panel that has those at the bottom: the aggregates are added up, and whatever else the
/// panel has is left out. Before a series begins it adds nothing; where a value is unknown (`available_mask`), the sums are.
///
/// ```
/// use foretell::hierarchy::Hierarchy;
/// use foretell::{Freq, Panel, sum_series};
///
/// let panel = Panel::from_series(Freq::parse("1")?, [("a", 0, vec![1.0, 2.0]), ("b", 0, vec![10.0, 20.0])])?;
/// let all = sum_series(&panel, &Hierarchy::from_levels(&[("a", ["both"]), ("b", ["both"])])?)?;
/// assert_eq!(all.y(all.find("both").unwrap()), [11.0, 22.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A series at the bottom that the panel does not have, or series that end at different times.
pub fn sum_series(panel: &Panel, hierarchy: &Hierarchy) -> Result<Panel, Error> {
    let bottom = bottom_of(panel, hierarchy)?;
    let mut times: Vec<i64> = bottom.iter().flat_map(|&series| panel.times(series)).collect();
    times.sort_unstable();
    times.dedup();
    let shown = |time: i64| panel.freq().kind().display_in(panel.zone(), time);
    let last = times.last().copied().unwrap_or_default();
    for &series in &bottom {
        let end = panel.time(series, panel.len(series) - 1);
        if end != last {
            let (id, found, expected) = (panel.id(series).to_string(), shown(end), shown(last));
            return Err(ReconciliationError::Ends { id, found, expected }.into());
        }
    }
    let known: Vec<_> =
        bottom.iter().map(|&series| panel.known_values(series, 0..panel.len(series))).collect();
    let sum = |number: usize| {
        let members = || hierarchy.members(number).iter().map(|&member| &known[member as usize]);
        let mut sums = vec![0.0; members().map(|y| y.len()).max().unwrap_or(0)];
        for y in members() {
            let start = sums.len() - y.len();
            sums[start..].iter_mut().zip(&y[..]).for_each(|(sum, y)| *sum += *y);
        }
        sums
    };
    let sums = (0..hierarchy.n_aggregates()).map(sum);
    let mut builder = Panel::builder(panel.freq().kind());
    if let Some(zone) = panel.zone() {
        builder = builder.zone(zone.clone());
    }
    builder = builder.freq(panel.freq());
    let mut mask = Vec::new();
    for (id, y) in hierarchy.ids().zip(sums.chain(known.iter().map(|y| y.to_vec()))) {
        mask.extend(y.iter().map(|y| if y.is_nan() { 0.0 } else { 1.0 }));
        // As all series have the same step and the same end, each has the last of all times.
        builder = builder.wide_series(id, &times[times.len() - y.len()..], &y);
    }
    if mask.contains(&0.0) {
        builder = builder.available_mask(&mask);
    }
    Ok(builder.build()?)
}

/// The places in a panel of the series at the bottom.
pub(super) fn bottom_of(panel: &Panel, hierarchy: &Hierarchy) -> Result<Vec<usize>, ReconciliationError> {
    let find =
        |id: &Arc<str>| panel.find(id).ok_or_else(|| ReconciliationError::NotInData { id: id.to_string() });
    hierarchy.bottom_ids().iter().map(find).collect()
}

/// The series at the bottom that begin after the first of a panel that has them, each with its first time: before it their sums are
/// without them. The first time of all comes first; nothing where all begin together.
pub(crate) fn late_series(panel: &Panel, hierarchy: &Hierarchy) -> Option<(String, Vec<(String, String)>)> {
    let shown = |time: i64| panel.freq().kind().display_in(panel.zone(), time);
    let first = |id: &str| panel.find(id).filter(|&series| panel.len(series) > 0).map(|at| panel.time(at, 0));
    let starts: Vec<(&str, i64)> =
        hierarchy.bottom_ids().iter().filter_map(|id| Some((&**id, first(id)?))).collect();
    let earliest = starts.iter().map(|(_, time)| *time).min()?;
    let late = starts.iter().filter(|(_, time)| *time > earliest);
    let late: Vec<(String, String)> = late.map(|(id, time)| ((*id).to_owned(), shown(*time))).collect();
    (!late.is_empty()).then(|| (shown(earliest), late))
}

/// What a sum does not say: which of its series begin late, so that it is without them before, and whether another sum has its name but for
/// blanks and the case of letters.
pub fn warnings_of_sums(panel: &Panel, hierarchy: &Hierarchy) -> Vec<Warning> {
    let late = late_series(panel, hierarchy).map(|(first, series)| Warning::LateSeries { first, series });
    alike_sums(hierarchy).into_iter().chain(late).collect()
}

/// The panel as it is if it has a sum of the hierarchy, else with all of them: see [`sum_series`].
///
/// # Errors
/// As [`sum_series`]; a panel with a series that the hierarchy does not have; a panel without sums that has further columns, since these
/// are read for models that need them of all series.
pub fn with_sums(panel: Panel, hierarchy: &Hierarchy) -> Result<Panel, Error> {
    let known: HashSet<&str> = hierarchy.ids().map(|id| &**id).collect();
    if let Some(id) = panel.ids().find(|id| !known.contains(&***id)) {
        return Err(ReconciliationError::NotInHierarchy { id: id.to_string() }.into());
    }
    if hierarchy.ids().take(hierarchy.n_aggregates()).any(|id| panel.find(id).is_some()) {
        return Ok(panel);
    }
    let columns = panel.column_names().collect::<Vec<_>>().join(", ");
    match columns.is_empty() {
        true => sum_series(&panel, hierarchy),
        false => Err(ReconciliationError::FurtherColumns { columns }.into()),
    }
}

/// A sum among the last rows of a panel that is none: its id, its time, its value, and what its series add up to.
pub(crate) fn wrong_sum(panel: &Panel, hierarchy: &Hierarchy) -> Option<(String, i64, [f64; 2])> {
    /// Of each series: a table whose sums are others is wrong everywhere.
    const ROWS: usize = 100;
    /// What rounded numbers may miss, as a share of the sum of their magnitudes.
    const ROUNDING: f64 = 1e-3;
    let tail = |series: usize| {
        let len = panel.len(series);
        panel.known_values(series, len.saturating_sub(ROWS)..len)
    };
    // Before a series begins it adds nothing.
    let at = |tail: &[f64], back: usize| tail.len().checked_sub(back + 1).map_or(0.0, |row| tail[row]);
    let last = |series: usize| panel.time(series, panel.len(series) - 1);
    let bottom: Vec<usize> = hierarchy.bottom_ids().iter().map(|id| panel.find(id)).collect::<Option<_>>()?;
    let tails: Vec<Vec<f64>> = bottom.iter().map(|&series| tail(series)).collect();
    hierarchy.ids().take(hierarchy.n_aggregates()).enumerate().find_map(|(number, id)| {
        let sum = panel.find(id)?;
        let members = hierarchy.members(number);
        if members.iter().any(|&member| last(bottom[member as usize]) != last(sum)) {
            return None;
        }
        let own = tail(sum);
        (0..own.len()).find_map(|back| {
            let (mut expected, mut size) = (0.0, 0.0);
            for value in members.iter().map(|&member| at(&tails[member as usize], back)) {
                expected += value;
                size += value.abs();
            }
            let found = at(&own, back);
            // What is not known is not compared.
            let differs = (found - expected).abs() > ROUNDING * size;
            differs.then(|| (id.to_string(), panel.time(sum, panel.len(sum) - 1 - back), [found, expected]))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::Freq;

    fn panel(series: &[(&str, i64, &[f32])]) -> Panel {
        Panel::from_series(Freq::parse("1").unwrap(), series.iter().copied()).unwrap()
    }

    fn hierarchy() -> Hierarchy {
        Hierarchy::from_levels(&[("a", ["x"]), ("b", ["x"]), ("c", ["y"])]).unwrap()
    }

    #[test]
    fn labels_that_are_written_in_two_ways_are_told() {
        let panel = panel(&[("a", 0, &[1.0]), ("b", 0, &[1.0]), ("c", 0, &[1.0])]);
        let told = |labels: [[&str; 2]; 3]| {
            let series: Vec<(&str, [&str; 2])> = ["a", "b", "c"].into_iter().zip(labels).collect();
            let warnings = warnings_of_sums(&panel, &Hierarchy::from_levels(&series).unwrap());
            warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let two = told([["North", "x"], ["north ", "X"], ["South", "x"]]);
        assert_eq!(
            two,
            [
                "the sums \"North\" and \"north \" (and 1 more such pairs) differ in blanks or the case of letters alone, and are sums of \
              their own; write their labels alike if they are one"
            ]
        );
        assert!(told([["North", "x"], ["North", "y"], ["South", "x"]]).is_empty());
    }

    #[test]
    fn a_series_adds_nothing_before_it_begins() {
        let panel = panel(&[
            ("a", 3, &[1.0, 2.0]),
            ("b", 2, &[10.0, 20.0, 30.0]),
            ("c", 1, &[1.0; 4]),
            ("d", 9, &[7.0]),
        ]);
        let all = sum_series(&panel, &hierarchy()).unwrap();
        assert_eq!(all.n_series(), 6);
        for (id, first, y) in [
            ("x", 2, &[10.0, 21.0, 32.0][..]),
            ("Total", 1, &[1.0, 11.0, 22.0, 33.0][..]),
            ("a", 3, &[1.0, 2.0][..]),
        ] {
            let series = all.find(id).unwrap();
            assert_eq!((all.time(series, 0), all.y(series)), (first, y), "{id}");
        }
    }

    #[test]
    fn series_that_begin_late_are_told() {
        let late = panel(&[("a", 1, &[1.0, 2.0]), ("b", 2, &[10.0]), ("c", 1, &[1.0; 2])]);
        let [warning] = &warnings_of_sums(&late, &hierarchy())[..] else { panic!("b begins late") };
        let warning = warning.to_string();
        assert!(warning.contains("begin after 1: b (2)"), "{warning}");
        let even = panel(&[("a", 1, &[1.0, 2.0]), ("b", 1, &[10.0, 3.0]), ("c", 1, &[1.0; 2])]);
        assert!(warnings_of_sums(&even, &hierarchy()).is_empty());
    }

    #[test]
    fn unknown_values_make_unknown_sums() {
        let panel = Panel::builder(Freq::parse("1").unwrap().kind())
            .series("a", &[1_i64, 2], &[1.0, f32::NAN])
            .series("b", &[1_i64, 2], &[1.0, 1.0])
            .series("c", &[1_i64, 2], &[1.0, 1.0])
            .available_mask(&[1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
            .freq(Freq::parse("1").unwrap())
            .build()
            .unwrap();
        let all = sum_series(&panel, &hierarchy()).unwrap();
        let known = |id: &str| all.known_y(all.find(id).unwrap(), 0..2).into_owned();
        assert_eq!((known("x")[0], known("y")), (2.0, vec![1.0, 1.0]));
        assert!(known("x")[1].is_nan() && known("Total")[1].is_nan());
    }

    #[test]
    fn series_that_are_missing_or_end_early_are_refused() {
        let fault = |series: &[(&str, i64, &[f32])]| {
            sum_series(&panel(series), &hierarchy()).unwrap_err().to_string()
        };
        let early = fault(&[("a", 1, &[1.0, 2.0]), ("b", 1, &[1.0]), ("c", 1, &[1.0, 2.0])]);
        assert!(early.contains("series b ends at 1, others at 2"), "{early}");
        assert!(
            early.contains("with rows of 0 if they were 0 since (`Panel::with_end = common`)"),
            "{early}"
        );
        assert!(fault(&[("a", 1, &[1.0]), ("b", 1, &[1.0])]).contains("no series c"));
    }

    #[test]
    fn sums_that_are_none_are_found() {
        let panel = |x: [f32; 3]| {
            panel(&[
                ("x", 1, &x),
                ("Total", 1, &[3.0, 23.0, 35.0]),
                ("y", 1, &[1.0, 1.0, 2.0]),
                ("a", 1, &[2.0, 2.0, 3.0]),
                ("b", 2, &[20.0, 30.0]),
                ("c", 1, &[1.0, 1.0, 2.0]),
            ])
        };
        assert_eq!(wrong_sum(&panel([2.0, 22.0, 33.0]), &hierarchy()), None);
        assert_eq!(wrong_sum(&panel([2.0, 22.01, 33.0]), &hierarchy()), None, "rounded");
        let found = wrong_sum(&panel([2.0, 23.0, 33.0]), &hierarchy());
        assert_eq!(found, Some(("x".to_owned(), 2, [23.0, 22.0])));
    }

    #[test]
    fn series_beside_a_hierarchy_are_refused() {
        let all = panel(&[("a", 1, &[1.0]), ("b", 1, &[1.0]), ("c", 1, &[1.0]), ("d", 1, &[1.0])]);
        let error = with_sums(all, &hierarchy()).unwrap_err().to_string();
        assert!(error.contains("the series d, which is not in the hierarchy"), "{error}");
    }

    #[test]
    fn sums_have_no_further_columns() {
        let priced = |ids: &[&str]| {
            let builder =
                Panel::builder(foretell_calendar::TimeKind::Integer).freq(Freq::parse("1").unwrap());
            let builder = ids.iter().fold(builder, |builder, id| builder.series(id, &[0, 1], &[1.0; 2]));
            builder.column("price", &vec![2.0; 2 * ids.len()]).build().unwrap()
        };
        let error = with_sums(priced(&["a", "b", "c"]), &hierarchy()).unwrap_err().to_string();
        assert!(error.contains("the models read price") && error.contains("rows of the sums"), "{error}");
        let all: Vec<String> = hierarchy().ids().map(|id| id.to_string()).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(with_sums(priced(&all), &hierarchy()).unwrap().n_series(), all.len());
    }
}
