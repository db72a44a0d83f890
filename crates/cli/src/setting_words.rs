//! The flags under which the command line offers what messages of the libraries tell users to change.

use std::ffi::OsString;

use foretell::{Setting, SettingWords};

use crate::shell_word::shell_word;

const FLAGS: SettingWords =
    SettingWords { name: flag, with_value: |_, flag, value| format!("{flag} {}", quoted(value)) };

/// The words of a command: most speak of their flags, and a server of the fields of requests.
pub(crate) fn of_command(name: Option<&OsString>) -> SettingWords {
    match name {
        #[cfg(feature = "serve")]
        Some(name) if name == "serve" => {
            use foretell_server::FIELD_WORDS;
            let name = |setting| (FIELD_WORDS.name)(setting).or_else(|| flag(setting));
            // What is no field is a flag of another command, and written as one.
            let with_value = |setting, name: &str, value| {
                let words = if (FIELD_WORDS.name)(setting).is_some() { FIELD_WORDS } else { FLAGS };
                (words.with_value)(setting, name, value)
            };
            SettingWords { name, with_value }
        }
        _ => FLAGS,
    }
}

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
        Setting::Sheet => "--sheet",
        Setting::Hours => "--hours",
        Setting::Missing => "--missing",
        Setting::Zeros => "--zeros",
        Setting::NumberFlags => "--number-flags",
        Setting::HoursAcross => "--hours-across",
        Setting::MonthsAcross => "--months-across",
        Setting::TimesAcross => "--transposed",
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
        Setting::Zone => "--zone",
        Setting::FutureRows => "--futr FILE",
        Setting::StaticTable => "--static FILE",
        Setting::DropShort => "--drop-short",
        Setting::MaxMemory => "--max-memory",
        Setting::Intervals => "fit --intervals",
        Setting::Calibrate => "predict --intervals",
        Setting::Threads => "--threads",
        Setting::Precision => "--precision",
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

#[cfg(all(test, feature = "serve"))]
mod tests {
    use super::*;

    #[test]
    fn a_server_writes_fields_as_fields_and_flags_as_flags() {
        let words = of_command(Some(&"serve".into()));
        let said = |setting, value: &str| {
            let name = (words.name)(setting).expect("a name");
            (words.with_value)(setting, name, value.to_owned())
        };
        assert_eq!(said(Setting::Calibrate, "10"), "intervals = 10");
        assert_eq!(said(Setting::Intervals, "10"), "fit --intervals 10");
    }
}
