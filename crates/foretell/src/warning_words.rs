//! Warnings in words.

use std::fmt;

use foretell_data::{UnseenCategories, early_ends_remedy};
use foretell_messages::Setting;

use crate::interval_words::other_loss;
use crate::warning::{FarColumn, LastValue, LevelBreak, OddValue, Warning};

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortHistory { models, input_size, series } => {
                short_history(f, models, *input_size, series)
            }
            Self::FewCalibrationWindows { n_windows, levels } => {
                few_calibration_windows(f, *n_windows, levels)
            }
            Self::FewerWindows { windows, asked, n_windows, kept, series } => write!(
                f,
                "{windows} of the {asked} windows asked for are forecast, as no row comes before the first ones of the \
                 series {}{}; leave out the series that are too short ({}){}",
                first_few(series, with_rows),
                match kept {
                    0 => String::new(),
                    kept => format!(", whose last {kept} rows are kept for the score"),
                },
                Setting::DropShort,
                if *n_windows > 1 { ", or lower n_windows or step_size" } else { "" }
            ),
            Self::UnseenCategories { columns } => unseen_categories(f, columns),
            Self::NotFinite { columns, of } => write!(
                f,
                "forecasts that are infinite or not a number: {}; those are of series, or of their first rows, that are too few for an \
                 interval, else of extreme values in the data, or of networks that need a scaler_type or a lower learning_rate",
                counted(columns, *of)
            ),
            Self::FewKnownValues { series, count } => write!(
                f,
                "too few known values for an interval: {}{}",
                series.join(", "),
                if *count > series.len() { ", ..." } else { "" }
            ),
            Self::FarBeyond { columns, of, series, networks } => write!(
                f,
                "forecasts more than a thousand times as large as anything in the history of their series: {} (series {}); {}",
                counted(columns, *of),
                first_few(series, String::clone),
                match networks {
                    true => {
                        "the training has probably diverged: train with a scaler_type or a lower learning_rate".to_owned()
                    }
                    // As where errors are shares of values, and one is next to 0.
                    false => format!(
                        "the form of the model does not suit them, as errors that are shares of values next to 0: choose one with added \
                         errors (A for the first letter of model), or calibrate intervals ({})",
                        Setting::Intervals.to(10)
                    ),
                }
            ),
            Self::BelowZero { series, count } => write!(
                f,
                "forecasts below 0 of {count} series that never {}: {}{}; if they cannot be, bound them ({})",
                if *count == 1 { "was" } else { "were" },
                series.join(", "),
                if *count > series.len() { ", ..." } else { "" },
                Setting::NonNegative
            ),
            Self::ReconciledBelowZero { series, count } => write!(
                f,
                "forecasts of {count} series fell below 0 where they were made to add up: {}{}; if these cannot be below 0, bound \
                 them ({})",
                series.join(", "),
                if *count > series.len() { ", ..." } else { "" },
                Setting::NonNegative
            ),
            Self::BorrowedWidths { series, count } => write!(
                f,
                "{count} series without an interval: {}{}; in the intervals of sums they vary by the share of their size that others do in \
                 the middle, and forecasts of 0 by as much as others do",
                series.join(", "),
                if *count > series.len() { ", ..." } else { "" },
            ),
            Self::OtherSize { factor } => write!(
                f,
                "the values are {} as large as those that the models were trained on: if that is another unit, bring them to the one of \
                 the training, or train on these",
                times(*factor)
            ),
            Self::LevelBreaks { breaks } => write!(
                f,
                "series whose values are of another size from some row on, as in another unit: {}; forecasts are torn between both: bring all \
                 to one unit, or leave the rows before out ({})",
                first_few(breaks, |LevelBreak { series, time, factor }| format!(
                    "{series} ({} as large from {time} on)",
                    times(*factor)
                )),
                Setting::Since.to(breaks.first().map_or("", |first| &first.time))
            ),
            Self::FarRegressors { columns } => write!(
                f,
                "columns whose future is far from anything that the models have seen of them: {}; they follow it to any distance: check that \
                 it has the units of the past",
                first_few(columns, |far| {
                    let FarColumn { column, series, value, range: [low, high], count, of } = far;
                    format!(
                        "{column} ({count} of {of} values; {value} in series {series}, whose past has {low} to {high})"
                    )
                })
            ),
            Self::NewRegressors { columns } => write!(
                f,
                "columns that change in the future and never did before: {}; nothing is known of what they do to the values, and forecasts do not show \
                 it: train on rows where they change, or leave them out",
                columns.join(", ")
            ),
            Self::NoIntervals { models, has_loss } => write!(
                f,
                "no intervals of these levels: {}; calibrate them, with the training ({}) or on the end of the data ({}){}",
                models.join(", "),
                Setting::Intervals.to(10),
                Setting::Calibrate.to(10),
                other_loss(*has_loss, "a loss of these quantiles or of a distribution")
            ),
            Self::WithoutDropout { own, none, to_set } => without_dropout(f, own, none, *to_set),
            Self::NoPaths { models, has_loss } => write!(
                f,
                "no sample paths are drawn of {}, which have no quantiles; calibrate intervals ({}){}",
                models.join(", "),
                Setting::Calibrate.to(10),
                other_loss(*has_loss, "a loss that has them")
            ),
            Self::NoParts { reason } => write!(f, "{reason}; the table has no parts of it"),
            Self::NotLearnt { what } => write!(
                f,
                "the training was stopped before the errors were known that {what} weighs series by: the models forecast without \
                 it; train them to the end, or reconcile their forecasts by another method"
            ),
            Self::StageLeftOut { stage, source, reason } => {
                write!(f, "{source} are without {stage}: {reason}")
            }
            Self::SumsLackSeries { rows, of, series } => write!(
                f,
                "{rows} of {of} forecasts are of cutoffs and times at which series of the hierarchy have none ({series}), so that \
                 nothing adds up: they stay as the models give them"
            ),
            Self::EarlyEnds(ends) => write!(
                f,
                "{ends}; what follows the end of each series is forecast, also where it has passed: {}; or say that it is meant so ({})",
                early_ends_remedy(),
                Setting::End.to("own")
            ),
            Self::EndsDiffer(ends) => write!(
                f,
                "{ends}; models of all series together take the last rows of all of them for rows of one time: {}",
                early_ends_remedy()
            ),
            Self::NothingKnown { series } => write!(
                f,
                "series of which no value is known in the rows that models read (available_mask is 0): {}; their forecasts \
                 say nothing; leave them out, or give values",
                first_few(series, String::clone)
            ),
            Self::NotCounts { model, series, row, found, count, of } => write!(
                f,
                "{model} is trained with a distribution of counts, and {count} of {of} values are no whole numbers; the \
                 first is {found}, value {row} of series {series}; check the data, or choose a distribution of numbers \
                 (Tweedie, StudentT, Normal)"
            ),
            Self::LossRose { model, first, last, error, naive } => write!(
                f,
                "the loss of {model} rose from {first:.3e} to {last:.3e}, and its forecasts of what it was trained on are \
                 off by {error:.3e} on average, those that repeat the last value by {naive:.3e}; lower learning_rate, set \
                 gradient_clip_val, or set a scaler_type if the values are large"
            ),
            Self::HugeLoss { model, loss } => write!(
                f,
                "the loss of {model} is {loss:.3e}, near the end of what single precision can hold; set a scaler_type, or \
                 lower learning_rate"
            ),
            Self::Caveat { model, lacks } => write!(f, "{model}: {lacks}"),
            Self::Feature { feature, told } => write!(f, "feature {feature}: {told}"),
            Self::Fallback { model, reason, instead, remedy, series } => write!(
                f,
                "{model}: series {} {} {reason}, and {} forecast by {instead}; {remedy}, or leave such series out",
                first_few(series, String::clone),
                if series.len() == 1 { "has" } else { "have" },
                if series.len() == 1 { "is" } else { "are" }
            ),
            Self::PooledErrors { series, needed } => write!(
                f,
                "series with fewer than the {needed} rows that forecasts of their end take: {}; their intervals, and their weight among others, \
                 are of what the forecasts of the other series miss, in proportion to how much each changes from row to row; give more \
                 rows, lower n_windows or step_size, or leave them out of the data",
                first_few(series, with_rows)
            ),
            Self::NotCalibrated { series } => write!(
                f,
                "series without intervals, which were calibrated on others: {}; calibrate them on these data ({}), or train with these \
                 series",
                first_few(series, String::clone),
                Setting::Calibrate.to(10)
            ),
            Self::NoSteps { model } => write!(
                f,
                "{model} is not trained, as max_steps = 0: it forecasts by the weights that a training begins with, which are drawn \
                 at random; raise max_steps, or continue from a trained model"
            ),
            Self::OddValues { values } => {
                let shown = |odd: &OddValue| {
                    let OddValue { series, time, value, count } = odd;
                    let more = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
                    format!("{series} ({value} at {time}{more})")
                };
                let example = values.first().map_or(f64::NAN, |odd| odd.value);
                write!(
                    f,
                    "series with values far from all others of theirs: {}; forecasts follow them: if they are slips, mend the data, or \
                     read them as missing ({})",
                    first_few(values, shown),
                    Setting::Missing.to(example)
                )
            }
            Self::OddLastValues { time, before, values, of } => write!(
                f,
                "series whose last value, of {time}, is farther from those before it than any was: {}; forecasts follow it: if it is a slip, \
                 mend it in the data, and if its period is not over, leave out the last row{} ({})",
                first_few(values, |LastValue { series, value, before }| format!(
                    "{series} ({value} after {before})"
                )),
                of_all(*of),
                Setting::Until.to(before)
            ),
            Self::LowLastRow { time, before, share, series, of } => write!(
                f,
                "the last row, {time}, is lower than ever: {:.0} % of the row before{}; forecasts follow it: if that period is not over, \
                 or not all of it has been counted yet, leave it out{} ({})",
                100.0 * share,
                if *series == 1 { String::new() } else { format!(", over {series} series") },
                of_all(*of),
                Setting::Until.to(before)
            ),
            Self::ZerosAtEnd { since, before, rows, series } => write!(
                f,
                "{} 0 since {since} ({rows} row{}), as never for so long before; forecasts follow that: if these values are not known yet, \
                 leave {} out{} ({})",
                if *series == 1 { "the series is".to_owned() } else { format!("all {series} series are") },
                if *rows == 1 { "" } else { "s" },
                if *rows == 1 { "the row" } else { "these rows" },
                of_all(*series),
                Setting::Until.to(before)
            ),
            Self::BelowBound { series } => write!(
                f,
                "series with values below 0, of which no forecast is to be: {}; leave the bound out (non_negative), or forecast these \
                 series apart",
                first_few(series, String::clone)
            ),
            Self::WrongSum { sum, time, found, expected } => write!(
                f,
                "the data do not add up: {sum} at {time} is {found}, and its series together {expected}; check them, or leave out \
                 the rows of the sums, which are then added up"
            ),
            Self::AlikeSums { first, second, more } => write!(
                f,
                "the sums {first:?} and {second:?}{} differ in blanks or the case of letters alone, and are sums of their own; write their \
                 labels alike if they are one",
                if *more > 0 { format!(" (and {more} more such pairs)") } else { String::new() }
            ),
            Self::LateSeries { first, series } => write!(
                f,
                "series that begin after {first}: {}; before that their sums are without them, and rise where they begin; if they were 0 \
                 before, give such rows, and if not, begin all with the last of them",
                first_few(series, |(id, time)| format!("{id} ({time})"))
            ),
            Self::NotInData { series } => write!(
                f,
                "series of the hierarchy that the data have no rows of, and that are left out of it: {}; if nothing was sold of them, give \
                 rows of 0",
                first_few(series, String::clone)
            ),
            Self::NoForecasts { series } => write!(
                f,
                "series of the hierarchy without forecasts, which are left out of their sums: {}; what was forecast of these sums is that of \
                 the others",
                first_few(series, String::clone)
            ),
            Self::IncompleteModels { models } => write!(
                f,
                "models with values that are not known, which are left out: {}; complete their forecasts to reconcile them",
                first_few(models, |[model, file, id, time]| format!(
                    "{model} (series {id} at {time} in {file})"
                ))
            ),
            Self::NoPastForecasts { series } => write!(
                f,
                "series of the hierarchy without forecasts of the past, whose errors are taken to be like those of the others, in proportion to \
                 what is forecast: {}",
                first_few(series, String::clone)
            ),
            Self::LeftIntervals { intervals } => write!(
                f,
                "the intervals of the models as they were do not fit those that are trained further; calibrate theirs ({})",
                Setting::Intervals.to(intervals)
            ),
            Self::CannotStop { model, patience, checks } => write!(
                f,
                "{model}: early stopping cannot stop the training: early_stop_patience_steps = {patience} takes {} checks, \
                 and there are {checks} (max_steps by val_check_steps); lower val_check_steps",
                patience + 1
            ),
            Self::CoarseValues { series, without_levels } => coarse_values(f, series, without_levels),
            Self::Twins { first, second } => write!(
                f,
                "{first} and {second} have the same hyper-parameters, so their forecasts are the same; leave one out, or give \
                 the second another hyper-parameter (random_seed, ...)"
            ),
            Self::PassedOver { settings } => write!(
                f,
                "settings of PyTorch Lightning's trainer that change nothing here, and are passed over: {}",
                settings.join(", ")
            ),
            Self::FewerThreads { asked, started } => write!(
                f,
                "the system started {started} of {asked} threads (`ulimit -u` has its limit), so this takes longer, with \
                 the same result"
            ),
        }
    }
}

/// Whose rows a remedy concerns, where it is not of one series alone.
fn of_all(series: usize) -> String {
    if series == 1 { String::new() } else { format!(" of all {series} series that reach it") }
}

fn coarse_values(f: &mut fmt::Formatter<'_>, series: &[String], without_levels: &[String]) -> fmt::Result {
    write!(
        f,
        "values that single precision, which holds about 7 digits, can hardly tell apart, in series {}: their steps are lost at \
         least in part; ",
        first_few(series, String::clone)
    )?;
    match without_levels.is_empty() {
        true => f.write_str("subtract a constant from them, or multiply them, and undo it in the forecasts"),
        false => write!(
            f,
            "{} would see them relative to a level of each series with another loss, but this one depends on where zero is",
            without_levels.join(", ")
        ),
    }
}

fn short_history(
    f: &mut fmt::Formatter<'_>,
    models: &[String],
    input_size: usize,
    series: &[(String, usize)],
) -> fmt::Result {
    write!(
        f,
        "series with fewer rows than input_size = {input_size}: {}; {} zeros in place of the missing rows, so the forecasts \
         may be far off; give more rows, or train with a smaller input_size",
        first_few(series, with_rows),
        match models {
            [model] => format!("{model} reads"),
            models => format!("{} read", models.join(", ")),
        },
    )
}

fn without_dropout(f: &mut fmt::Formatter<'_>, own: &[String], none: &[String], to_set: bool) -> fmt::Result {
    f.write_str(
        "intervals by dropout are those of networks that forecast a single number and drop something",
    )?;
    if !own.is_empty() {
        write!(f, "; with those of their own: {}", own.join(", "))?;
    }
    if none.is_empty() {
        return Ok(());
    }
    write!(
        f,
        "; without any: {}; {}calibrate intervals ({})",
        none.join(", "),
        if to_set { "set their rate of dropout above 0 where they have one, or " } else { "" },
        Setting::Intervals.to(10)
    )
}

fn few_calibration_windows(
    f: &mut fmt::Formatter<'_>,
    n_windows: usize,
    levels: &[(f64, usize)],
) -> fmt::Result {
    let most = 100.0 * n_windows as f64 / (n_windows as f64 + 1.0);
    let needed: Vec<String> =
        levels.iter().map(|(level, needed)| format!("{level} % needs {needed}")).collect();
    write!(
        f,
        "intervals that are calibrated on {n_windows} windows hold about {most:.0} % of the truths at most: {}; calibrate \
         them on more windows ({})",
        needed.join(", "),
        Setting::Intervals.to("N")
    )
}

fn unseen_categories(f: &mut fmt::Formatter<'_>, columns: &[UnseenCategories]) -> fmt::Result {
    let column = |unseen: &UnseenCategories| {
        let UnseenCategories { column, values, rows, of } = unseen;
        format!("{column} in {rows} of {of} rows ({})", first_few(values, String::clone))
    };
    let columns: Vec<String> = columns.iter().map(column).collect();
    write!(
        f,
        "categories that training did not see: {}; the models take the mean of those that it saw for each of them; check how \
         they are written, or train on data that hold them",
        columns.join(", ")
    )
}

/// How many values of each column, of how many.
fn counted(columns: &[(String, usize)], of: usize) -> String {
    let counts: Vec<String> =
        columns.iter().map(|(name, count)| format!("{count} of {of} of {name}")).collect();
    counts.join(", ")
}

/// A series with its rows.
fn with_rows((id, rows): &(String, usize)) -> String {
    format!("{id} ({rows} row{})", if *rows == 1 { "" } else { "s" })
}

/// The first few of a list.
fn first_few<T>(all: &[T], shown: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = all.iter().take(SHOWN).map(shown).collect();
    match all.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A factor in words, of two digits: `about 1000 times`, or `about 1/1000`; of one beyond any unit only that.
fn times(factor: f64) -> String {
    const MOST: f64 = 1e15;
    let two_digits = |value: f64| {
        let unit = 10_f64.powf(value.log10().floor() - 1.0).max(1.0);
        (value / unit).round() * unit
    };
    match factor {
        _ if factor > MOST => "over 10^15 times".to_owned(),
        _ if factor < 1.0 / MOST => "less than 1/10^15".to_owned(),
        _ if factor >= 1.0 => format!("about {} times", two_digits(factor)),
        _ => format!("about 1/{}", two_digits(1.0 / factor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_any_size_have_words() {
        for (factor, words) in [
            (1.0, "about 1 times"),
            (1234.0, "about 1200 times"),
            (0.001, "about 1/1000"),
            (1e300, "over 10^15 times"),
            (f64::INFINITY, "over 10^15 times"),
            (2e-302, "less than 1/10^15"),
            (0.0, "less than 1/10^15"),
        ] {
            assert_eq!(times(factor), words);
        }
    }
}
