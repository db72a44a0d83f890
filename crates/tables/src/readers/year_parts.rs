//! Parts of a year that head columns and that no layout reads: quarters, weeks, and months that begin within the calendar year.

use foretell_calendar::Locale;

/// Letters and words before a number, and how many such columns there are at least and at most.
type Numbered = (&'static str, &'static [&'static str], [usize; 2]);

const QUARTERS: Numbered = ("quarters", &["q", "qtr", "quarter"], [4, 4]);
const PERIODS: Numbered = ("periods of four weeks", &["p", "per", "period", "periode", "pd"], [13, 13]);
const WEEKS: Numbered = ("weeks", &["w", "wk", "week", "kw"], [52, 53]);

/// What the columns are that head the parts of a year, each once and in their order, and the positions of the first and the last.
pub fn parts_of_year<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<(&'static str, [usize; 2])> {
    [QUARTERS, PERIODS, WEEKS]
        .into_iter()
        .find_map(|(what, words, [least, most])| {
            let found = found(names.clone().map(|name| numbered(name, words)));
            let in_order = found.iter().map(|(_, number)| *number).eq(1..=found.len());
            ((least..=most).contains(&found.len()) && in_order).then_some((what, ends(&found)?))
        })
        .or_else(|| {
            Locale::all().find_map(|locale| {
                let found = found(names.clone().map(|name| locale.month_headed(name)));
                let (_, first) = *found.first()?;
                let in_order =
                    found.iter().map(|(_, month)| *month).eq((first..first + 12).map(|month| month % 12));
                in_order.then_some(("months", ends(&found)?))
            })
        })
}

/// Whether a column holds years by its name.
pub fn is_called_year(name: &str) -> bool {
    const YEARS: [&str; 16] = [
        "year", "yr", "yyyy", "jahr", "année", "annee", "año", "anno", "ano", "fiscalyear", "fiscalyr", "fy",
        "financialyear", "finyear", "geschäftsjahr", "exercice",
    ];
    let plain = name.to_lowercase().replace(['_', ' ', '-'], "");
    YEARS.contains(&plain.as_str())
}

/// Those that are parts, with their positions.
fn found(parts: impl Iterator<Item = Option<usize>>) -> Vec<(usize, usize)> {
    parts.enumerate().filter_map(|(column, part)| Some((column, part?))).collect()
}

fn ends(found: &[(usize, usize)]) -> Option<[usize; 2]> {
    Some([found.first()?.0, found.last()?.0])
}

/// The number behind one of these words.
fn numbered(name: &str, words: &[&str]) -> Option<usize> {
    let name = name.trim().to_lowercase();
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let word = name[..name.len() - digits.len()].trim_end_matches(['_', '-', ' ', '.']);
    words.contains(&word).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_parts_of_a_year() {
        let weeks = |most: usize| (1..=most).map(|week| format!("W{week:02}")).collect::<Vec<_>>().join(",");
        for (header, parts) in [
            ("Year,Q1,Q2,Q3,Q4".to_owned(), Some(("quarters", [1, 4]))),
            ("year,Quarter 1,Quarter 2,Quarter 3,Quarter 4,total".to_owned(), Some(("quarters", [1, 4]))),
            (format!("year,{}", weeks(53)), Some(("weeks", [1, 53]))),
            ("Year,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec,Jan,Feb,Mar".to_owned(), Some(("months", [1, 12]))),
            (
                "Year,P1,P2,P3,P4,P5,P6,P7,P8,P9,P10,P11,P12,P13".to_owned(),
                Some(("periods of four weeks", [1, 13])),
            ),
            ("ds,Q1,Q2,Q3".to_owned(), None),
            ("ds,Q2,Q1,Q3,Q4".to_owned(), None),
            ("ds,Q1,Q2,Q3,Q4,Q5".to_owned(), None),
            (format!("year,{}", weeks(51)), None),
            ("unique_id,ds,y".to_owned(), None),
        ] {
            assert_eq!(parts_of_year(header.split(',')), parts, "{header}");
        }
    }
}
