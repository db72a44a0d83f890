//! What tells the roles of columns: names, and cells that are numbers.

use foretell_calendar::periods::is_quarter_word;
use foretell_tables::Flaw;

/// Names of the column of ids, if several hold texts, or if they are numbers.
pub(super) const IDS: [&str; 14] = [
    "unique_id", "id", "series", "series_id", "item", "item_id", "product", "product_id", "sku", "store",
    "store_id", "article", "meter", "sensor",
];

/// Whether a column is called as those of ids are.
pub(super) fn is_called_id(name: &str) -> bool {
    IDS.contains(&name.to_lowercase().as_str())
}

/// Whether a column of numbers may hold ids by its name.
pub(super) fn is_called_as_ids(name: &str) -> bool {
    const ENDS: [&str; 9] = ["_id", " id", "-id", "nbr", "code", "_key", " key", "number", "_no"];
    let lower = name.to_lowercase();
    let is_of_one_word = ["Id", "ID"].iter().any(|end| name.ends_with(end));
    is_called_id(name) || is_of_one_word || ENDS.iter().any(|end| lower.ends_with(end))
}

/// Names of the column of times, if what the columns hold does not tell it.
pub(super) const TIMES: [&str; 51] = [
    "ds", "date", "datum", "day", "time", "timestamp", "datetime", "month", "week", "quarter", "year",
    "period", "ts", "zeit", "zeitpunkt", "zeitstempel", "monat", "woche", "quartal", "jahr", "fecha", "mes",
    "mois", "semaine", "season", "saison", "tag", "jour", "dia", "día", "giorno", "dag", "zeitraum",
    "kalenderwoche", "semana", "vecka", "uke", "mese", "mês", "måned", "månad", "trimestre", "kvartal",
    "dato", "observation_date", "time_period", "calendar day", "kalendertag", "posting date",
    "buchungsdatum", "belegdatum",
];

/// Whether a column holds times by its name: `t` is that of tables of R, and `T` often a temperature.
pub(super) fn is_called_time(name: &str) -> bool {
    name.trim() == "t" || TIMES.contains(&name.trim().to_lowercase().as_str())
}

/// Whether a column holds weeks of the calendar by a word of its name: those of fiscal years begin elsewhere, and others are of several weeks.
pub(super) fn is_called_week(name: &str) -> bool {
    const WEEKS: [&str; 18] = [
        "week", "weeks", "weekno", "weeknr", "yearweek", "isoweek", "kw", "wk", "woche", "kalenderwoche",
        "semaine", "semana", "settimana", "vecka", "uke", "uge", "jahrwoche", "jahreswoche",
    ];
    const OTHERS: [&str; 8] = ["fiscal", "fy", "season", "two", "month", "monat", "mois", "mes"];
    let name = name.to_lowercase();
    let words = || name.split(|c: char| !c.is_alphanumeric());
    words().any(|word| WEEKS.contains(&word)) && !words().any(|word| OTHERS.contains(&word))
}

/// Whether a column holds quarters by its name, so that `1/2019` in it is no month.
pub(super) fn is_called_quarter(name: &str) -> bool {
    name.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| is_quarter_word(word.trim_end_matches('s')))
}

/// Whether a cell of a column of numbers may be so: those that are written in another way than was said are an error of the reading,
/// which says how they are.
pub(super) fn holds_number(cell: Result<f32, Flaw>) -> bool {
    match cell {
        Ok(_) | Err(Flaw::Missing | Flaw::Dash) => true,
        Err(Flaw::DecimalComma | Flaw::CommaOfThousands | Flaw::Grouped | Flaw::DecimalPoint) => true,
        Err(_) => false,
    }
}
