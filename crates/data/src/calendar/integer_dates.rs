//! Integers that look like dates.

/// Years that people forecast in: integers beyond them are taken for step numbers.
const YEARS: std::ops::RangeInclusive<i64> = 1600..=2199;

/// Which formats all integers of a column could be dates of.
///
/// Only the months and days that a calendar can have at all are asked for, so that one 31st of February among
/// dates does not make step numbers of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerDates([bool; 3]);

impl Default for IntegerDates {
    fn default() -> Self {
        Self([true; 3])
    }
}

impl IntegerDates {
    const FORMATS: [&str; 3] = ["%Y%m%d", "%Y%m", "%Y"];

    /// Takes notice of the next integer.
    pub(crate) fn see(&mut self, integer: i64) {
        if self.0 == [false; 3] {
            return;
        }
        let month = |yyyymm: i64| YEARS.contains(&(yyyymm / 100)) && (1..=12).contains(&(yyyymm % 100));
        let fits = [
            month(integer / 100) && (1..=31).contains(&(integer % 100)),
            month(integer),
            YEARS.contains(&integer),
        ];
        self.0.iter_mut().zip(fits).for_each(|(all, fits)| *all &= fits);
    }

    /// The format that all of them fit.
    pub(crate) fn format(self) -> Option<&'static str> {
        self.0.iter().zip(Self::FORMATS).find(|(fits, _)| **fits).map(|(_, format)| format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_look_like_dates_only_if_all_of_them_do() {
        let format = |integers: &[i64]| {
            let mut dates = IntegerDates::default();
            integers.iter().for_each(|integer| dates.see(*integer));
            dates.format()
        };
        assert_eq!(format(&[20_240_131, 20_240_201]), Some("%Y%m%d"));
        assert_eq!(format(&[20_240_131, 20_240_230]), Some("%Y%m%d"), "a slip is told when it is read");
        assert_eq!(format(&[202_401, 202_412]), Some("%Y%m"));
        assert_eq!(format(&[1990, 2020]), Some("%Y"));
        assert_eq!(format(&(1..=3000).collect::<Vec<_>>()), None, "runs through years");
        assert_eq!(format(&(200_001..200_100).collect::<Vec<_>>()), None, "no months");
        assert_eq!(format(&[-2024, 0, i64::MIN, i64::MAX]), None);
    }
}
