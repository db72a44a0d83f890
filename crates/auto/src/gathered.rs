//! What the members would have forecast, case by case, without gaps.

use crate::guard::justifies;
use crate::loss::Case;
use crate::mix::Mix;
use crate::rehearse::Tried;
use crate::spread::Spread;
use crate::stage::Stage;

/// Cases with a forecast of each member.
pub(crate) struct Gathered {
    pub(crate) cases: Vec<Case>,
    /// `[member][case]`, quantiles `[h, WIDTH]`.
    pub(crate) forecasts: Vec<Vec<Vec<f32>>>,
}

/// The forecasts of these windows: those of models without quantiles get some, of their own errors or of those that are given; those
/// that are missing or that nothing justifies are the baseline's. The number of the latter of each member, too.
pub(crate) fn gathered(
    tried: &[Tried],
    stages: &[Stage],
    places: &[usize],
    spreads: Option<&[Option<Spread>]>,
) -> (Gathered, Vec<Option<Spread>>, Vec<usize>) {
    let cases: Vec<Case> =
        places.iter().flat_map(|&place| stages[place].cases.iter().map(|(_, case)| case.clone())).collect();
    let raw: Vec<Vec<Option<Vec<f32>>>> = tried
        .iter()
        .map(|tried| {
            let of_window = |&place: &usize| match &tried.forecasts[place] {
                Some(forecasts) => forecasts.clone(),
                None => vec![None; stages[place].cases.len()],
            };
            places.iter().flat_map(of_window).collect()
        })
        .collect();
    let spreads: Vec<Option<Spread>> = match spreads {
        Some(spreads) => spreads.to_vec(),
        None => tried
            .iter()
            .zip(&raw)
            .map(|(tried, raw)| tried.is_point.then(|| Spread::of(&cases, raw)))
            .collect(),
    };
    let mut refused = vec![0; tried.len()];
    let mut forecasts: Vec<Vec<Vec<f32>>> = Vec::with_capacity(tried.len());
    for (member, (raw, spread)) in raw.into_iter().zip(&spreads).enumerate() {
        let mut own = Vec::with_capacity(cases.len());
        for (case, values) in raw.into_iter().enumerate() {
            let history = &cases[case].history;
            let values = values.map(|mut values| {
                if let Some(spread) = spread {
                    spread.add(history, &mut values);
                }
                values
            });
            let was_there = values.is_some();
            let sound = values.filter(|values| justifies(history, values));
            refused[member] += usize::from(was_there && sound.is_none());
            own.push(sound.unwrap_or_else(|| match forecasts.first() {
                Some(baseline) => baseline[case].clone(),
                None => Mix::default().combined(history, cases[case].y.len(), &[]).0,
            }));
        }
        forecasts.push(own);
    }
    (Gathered { cases, forecasts }, spreads, refused)
}
