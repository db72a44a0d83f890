//! Months of a year as tables head their columns: `Jan`, `January`, `M01`, `01`, and in other languages.

use foretell_calendar::Locale;

/// The twelve columns that are headed by the months of a year, in their order: by names, all of one language, or by numbers, with
/// or without a letter M. Each is a position.
pub(crate) fn months_of_year<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<[usize; 12]> {
    let named = Locale::all().find_map(|locale| twelve(names.clone().map(|name| locale.month_headed(name))));
    named.or_else(|| twelve(names.map(numbered)))
}

/// Whether they are headed by names, so that nothing else can be meant.
pub fn named_months<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<[usize; 12]> {
    let plain_number = |name: &str| name.trim().bytes().all(|byte| byte.is_ascii_digit());
    months_of_year(names.clone()).filter(|_| names.filter(|name| plain_number(name)).count() < 12)
}

/// The number of a month without its name, from 0.
fn numbered(name: &str) -> Option<usize> {
    let name = name.trim();
    let digits = name.strip_prefix(['M', 'm']).unwrap_or(name);
    let plain = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<usize>().ok().filter(|number| plain && (1..=12).contains(number)).map(|number| number - 1)
}

/// The positions of the months, if each is there once and they are in order.
fn twelve(months: impl Iterator<Item = Option<usize>>) -> Option<[usize; 12]> {
    let found: Vec<(usize, usize)> =
        months.enumerate().filter_map(|(column, month)| Some((column, month?))).collect();
    let in_order = found.iter().map(|(_, month)| *month).eq(0..12);
    in_order.then(|| std::array::from_fn(|month| found[month].0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_columns_are_the_months_of_a_year() {
        let months = |header: &str| months_of_year(header.split(','));
        for header in [
            "Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec",
            "year,JANUARY,FEBRUARY,MARCH,APRIL,MAY,JUNE,JULY,AUGUST,SEPTEMBER,OCTOBER,NOVEMBER,DECEMBER,Annual",
            "Jahr,Jan.,Feb.,März,Apr.,Mai,Juni,Juli,Aug.,Sept.,Okt.,Nov.,Dez.",
            "année,janv.,févr.,mars,avr.,mai,juin,juil.,août,sept.,oct.,nov.,déc.",
            "Year,M01,M02,M03,M04,M05,M06,M07,M08,M09,M10,M11,M12",
            "Year,1,2,3,4,5,6,7,8,9,10,11,12",
        ] {
            assert_eq!(months(header), Some(std::array::from_fn(|month| month + 1)), "{header}");
        }
        for header in [
            "Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov",
            "Year,Feb,Jan,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec",
            "unique_id,ds,y",
            "id,Jan-18,Feb-18,Mar-18,Apr-18,May-18,Jun-18,Jul-18,Aug-18,Sep-18,Oct-18,Nov-18,Dec-18",
        ] {
            assert_eq!(months(header), None, "{header}");
        }
        assert!(named_months("Year,1,2,3,4,5,6,7,8,9,10,11,12".split(',')).is_none());
        assert!(named_months("Year,M1,M2,M3,M4,M5,M6,M7,M8,M9,M10,M11,M12".split(',')).is_some());
    }
}
