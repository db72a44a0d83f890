//! The arguments under which Python offers what messages of the libraries tell users to change.

use foretell::{Setting, SettingWords};

pub(crate) const ARGUMENTS: SettingWords = SettingWords { name: argument, assign: "=", value: |value| value };

fn argument(setting: Setting) -> Option<&'static str> {
    Some(match setting {
        Setting::Freq | Setting::ImportFreq => "freq",
        Setting::IdColumn => "id_col",
        Setting::End => "end",
        Setting::FutureRows => "futr_df",
        Setting::StaticTable => "static_df",
        Setting::Categories => "cat_exog_list",
        Setting::MaxMemory => "max_memory",
        Setting::Intervals | Setting::Calibrate => "prediction_intervals",
        Setting::Threads => "threads",
        Setting::Precision => "precision",
        Setting::HyperParameter | Setting::HyperParameters => "the model's arguments",
        Setting::Fill => "utilsforecast.preprocessing.fill_gaps",
        Setting::Aggregate => "df.groupby",
        Setting::DropShort => "df.groupby(id_col).filter",
        Setting::Zone => "df[time_col].dt.tz_convert",
        Setting::TimeFormat => "pandas.to_datetime",
        _ => return None,
    })
}
