//! Forecasts that do not follow the data that they are shown beside.

use std::collections::HashMap;
use std::fmt;

use foretell_data::Panel;
use foretell_tables::Frame;

use super::windows::civil;

/// Series whose forecasts do not touch their data, as where these are of another year.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForecastsApart {
    /// The first of them,
    pub id: String,
    /// the first and the last time of its data,
    pub data: [String; 2],
    /// those of its forecasts,
    pub forecasts: [String; 2],
    /// and how many more there are.
    pub more: usize,
}

impl fmt::Display for ForecastsApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, data: [begin, end], forecasts: [first, last], more } = self;
        let others = if *more > 0 { format!(" (and so {more} more)") } else { String::new() };
        write!(
            f,
            "the forecasts do not follow the data: series `{id}` has data of {begin} to {end}, and forecasts of {first} to {last}{others}"
        )
    }
}

/// Whether forecasts of some of these series, by their places in the panel, begin later than a step after their data, or end before them.
pub fn forecasts_apart(
    panel: &Panel,
    frame: &Frame,
    series: impl IntoIterator<Item = usize>,
) -> Option<ForecastsApart> {
    let mut spans = HashMap::<&str, [i64; 2]>::new();
    for (id, &time) in frame.ids.iter().zip(&frame.times) {
        let span = spans.entry(id).or_insert([time; 2]);
        *span = [span[0].min(time), span[1].max(time)];
    }
    let (zone, kind) = (panel.zone(), panel.freq().kind());
    let apart = |series: usize| {
        let &[first, last] = spans.get(&**panel.id(series))?;
        let (begin, end) = (panel.times(series).next()?, panel.times(series).last()?);
        let next = panel.freq().next_in(zone, end, 1).unwrap_or(i64::MAX);
        let shown = |time| kind.display(civil(zone, time));
        (first > next || last < begin).then(|| (series, [begin, end].map(shown), [first, last].map(shown)))
    };
    let mut apart = series.into_iter().filter_map(apart);
    let (series, data, forecasts) = apart.next()?;
    Some(ForecastsApart { id: panel.id(series).to_string(), data, forecasts, more: apart.count() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use foretell_calendar::Freq;

    use super::*;

    #[test]
    fn forecasts_of_other_times_are_apart() {
        let freq = Freq::parse("1").unwrap();
        let series = ["a", "b", "c"].map(|id| (id, 10, vec![1.0; 5]));
        let panel = Panel::from_series(freq, series).unwrap();
        let told = |times: [i64; 3]| {
            let ids = ["a", "b", "c"].map(Arc::from).to_vec();
            let frame = Frame { ids, times: times.to_vec(), ..Frame::new(freq) };
            forecasts_apart(&panel, &frame, 0..3).map(|apart| apart.to_string())
        };
        assert_eq!(told([15, 12, 10]), None);
        assert_eq!(
            told([15, 16, 9]).unwrap(),
            "the forecasts do not follow the data: series `b` has data of 10 to 14, and forecasts of 16 to 16 (and so 1 more)"
        );
    }
}
