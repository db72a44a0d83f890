//! Several panels in one.

use super::panel::{Data, Panel, Series};

impl Panel {
    /// The series of several panels in one, sorted by id as those of any panel. Nothing unless the panels are of one frequency, zone and
    /// type of ids, have no columns beside ids, times and target, and no two series have one id.
    pub fn joined(panels: &[&Self]) -> Option<Self> {
        let first = panels.first()?;
        let is_plain = |panel: &&Self| {
            let Data { mask, weight, columns, integer_ids, .. } = &*panel.data;
            let is_alike = panel.freq() == first.freq() && panel.zone() == first.zone();
            let has_others = mask.is_some() || weight.is_some() || !columns.is_empty();
            is_alike && *integer_ids == first.data.integer_ids && !has_others && panel.statics.is_empty()
        };
        if !panels.iter().all(is_plain) {
            return None;
        }
        let mut sources: Vec<(&Self, &Series)> =
            panels.iter().flat_map(|panel| panel.series.iter().map(|series| (*panel, series))).collect();
        sources.sort_by(|(_, a), (_, b)| a.id.cmp(&b.id));
        if sources.windows(2).any(|pair| pair[0].1.id == pair[1].1.id) {
            return None;
        }
        let mut y = Vec::with_capacity(sources.iter().map(|(_, series)| series.len).sum());
        let mut all = Vec::with_capacity(sources.len());
        for (place, (panel, series)) in sources.into_iter().enumerate() {
            let start = y.len();
            y.extend_from_slice(&panel.data.y[series.rows()]);
            all.push(Series { start, reach: y.len(), place, ..series.clone() });
        }
        let mut data = Data::of_slices(y);
        data.table = first.data.table.clone();
        data.integer_ids = first.data.integer_ids;
        Some(Self::new(first.freq(), first.zone().cloned(), all, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::Freq;

    fn panel(freq: &str, series: &[(&str, i64, &[f32])]) -> Panel {
        Panel::from_series(Freq::parse(freq).unwrap(), series.iter().copied()).unwrap()
    }

    #[test]
    fn series_of_several_panels_are_those_of_one() {
        let (a, b) = (
            panel("1", &[("c", 3, &[1.0, 2.0]), ("a", 0, &[5.0])]),
            panel("1", &[("b", 7, &[3.0, 4.0, 6.0])]),
        );
        let joined = Panel::joined(&[&b, &a.without_last(0)]).unwrap();
        let whole = panel("1", &[("a", 0, &[5.0]), ("b", 7, &[3.0, 4.0, 6.0]), ("c", 3, &[1.0, 2.0])]);
        assert_eq!(joined.ids().collect::<Vec<_>>(), whole.ids().collect::<Vec<_>>());
        for series in 0..3 {
            assert_eq!(joined.y(series), whole.y(series));
            assert_eq!(joined.time(series, 0), whole.time(series, 0));
        }
        assert!(Panel::joined(&[&a, &a]).is_none(), "two series of one id");
        assert!(Panel::joined(&[&a, &panel("2", &[("d", 0, &[1.0])])]).is_none());
        assert!(Panel::joined(&[&a, &panel("1", &[("d", 0, &[1.0])]).with_integer_ids()]).is_none());
        let with_static = a.clone().with_static("size", &[("a", 1.0), ("c", 2.0)]).unwrap();
        assert!(Panel::joined(&[&with_static, &b]).is_none() && Panel::joined(&[]).is_none());
    }
}
