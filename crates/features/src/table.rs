//! All features: names, arguments, meanings, and how each is made.

use crate::arguments::Arguments;
use crate::clock::CivilTime;
use crate::feature::Feature;
use crate::kinds::ewm::ewm;
use crate::kinds::fourier::fourier;
use crate::kinds::lags::{diff, lag};
use crate::kinds::quantiles::roll_quantile;
use crate::kinds::trend::trend;
use crate::kinds::windows::{roll_max, roll_mean, roll_min, roll_std};

/// A feature: how it is written and what its columns are.
#[derive(Debug)]
pub struct FeatureEntry {
    /// Its name.
    pub name: &'static str,
    /// An example with arguments.
    pub example: &'static str,
    /// The meaning of its columns.
    pub meaning: &'static str,
    pub(crate) recipe: Recipe,
}

/// How a feature is made from its arguments, and what it is computed from.
#[derive(Debug)]
pub(crate) enum Recipe {
    /// From the target, in the rows before.
    Target(fn(&Arguments<'_>) -> Result<Box<dyn Feature>, String>),
    /// From the time, also where it is an integer.
    Time(fn(&Arguments<'_>) -> Result<Box<dyn Feature>, String>),
    /// From the date and hour, without arguments.
    Date(fn(&CivilTime) -> f32),
    /// From the date and a list of days.
    Days,
}

impl FeatureEntry {
    /// Whether its columns follow from the times, so that they are known ahead; those of the target are known for the past alone.
    pub fn is_known_ahead(&self) -> bool {
        !matches!(self.recipe, Recipe::Target(_))
    }

    /// Whether it needs dates: times that are integers have none.
    pub fn needs_dates(&self) -> bool {
        matches!(self.recipe, Recipe::Date(_) | Recipe::Days)
    }
}

const fn entry(
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
    recipe: Recipe,
) -> FeatureEntry {
    FeatureEntry { name, example, meaning, recipe }
}

const fn date(name: &'static str, meaning: &'static str, of: fn(&CivilTime) -> f32) -> FeatureEntry {
    entry(name, name, meaning, Recipe::Date(of))
}

/// All features.
pub const FEATURES: &[FeatureEntry] = &[
    entry(
        "lag",
        "lag:1,7",
        "the value this many rows before; lag:24h that of the clock this many hours (min, d) before",
        Recipe::Target(lag),
    ),
    entry(
        "diff",
        "diff:1",
        "the last value, less the one this many rows before that one",
        Recipe::Target(diff),
    ),
    entry("roll_mean", "roll_mean:7,28", "mean of this many last values", Recipe::Target(roll_mean)),
    entry(
        "roll_std",
        "roll_std:28",
        "standard deviation of this many last values, of a sample",
        Recipe::Target(roll_std),
    ),
    entry("roll_min", "roll_min:7", "smallest of this many last values", Recipe::Target(roll_min)),
    entry("roll_max", "roll_max:7", "largest of this many last values", Recipe::Target(roll_max)),
    entry(
        "roll_quantile",
        "roll_quantile:28:0.1,0.9",
        "quantiles of this many last values",
        Recipe::Target(roll_quantile),
    ),
    entry(
        "ewm",
        "ewm:0.3",
        "exponential average, in which the last value has this weight",
        Recipe::Target(ewm),
    ),
    date("hour", "hour of the day, from 0", |time| f32::from(time.hour)),
    date("weekday", "day of the week, Monday is 0", |time| time.weekday() as f32),
    date("day", "day of the month", |time| f32::from(time.day)),
    date("dayofyear", "day of the year", |time| f32::from(time.day_of_year)),
    date("week", "week of the year by ISO 8601", |time| f32::from(time.week())),
    date("month", "month of the year", |time| f32::from(time.month)),
    date("quarter", "quarter of the year", |time| f32::from(time.quarter())),
    date("year", "year", |time| time.year as f32),
    date("is_weekend", "1 on Saturday and Sunday", |time| f32::from(time.weekday() >= 5)),
    date("is_month_start", "1 on the first day of a month", |time| f32::from(time.day == 1)),
    date("is_month_end", "1 on the last day of a month", |time| f32::from(time.ends_month())),
    date("is_quarter_start", "1 on the first day of a quarter", |time| {
        f32::from(time.day == 1 && time.month % 3 == 1)
    }),
    date("is_quarter_end", "1 on the last day of a quarter", |time| {
        f32::from(time.ends_month() && time.month % 3 == 0)
    }),
    date("is_year_start", "1 on the first day of a year", |time| f32::from(time.day_of_year == 1)),
    date("is_year_end", "1 on the last day of a year", |time| {
        f32::from(time.ends_month() && time.month == 12)
    }),
    entry(
        "fourier",
        "fourier:yearly:3",
        "sines and cosines of a period (yearly, quarterly, monthly, weekly, daily, hourly, or days, as 365.25; where times are \
         integers, steps) and this many terms",
        Recipe::Time(fourier),
    ),
    entry(
        "holidays",
        "holidays:DE:1:2",
        "1 on public holidays of a country, by its two letters, from 1990 to 2050, or on the days of a file; in rows of weeks, months, ... \
         the number of such days in them; behind it this many days before and after, each a column, and :begin or :end \
         where weeks begin or end with the day of their row",
        Recipe::Days,
    ),
    entry(
        "trend",
        "trend",
        "years since 2000-01-01, or the time itself where times are integers",
        Recipe::Time(trend),
    ),
];
