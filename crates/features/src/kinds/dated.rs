//! Columns that the date and hour of a row give: weekday, month, the end of a quarter.

use crate::clock::CivilTime;
use crate::feature::Feature;
use crate::rows::FeatureRows;

/// A function of the date and hour.
pub(crate) struct Dated {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&CivilTime) -> f32,
}

impl Feature for Dated {
    fn columns(&self) -> Vec<String> {
        vec![self.name.to_owned()]
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        let [out] = out else { unreachable!("one column") };
        out.iter_mut().zip(rows.dates).for_each(|(out, date)| *out = (self.of)(date));
    }
}

impl std::fmt::Debug for Dated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
