//! The options under which the package offers what messages of the libraries tell users to change.

use foretell::{Setting, SettingWords};

pub(crate) const OPTIONS: SettingWords =
    SettingWords { name: option, with_value: |_, name, value| format!("{name}: {value}") };

fn option(setting: Setting) -> Option<&'static str> {
    Some(match setting {
        Setting::Freq => "reading.freq",
        Setting::Fill => "reading.fill",
        Setting::End => "end",
        Setting::Decimal | Setting::Thousands => "reading.numbers",
        Setting::Aggregate => "reading.aggregate",
        Setting::Resample => "reading.resample",
        Setting::DropPartial => "reading.drop_partial",
        Setting::DropUnknown => "reading.drop_unknown",
        Setting::Missing => "reading.missing",
        Setting::Hours => "reading.hours",
        Setting::NumberFlags => "reading.number_flags",
        Setting::HoursAcross | Setting::MonthsAcross | Setting::TimesAcross => "reading.across",
        Setting::Wide => "reading.wide",
        Setting::TimeColumns => "reading.time_cols",
        Setting::Encoding | Setting::Sheet | Setting::SkipRows | Setting::SkipMatching => "reading.file",
        Setting::Locale => "reading.locale",
        Setting::Zeros => "reading.zeros",
        Setting::IdColumn => "reading.id_col",
        Setting::TimeColumn => "reading.time_col",
        Setting::TargetColumn => "reading.target_col",
        Setting::TimeFormat => "reading.time_format",
        Setting::Snap => "reading.snap",
        Setting::Zone => "reading.zone",
        Setting::FutureRows => "future",
        Setting::StaticTable => "static",
        Setting::Intervals | Setting::Calibrate => "intervals",
        Setting::Precision => "precision",
        Setting::LowMemory => "lowMemory",
        _ => return None,
    })
}
