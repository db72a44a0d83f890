//! Values of the target that look like marks of missing ones: -999, 9999.9, ...

use super::panel::Panel;
use foretell_tables::ReadNote;

impl Panel {
    /// The panel with a note of the value at one end of the target that looks like a mark, if there is one.
    pub(super) fn with_marks_noted(self) -> Self {
        if self.has_levels() {
            return self;
        }
        let Some((value, rows)) = mark(&self.data.y) else { return self };
        let note = ReadNote::Mark { table: self.data.table.clone(), value: value.to_string(), rows };
        self.with_notes(vec![note])
    }
}

/// The least or the greatest value, and how often it stands there, if its digits are all 9 and all others are far closer to 0, or it alone is
/// below 0.
fn mark(values: &[f32]) -> Option<(f32, usize)> {
    [f32::min as fn(f32, f32) -> f32, f32::max].into_iter().find_map(|further| {
        let end = values.iter().copied().reduce(further).filter(|end| is_of_nines(*end))?;
        let others = values.iter().copied().filter(|value| *value != end);
        let next = others.reduce(further)?;
        let is_far = next.abs() * 4.0 < end.abs() || (end < 0.0 && next >= 0.0);
        is_far.then(|| (end, values.iter().filter(|value| **value == end).count()))
    })
}

fn is_of_nines(value: f32) -> bool {
    let least = if value < 0.0 { 99.0 } else { 999.0 };
    value.abs() >= least && value.abs().to_string().bytes().all(|digit| [b'9', b'.'].contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nines_far_from_all_others_are_a_mark() {
        assert_eq!(mark(&[3.0, -999.0, 12.0, -999.0]), Some((-999.0, 2)));
        assert_eq!(mark(&[3.5, -99.9, 12.0]), Some((-99.9, 1)));
        assert_eq!(mark(&[1400.0, -999.0, 1200.0]), Some((-999.0, 1)));
        assert_eq!(mark(&[3.5, 9999.9, 12.0]), Some((9999.9, 1)));
        for plain in [
            &[3.0, 99.0, 12.0][..],
            &[700.0, 999.0, 300.0],
            &[-900.0, -999.0, 5.0],
            &[999.0, 999.0],
            &[3.0, -998.0],
            &[f32::NAN, 3.0],
            &[],
        ] {
            assert_eq!(mark(plain), None, "{plain:?}");
        }
    }
}
