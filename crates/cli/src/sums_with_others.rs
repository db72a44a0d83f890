//! Sums of a hierarchy that were forecast with series which have no forecasts of their own.

use std::collections::HashMap;

use foretell::ForecastTable;
use foretell::hierarchy::Hierarchy;

/// How far a sum may be from its series, as a share of them, before it is said to hold others: forecasts do not add up by themselves.
const APART: f64 = 0.25;

/// Says of which sum the forecasts are far from those of its series together, where some of these have none: what is of them is then spread
/// over the others. Nothing where such sums are as near as complete ones.
pub(crate) fn sums_with_others(
    forecast: &ForecastTable,
    hierarchy: &Hierarchy,
    target: &str,
) -> Option<String> {
    let place = forecast.models(target).iter().find_map(|model| model.point())?;
    let mut totals = HashMap::<&str, f64>::new();
    for (id, value) in forecast.ids.iter().zip(&forecast.columns[place].1) {
        *totals.entry(&**id).or_default() += value;
    }
    let (bottom, mut usual) = (hierarchy.bottom_ids(), 0.0_f64);
    // The share that a sum is apart, its times of its series, its id and the series that have no forecasts.
    let mut found: Vec<(f64, f64, &str, Vec<&str>)> = Vec::new();
    for (number, id) in hierarchy.ids().enumerate().take(hierarchy.n_aggregates()) {
        let Some(own) = totals.get(&**id) else { continue };
        let members = hierarchy.members(number).iter().map(|&member| &*bottom[member as usize]);
        let (there, absent): (Vec<&str>, Vec<&str>) = members.partition(|id| totals.contains_key(*id));
        let sum: f64 = there.iter().map(|id| totals[*id]).sum();
        let apart = (own - sum).abs() / sum.abs();
        match absent.is_empty() {
            true => usual = usual.max(apart),
            false => found.push((apart, own / sum, &**id, absent)),
        }
    }
    found.retain(|(apart, times, ..)| *apart > APART.max(2.0 * usual) && times.is_finite());
    let (_, times, id, absent) = found.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    const NAMED: usize = 8;
    let more = if absent.len() > NAMED { ", ..." } else { "" };
    let absent = absent[..absent.len().min(NAMED)].join(", ");
    Some(format!(
        "the forecasts of {id} are {times:.1} times those of its series that are forecast: they seem to hold {absent}{more}, too, and what is of these is spread \
         over the others; forecast them as well, or leave the forecasts of sums out (--method BottomUp)"
    ))
}
