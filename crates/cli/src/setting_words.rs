//! The flags under which the command line offers what messages of the libraries tell users to change.

use foretell::{Setting, SettingWords};

use crate::shell_word::shell_word;

/// The words of the command line. A server that it runs words what it answers by the fields of requests.
pub(crate) const FLAGS: SettingWords =
    SettingWords { name: flag, with_value: |_, flag, value| format!("{flag} {}", quoted(value)) };

/// A value with blanks, marks that a shell reads, or of nothing in quotation marks, so that the flag can be pasted into a shell.
fn quoted(value: String) -> String {
    let of_shell = |c: char| c.is_whitespace() || "*?$\"'`;&|<>()#".contains(c);
    if value.is_empty() || value.contains(of_shell) { shell_word(&value) } else { value }
}

fn flag(setting: Setting) -> Option<&'static str> {
    Some(match setting {
        Setting::Fill => "--fill",
        Setting::End => "--end",
        Setting::Decimal => "--decimal",
        Setting::Thousands => "--thousands",
        Setting::Aggregate => "--aggregate",
        Setting::Resample => "--resample",
        Setting::DropPartial => "--drop-partial",
        Setting::Since => "--since",
        Setting::Until => "--until",
        Setting::NonNegative => "--non-negative",
        Setting::Sheet => "--sheet",
        Setting::Hours => "--hours",
        Setting::Missing => "--missing",
        Setting::Zeros => "--zeros",
        Setting::NumberFlags => "--number-flags",
        Setting::HoursAcross => "--hours-across",
        Setting::MonthsAcross => "--months-across",
        Setting::TimesAcross => "--transposed",
        Setting::Wide => "--wide",
        Setting::TimeColumns => "--time-cols",
        Setting::Encoding => "--encoding",
        Setting::SkipRows => "--skip-rows",
        Setting::SkipMatching => "--skip-matching",
        Setting::Categories => "--cat-exog",
        Setting::TimeFormat => "--time-format",
        Setting::Locale => "--locale",
        Setting::Freq | Setting::ImportFreq => "--freq",
        Setting::Holidays => "--holidays",
        Setting::Snap => "--snap",
        Setting::IdColumn => "--id-col",
        Setting::TimeColumn => "--time-col",
        Setting::TargetColumn => "--target-col",
        Setting::Zone => "--zone",
        Setting::FutureRows => "--futr FILE",
        Setting::StaticTable => "--static FILE",
        Setting::DropShort => "--drop-short",
        Setting::DropUnknown => "--drop-unknown",
        Setting::MaxMemory => "--max-memory",
        Setting::Intervals => "fit --intervals",
        Setting::Calibrate => "predict --intervals",
        Setting::Threads => "--threads",
        Setting::Precision => "--precision",
        Setting::LowMemory => "--low-memory",
        Setting::Log => "--log",
        Setting::Checkpoint => "--checkpoint",
        Setting::Batch => "--batch",
        Setting::HyperParameter | Setting::ImportHyperParameter => "--set",
        Setting::HyperParameters => "foretell models --json",
        Setting::ImportClass => "--class",
        Setting::SearchSpace => "--space",
        _ => return None,
    })
}
