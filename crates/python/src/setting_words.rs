//! The arguments under which Python offers what messages of the libraries tell users to change.

use std::borrow::Cow;

use foretell::{Setting, SettingWords};

pub(crate) const ARGUMENTS: SettingWords = SettingWords { name: argument, with_value: given };

fn argument(setting: Setting) -> Option<Cow<'static, str>> {
    let argument = match setting {
        Setting::Models => "foretell.models",
        Setting::Freq | Setting::ImportFreq => "freq",
        Setting::IdColumn => "id_col",
        Setting::TimeColumn => "time_col",
        Setting::TargetColumn => "target_col",
        Setting::End => "end",
        Setting::FutureRows => "futr_df",
        Setting::StaticTable => "static_df",
        Setting::Categories => "cat_exog_list",
        Setting::MaxMemory => "max_memory",
        Setting::Intervals | Setting::Calibrate => "prediction_intervals",
        Setting::Threads => "threads",
        Setting::Precision => "precision",
        Setting::LowMemory => "low_memory",
        Setting::HyperParameter | Setting::HyperParameters => "the model's arguments",
        Setting::Fill => "utilsforecast.preprocessing.fill_gaps",
        Setting::Aggregate => "df.groupby",
        Setting::Resample => "df.resample",
        Setting::DropShort => "df.groupby(id_col).filter",
        Setting::Zone => "df[time_col].dt.tz_convert",
        Setting::TimeFormat | Setting::TimeColumns | Setting::Locale => "pandas.to_datetime",
        Setting::Snap => "df[time_col].dt.round",
        Setting::Holidays => "pandas.offsets.CustomBusinessDay(holidays=...)",
        Setting::Decimal => "pandas.read_csv(decimal=...)",
        Setting::Thousands => "pandas.read_csv(thousands=...)",
        Setting::Missing | Setting::Zeros => "df.replace",
        Setting::Encoding => "pandas.read_csv(encoding=...)",
        Setting::SkipRows => "pandas.read_csv(skiprows=...)",
        Setting::SkipMatching => "pandas.read_csv(comment=...)",
        Setting::Sheet => "pandas.read_excel(sheet_name=...)",
        Setting::Since => "df[df[time_col] >= start]",
        Setting::Until => "df[df[time_col] <= end]",
        Setting::NonNegative => "non_negative",
        Setting::Hours
        | Setting::Wide
        | Setting::HoursAcross
        | Setting::MonthsAcross
        | Setting::TimesAcross => "df.melt",
        Setting::Log => "verbose",
        Setting::Checkpoint => "checkpoint",
        Setting::SearchSpace => "config",
        Setting::Horizon => "h",
        Setting::SearchWindows => "n_windows",
        _ => return None,
    };
    Some(argument.into())
}

/// An argument with a value, or the call that has its meaning.
fn given(setting: Setting, name: &str, value: String) -> String {
    match setting {
        Setting::Intervals | Setting::Calibrate => {
            format!("fit(df, prediction_intervals={})", prediction_intervals(&value))
        }
        Setting::Aggregate => format!("df.groupby([id_col, time_col], as_index=False).{value}()"),
        Setting::TimeFormat => format!("pandas.to_datetime(df[time_col], format={value:?})"),
        Setting::Zone => format!("df[time_col].dt.tz_convert({value:?})"),
        Setting::Snap => format!("df[time_col].dt.round({value:?})"),
        Setting::Since => format!("df[df[time_col] >= {value:?}]"),
        Setting::Until => format!("df[df[time_col] <= {value:?}]"),
        Setting::Missing => format!("df.replace({value:?}, None)"),
        Setting::Zeros => format!("df.replace({value:?}, 0)"),
        _ => match name.strip_suffix("=...)") {
            Some(call) => format!("{call}={value:?})"),
            None => format!("{name}={value}"),
        },
    }
}

/// The object of Python for `N[:METHOD[:STEP]]`.
fn prediction_intervals(value: &str) -> String {
    let mut parts = value.split(':');
    let mut arguments = vec![format!("n_windows={}", parts.next().unwrap_or_default())];
    arguments.extend(parts.next().map(|method| format!("method=\"{method}\"")));
    arguments.extend(parts.next().map(|step| format!("step_size={step}")));
    format!("PredictionIntervals({})", arguments.join(", "))
}

/// A message of the libraries without what only they have: here intervals are calibrated in one way, with the training.
pub(crate) fn in_python(text: String) -> String {
    let Some((before, after)) = text.split_once(") or on the end of the data (`fit(df, ") else {
        return text;
    };
    match after.split_once('`') {
        Some((_, after)) => format!("{before}{after}"),
        None => text,
    }
}
