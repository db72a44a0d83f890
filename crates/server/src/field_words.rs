//! The fields of requests under which the server offers what messages of the libraries tell users to change.

use foretell::{Setting, SettingWords};

/// The names of settings in requests, in which the server words its answers, for [`foretell::in_words_of`]; others keep the name that the
/// process gives them.
pub const FIELD_WORDS: SettingWords =
    SettingWords { name: field, with_value: |_, name, value| format!("{name} = {value}") };

fn field(setting: Setting) -> Option<&'static str> {
    Some(match setting {
        Setting::Fill => "reading.fill",
        Setting::End => "end",
        Setting::Decimal | Setting::Thousands => "reading.numbers",
        Setting::Aggregate => "reading.aggregate",
        Setting::Resample => "reading.resample",
        Setting::DropPartial => "reading.drop_partial",
        Setting::DropUnknown => "reading.drop_unknown",
        Setting::Hours => "reading.hours",
        Setting::Missing => "reading.missing",
        Setting::Zeros => "reading.zeros",
        Setting::NumberFlags => "reading.number_flags",
        Setting::HoursAcross | Setting::MonthsAcross | Setting::TimesAcross => "reading.across",
        Setting::Wide => "reading.wide",
        Setting::IdColumn => "reading.id_col",
        Setting::TimeColumn => "reading.time_col",
        Setting::TargetColumn => "reading.target_col",
        Setting::TimeColumns => "reading.time_cols",
        Setting::Encoding | Setting::Sheet | Setting::SkipRows | Setting::SkipMatching => "reading.file",
        Setting::TimeFormat => "reading.time_format",
        Setting::Locale => "reading.locale",
        Setting::Snap => "reading.snap",
        Setting::Freq => "reading.freq",
        Setting::Zone => "reading.zone",
        Setting::FutureRows => "future",
        Setting::StaticTable => "static",
        Setting::Calibrate => "intervals",
        _ => return None,
    })
}
