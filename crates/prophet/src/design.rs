//! The columns that the model is linear in: seasonalities, holidays, regressors.
//!
//! Which columns there are depends on the settings alone, not on the series: a seasonality that a series is too short for has
//! columns whose coefficients stay 0. So all series of a panel have numbers of the same meaning.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::ops::Range;

use foretell_calendar::jiff::civil::Date;
use foretell_holidays::CountryHoliday;

use crate::error::ProphetError;
use crate::holiday::Holiday;
use crate::rows::{DAY, Rows};
use crate::settings::{BuiltIn, Mode, ProphetSettings};

/// A part of a forecast that is linear in its coefficients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) mode: Mode,
    /// Its columns among all.
    pub(crate) columns: Range<usize>,
    source: Source,
}

/// The source of the columns of a component.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// Sine and cosine of the harmonics of a period of this many days.
    Fourier {
        period: f64,
        /// The column that says when it applies, among those that are read.
        condition: Option<usize>,
        /// The history that switches it on, if it is left to that.
        auto: Option<Season>,
    },
    /// 1 on its days: the columns of each day since 1970-01-01.
    Days(BTreeMap<i64, Vec<usize>>),
    /// A column among those that are read.
    Column { place: usize, standardize: Option<bool> },
}

/// A seasonality of which a history has fewer than two seasons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShortSeason<'a> {
    pub(crate) name: &'a str,
    /// Days of a season.
    pub(crate) period: f64,
    /// Whether it is left out of the forecast, else it is fitted all the same.
    pub(crate) left_out: bool,
}

/// The history that a seasonality needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Season {
    /// Two seasons, in microseconds.
    span: i64,
    /// The distance of neighbouring rows must be smaller.
    spacing: i64,
}

/// All columns, the additive ones first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Design {
    pub(crate) components: Vec<Component>,
    /// The deviation of the normal prior of each column's coefficient.
    pub(crate) prior_scales: Vec<f64>,
    /// How many of the columns are added; the others are parts of the trend.
    pub(crate) additive: usize,
    /// The columns of tables that are read.
    pub(crate) reads: Vec<String>,
}

/// Of each column that is read, what is subtracted from it, and what it is divided by.
pub(crate) type Standards = Vec<[f64; 2]>;

impl Design {
    pub(crate) fn new(settings: &ProphetSettings) -> Self {
        let reads = settings.columns();
        let mut parts = seasonalities(settings, &reads);
        parts.extend(holidays(settings));
        for name in settings.regressor_names() {
            let options = settings.regressors.iter().find(|options| options.name == *name);
            let source = Source::Column {
                place: place(&reads, name),
                standardize: options.and_then(|options| options.standardize),
            };
            let mode = options.and_then(|options| options.mode).unwrap_or(settings.seasonality_mode);
            let scale =
                options.and_then(|options| options.prior_scale).unwrap_or(settings.holidays_prior_scale);
            parts.push((name.clone(), mode, source, vec![scale]));
        }
        // A stable sort: within a mode the order is that of the settings.
        parts.sort_by_key(|(_, mode, ..)| *mode == Mode::Multiplicative);
        let mut design = Self { components: Vec::new(), prior_scales: Vec::new(), additive: 0, reads };
        for (name, mode, source, scales) in parts {
            let start = design.prior_scales.len();
            design.prior_scales.extend(scales);
            let columns = start..design.prior_scales.len();
            if mode == Mode::Additive {
                design.additive = columns.end;
            }
            design.components.push(Component { name, mode, columns, source });
        }
        design
    }

    /// Columns of all components.
    pub(crate) fn width(&self) -> usize {
        self.prior_scales.len()
    }

    /// Which columns a series with this history has: all but those of seasonalities that it is too short or too coarse for, and of
    /// regressors that are the same in all of its rows.
    pub(crate) fn active(&self, history: &Rows) -> Vec<bool> {
        let times = &history.times;
        let span = times.last().unwrap_or(&0) - times.first().unwrap_or(&0);
        let spacing = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step > 0).min();
        let mut active = vec![true; self.width()];
        for Component { columns, source, .. } in &self.components {
            let on = match source {
                Source::Fourier { auto: Some(season), .. } => {
                    span >= season.span && spacing.is_some_and(|spacing| spacing < season.spacing)
                }
                // Nothing is known of the effect of what never changed.
                &Source::Column { place, .. } => {
                    history.columns[place].windows(2).any(|pair| pair[0] != pair[1])
                }
                _ => true,
            };
            active[columns.clone()].fill(on);
        }
        active
    }

    /// The columns that are regressors.
    pub(crate) fn regressors(&self) -> impl Iterator<Item = &str> {
        let of_columns = self.components.iter().filter(|part| matches!(part.source, Source::Column { .. }));
        of_columns.map(|component| component.name.as_str())
    }

    /// The days that are holidays or near one, since 1970-01-01, each with its columns among those of holidays.
    pub(crate) fn holidays(&self) -> impl Iterator<Item = (i64, &[usize])> {
        let days = self.components.iter().filter_map(|component| match &component.source {
            Source::Days(days) => Some(days.iter().map(|(day, columns)| (*day, &columns[..]))),
            _ => None,
        });
        days.flatten()
    }

    /// The seasonalities of which a history of this span and distance of rows, in microseconds, has fewer than two.
    pub(crate) fn short_seasons(&self, span: i64, spacing: i64) -> impl Iterator<Item = ShortSeason<'_>> {
        self.components.iter().filter_map(move |component| {
            let &Source::Fourier { period, auto, .. } = &component.source else { return None };
            let two = auto.map_or((2.0 * period * DAY as f64) as i64, |season| season.span);
            let is_fine = auto.is_none_or(|season| spacing < season.spacing);
            (span < two && is_fine).then_some(ShortSeason {
                name: &component.name,
                period,
                left_out: auto.is_some(),
            })
        })
    }

    /// How the columns that are read are standardised, by the rows of a history.
    pub(crate) fn standards(&self, history: &Rows) -> Standards {
        let mut standards = vec![[0.0, 1.0]; self.reads.len()];
        for Component { source, .. } in &self.components {
            let &Source::Column { place, standardize } = source else { continue };
            let values = &history.columns[place];
            let varies = values.windows(2).any(|pair| pair[0] != pair[1]);
            let binary = values.iter().all(|&x| x == 0.0 || x == 1.0);
            if varies && standardize.unwrap_or(!binary) {
                let n = values.len() as f64;
                let mean = values.iter().sum::<f64>() / n;
                let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
                standards[place] = [mean, (squares / (n - 1.0)).sqrt()];
            }
        }
        standards
    }

    /// The columns `[rows, width]`.
    ///
    /// # Errors
    /// If the condition of a seasonality is neither 0 nor 1.
    pub(crate) fn matrix(
        &self,
        series: &str,
        rows: &Rows,
        standards: &Standards,
    ) -> Result<Vec<f64>, ProphetError> {
        let width = self.width();
        let mut matrix = vec![0.0; rows.len() * width];
        for Component { columns, source, .. } in &self.components {
            for (i, &time) in rows.times.iter().enumerate() {
                let row = &mut matrix[i * width..][columns.clone()];
                match source {
                    &Source::Fourier { period, condition, .. } => {
                        let applies =
                            condition.map_or(Ok(true), |place| self.applies(series, rows, place, i));
                        if applies? {
                            fourier(time, period, row);
                        }
                    }
                    Source::Days(days) => {
                        let today = days.get(&time.div_euclid(DAY));
                        today.into_iter().flatten().for_each(|&column| row[column] = 1.0);
                    }
                    &Source::Column { place, .. } => {
                        let [mean, deviation] = standards[place];
                        row[0] = (rows.columns[place][i] - mean) / deviation;
                    }
                }
            }
        }
        Ok(matrix)
    }

    fn applies(&self, series: &str, rows: &Rows, place: usize, row: usize) -> Result<bool, ProphetError> {
        match rows.columns[place][row] {
            0.0 => Ok(false),
            1.0 => Ok(true),
            other => Err(ProphetError::Condition {
                column: self.reads[place].clone(),
                series: series.to_owned(),
                row: rows.places[row] + 1,
                found: other.to_string(),
            }),
        }
    }
}

/// The place of a column among those that are read.
pub(crate) fn place(reads: &[String], name: &str) -> usize {
    reads.iter().position(|read| read == name).expect("settings read the columns that they name")
}

/// The name of a component, its mode, its columns and their priors.
type Part = (String, Mode, Source, Vec<f64>);

/// Those of the settings, then the built-in ones that none of these replaces.
fn seasonalities(settings: &ProphetSettings, reads: &[String]) -> Vec<Part> {
    let own = settings.seasonalities.iter().map(|own| {
        let source = Source::Fourier {
            period: own.period,
            condition: own.condition_name.as_ref().map(|name| place(reads, name)),
            auto: None,
        };
        let scale = own.prior_scale.unwrap_or(settings.seasonality_prior_scale);
        let mode = own.mode.unwrap_or(settings.seasonality_mode);
        (own.name.clone(), mode, source, vec![scale; 2 * own.fourier_order])
    });
    let built_in = [
        ("yearly", 365.25, 10, settings.yearly_seasonality, Season { span: 730 * DAY, spacing: i64::MAX }),
        ("weekly", 7.0, 3, settings.weekly_seasonality, Season { span: 14 * DAY, spacing: 7 * DAY }),
        ("daily", 1.0, 4, settings.daily_seasonality, Season { span: 2 * DAY, spacing: DAY }),
    ];
    let built_in = built_in.into_iter().filter_map(|(name, period, usual, setting, season)| {
        let (harmonics, auto) = match setting {
            BuiltIn::Auto => (usual, Some(season)),
            BuiltIn::Switch(on) => (if on { usual } else { 0 }, None),
            BuiltIn::Order(order) => (order, None),
        };
        let replaced = settings.seasonalities.iter().any(|own| own.name == name);
        let source = Source::Fourier { period, condition: None, auto };
        let scales = vec![settings.seasonality_prior_scale; 2 * harmonics];
        (harmonics > 0 && !replaced).then(|| (name.to_owned(), settings.seasonality_mode, source, scales))
    });
    own.chain(built_in).collect()
}

/// A column for each day of the window of each name.
fn holidays(settings: &ProphetSettings) -> Option<Part> {
    let mut columns: BTreeMap<(String, i32), usize> = BTreeMap::new();
    let (mut days, mut scales) = (BTreeMap::<i64, Vec<usize>>::new(), Vec::new());
    // Settings hold countries that there are.
    let country = settings.country_holidays.as_deref().map(foretell_holidays::of_country);
    let country = country.and_then(Result::ok).unwrap_or_default();
    let of_country = country.into_iter().flat_map(|CountryHoliday { name, dates }| {
        dates.into_iter().map(move |ds| Holiday {
            holiday: name.clone(),
            ds,
            lower_window: None,
            upper_window: None,
            prior_scale: None,
        })
    });
    for holiday in settings.holidays.iter().cloned().chain(of_country) {
        let day = holiday.ds.duration_since(EPOCH).as_hours() / 24;
        for offset in holiday.window() {
            let column = *columns.entry((holiday.holiday.clone(), offset)).or_insert_with(|| {
                scales.push(holiday.prior_scale.unwrap_or(settings.holidays_prior_scale));
                scales.len() - 1
            });
            days.entry(day + i64::from(offset)).or_default().push(column);
        }
    }
    let mode = settings.holidays_mode.unwrap_or(settings.seasonality_mode);
    (!scales.is_empty()).then(|| ("holidays".to_owned(), mode, Source::Days(days), scales))
}

const EPOCH: Date = Date::constant(1970, 1, 1);

/// Sine and cosine of the harmonics at a time.
fn fourier(time: i64, period: f64, row: &mut [f64]) {
    let days = time as f64 / DAY as f64;
    for (harmonic, pair) in (1..).zip(row.chunks_exact_mut(2)) {
        let (sin, cos) = (TAU * days * f64::from(harmonic) / period).sin_cos();
        pair.copy_from_slice(&[sin, cos]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hyper_parameters::with;

    fn settings(values: &[(&str, serde_json::Value)]) -> ProphetSettings {
        values.iter().fold(ProphetSettings::default(), |settings, (name, value)| {
            with(&settings, name, value).expect("a value")
        })
    }

    fn days(count: i64, step: i64) -> Rows {
        let times: Vec<i64> = (0..count).map(|i| i * step).collect();
        Rows { places: (0..times.len()).collect(), times, columns: Vec::new() }
    }

    #[test]
    fn seasons_need_two_of_them_and_rows_within() {
        let design = Design::new(&ProphetSettings::default());
        let names = |rows: &Rows| -> Vec<&str> {
            let active = design.active(rows);
            let on = |component: &&Component| active[component.columns.start];
            design.components.iter().filter(on).map(|component| component.name.as_str()).collect()
        };
        assert_eq!(names(&days(731, DAY)), ["yearly", "weekly"]);
        assert_eq!(names(&days(730, DAY)), ["weekly"]);
        assert_eq!(names(&days(14, DAY)), [""; 0]);
        assert_eq!(names(&days(48, DAY / 24)), [""; 0]);
        assert_eq!(names(&days(49, DAY / 24)), ["daily"]);
        assert_eq!(names(&days(110, 7 * DAY)), ["yearly"]);
    }

    #[test]
    fn holidays_mark_their_days_and_those_around() {
        let holidays = json!([
            {"holiday": "cup", "ds": "1970-01-03", "upper_window": 1, "prior_scale": 3.0},
            {"holiday": "cup", "ds": "1970-01-06", "upper_window": 1, "prior_scale": 3.0},
            {"holiday": "fair", "ds": "1970-01-04"},
        ]);
        let off = json!(false);
        let design = Design::new(&settings(&[
            ("holidays", holidays),
            ("yearly_seasonality", off.clone()),
            ("weekly_seasonality", off.clone()),
            ("daily_seasonality", off),
        ]));
        assert_eq!((design.additive, &design.prior_scales[..]), (3, &[3.0, 3.0, 10.0][..]));
        let matrix = design.matrix("a", &days(7, DAY), &Vec::new()).expect("no conditions");
        let marked = |column: usize| (0..7).filter(|row| matrix[row * 3 + column] == 1.0).collect::<Vec<_>>();
        assert_eq!([marked(0), marked(1), marked(2)], [vec![2, 5], vec![3, 6], vec![3]]);
    }

    #[test]
    fn a_country_adds_its_days_to_ones_of_your_own() {
        let own = json!([{"holiday": "Christmas Day", "ds": "1989-12-25", "prior_scale": 1.0}]);
        let design = Design::new(&settings(&[("holidays", own), ("country_holidays", json!("fr"))]));
        let component = design.components.last().expect("holidays");
        let (first, width) = (component.columns.start, design.width());
        // Of the same name, so of the same effect.
        assert_eq!(design.prior_scales[first], 1.0);
        let day =
            |text: &str| text.parse::<Date>().expect("a day").duration_since(EPOCH).as_hours() / 24 * DAY;
        let times = vec![day("1989-12-25"), day("2024-07-14"), day("2024-07-15"), day("2040-12-25")];
        let rows = Rows { places: (0..4).collect(), times, columns: Vec::new() };
        let matrix = design.matrix("a", &rows, &Vec::new()).expect("no conditions");
        let marked = |row: usize| (first..width).filter(|column| matrix[row * width + column] == 1.0).count();
        assert_eq!([0, 1, 2, 3].map(marked), [1, 1, 0, 1]);
        assert_eq!((matrix[first], matrix[3 * width + first]), (1.0, 1.0));
    }

    #[test]
    fn a_condition_switches_a_season_and_is_a_truth() {
        let own = json!([{"name": "on", "period": 4.0, "fourier_order": 1, "condition_name": "open",
            "mode": "multiplicative"}]);
        let design = Design::new(&settings(&[("seasonalities", own), ("futr_exog_list", json!(["price"]))]));
        assert_eq!((design.reads.join(" "), design.width() - design.additive), ("price open".to_owned(), 2));
        let mut rows = days(3, DAY);
        rows.columns = vec![vec![2.0, 4.0, 6.0], vec![1.0, 0.0, 1.0]];
        let standards = design.standards(&rows);
        assert_eq!(standards, [[4.0, 2.0], [0.0, 1.0]]);
        let matrix = design.matrix("a", &rows, &standards).expect("truths");
        let row = |i: usize| &matrix[i * design.width()..][..design.width()];
        assert_eq!((row(0)[design.additive - 1], row(2)[design.additive - 1]), (-1.0, 1.0));
        assert_eq!(
            (&row(0)[design.additive..], &row(1)[design.additive..]),
            (&[0.0, 1.0][..], &[0.0, 0.0][..])
        );
        rows.columns[1][1] = 0.5;
        let refused = design.matrix("a", &rows, &standards).expect_err("half a truth").to_string();
        assert!(
            refused.contains("column `open`") && refused.contains("row 2 of series `a` it is 0.5"),
            "{refused}"
        );
    }
}
