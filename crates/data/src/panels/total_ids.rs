//! A series that is the sum of all others, as the row or column `Total` of a report.

use rustc_hash::FxHashMap;

use super::panel::Panel;
use foretell_tables::ReadNote;

/// What sums of all series are called.
const TOTALS: [&str; 30] = [
    "total", "totals", "grand total", "overall", "all", "sum", "gesamt", "gesamtsumme", "gesamtergebnis",
    "summe", "insgesamt", "alle", "somme", "total général", "ensemble", "tous", "total general", "suma",
    "todos", "soma", "total geral", "totale", "totale complessivo", "tutti", "totaal", "totalt", "i alt",
    "yhteensä", "合計", "総計",
];

/// The longest of these, in bytes: other ids are none without a look.
const LONGEST: usize = 24;

/// How far a sum may be from the others', as parts of it: tables are often rounded.
const ROUNDED: f64 = 0.002;

impl Panel {
    /// The panel with a note of a series that is the sum of all others at nearly every time, if there is one. Of a wide table it is a column.
    pub(super) fn with_totals_noted(self, wide: bool) -> Self {
        match self.total_of_others() {
            Some((id, times, of)) => {
                let table = self.data.table.clone();
                let begins_so =
                    |series: usize| **self.id(series) != *id && self.id(series).starts_with(id.as_str());
                let is_beginning = (0..self.n_series()).any(begins_so);
                self.with_notes(vec![ReadNote::TotalOfOthers { table, id, times, of, wide, is_beginning }])
            }
            None => self,
        }
    }

    /// The id of such a series, and at how many of how many times it is the sum.
    fn total_of_others(&self) -> Option<(String, usize, usize)> {
        if self.n_series() < 2 {
            return None;
        }
        let total = (0..self.n_series()).find(|series| is_called_total(self.id(*series)))?;
        let own = self.known_values(total, 0..self.len(total));
        let rows: FxHashMap<i64, usize> = self.times(total).zip(0_usize..).collect();
        // Sums of a group are no part of it.
        let is_sum = |series: &usize| *series == total || is_called_sum(self.id(*series));
        let (mut sums, mut known) = (vec![0.0; own.len()], vec![false; own.len()]);
        for series in (0..self.n_series()).filter(|series| !is_sum(series)) {
            let values = self.known_values(series, 0..self.len(series));
            let first =
                self.times(series).zip(0_usize..).find_map(|(time, row)| Some((row, *rows.get(&time)?)));
            let Some((row, at)) = first else { continue };
            for ((value, sum), known) in values[row..].iter().zip(&mut sums[at..]).zip(&mut known[at..]) {
                if !value.is_nan() {
                    *sum += value;
                    *known = true;
                }
            }
        }
        let compared: Vec<(f64, f64)> = (own.into_iter().zip(sums).zip(known))
            // Where nothing is, no sum is told.
            .filter(|((own, sum), known)| *known && !own.is_nan() && (*own != 0.0 || *sum != 0.0))
            .map(|(pair, _)| pair)
            .collect();
        let is_sum = |(own, sum): &&(f64, f64)| (own - sum).abs() <= ROUNDED * own.abs().max(sum.abs());
        let times = compared.iter().filter(is_sum).count();
        (compared.len() > 2 && 10 * times >= 9 * compared.len())
            .then(|| (self.id(total).to_string(), times, compared.len()))
    }
}

fn is_called_total(id: &str) -> bool {
    let plain = id.trim().trim_end_matches(':');
    plain.len() <= LONGEST && TOTALS.contains(&plain.to_lowercase().as_str())
}

/// Whether an id is that of a sum: of all, or of a group, as `North Total`.
fn is_called_sum(id: &str) -> bool {
    let mut words = id.split_whitespace();
    let ends = [words.next(), words.next_back()];
    is_called_total(id) || ends.into_iter().flatten().any(is_called_total)
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    fn notes(text: &str, options: &ReadOptions) -> Vec<String> {
        let panel = Panel::read_csv(text.as_bytes(), "t.csv", options).unwrap();
        panel.notes().iter().map(ToString::to_string).collect()
    }

    fn long(total: &str, sum: impl Fn(usize) -> usize) -> String {
        let mut text = "unique_id,ds,y\n".to_owned();
        for month in 1..=12 {
            let rows = [("North", month), ("South", 2 * month), (total, sum(month))];
            rows.iter().for_each(|(id, y)| text += &format!("{id},2024-{month:02},{y}\n"));
        }
        text
    }

    #[test]
    fn a_sum_among_its_parts_is_told() {
        for id in ["Total", "GESAMT", "Sum", "all", "Summe:", "合計"] {
            // One month was corrected later.
            let told = notes(&long(id, |month| if month == 7 { 5 } else { 3 * month }), &ReadOptions::new());
            assert!(
                told[0]
                    .starts_with(&format!("t.csv: series `{id}` is the sum of the others at 11 of 12 times")),
                "{told:?}"
            );
            assert!(told[0].contains(&format!("`FileOptions::skip_matching = {id}`")), "{told:?}");
        }
        // What another id begins with is no prefix to pass over.
        let with_allgau = long("All", |month| 3 * month).replace("North,", "Allgau,");
        let told = notes(&with_allgau, &ReadOptions::new());
        assert!(told[0].contains("leave its rows out of the file"), "{told:?}");
        // No sum, another name, and the only series.
        assert!(notes(&long("Total", |month| month), &ReadOptions::new()).is_empty());
        assert!(notes(&long("West", |month| 3 * month), &ReadOptions::new()).is_empty());
        assert!(notes("unique_id,ds,y\nTotal,1,5\nTotal,2,6\nTotal,3,5\n", &ReadOptions::new()).is_empty());
    }

    #[test]
    fn columns_that_begin_later_are_parts_as_well() {
        let text =
            "ds,A,B,A Total,Total\n2024-01,5,,5,5\n2024-02,6,1,6,7\n2024-03,7,2,7,9.01\n2024-04,8,3,8,11\n";
        let told = notes(text, &ReadOptions::new().wide());
        assert!(told[0].contains("series `Total` is the sum of the others at 4 of 4 times"), "{told:?}");
        assert!(told[0].contains("leave its column out"), "{told:?}");
    }
}
