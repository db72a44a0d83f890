//! The flags under which the command line offers what messages of the libraries tell users to change.

use std::borrow::Cow;

use foretell::{Setting, SettingWords};

use crate::shell_word::shell_word;

/// The words of the command line. A server that it runs words what it answers by the fields of requests.
pub(crate) const FLAGS: SettingWords = SettingWords { name: flag, with_value: given };

/// A flag and its value.
fn given(setting: Setting, flag: &str, value: String) -> String {
    match (setting, &value[..]) {
        // A flag without a value has an opposite.
        (Setting::KeepPartial, "false") => "--drop-partial".to_owned(),
        _ => format!("{flag} {}", quoted(value)),
    }
}

/// A value with blanks, marks that a shell reads, or of nothing in quotation marks, so that the flag can be pasted into a shell.
fn quoted(value: String) -> String {
    let of_shell = |c: char| c.is_whitespace() || "*?$\"'`;&|<>()#".contains(c);
    if value.is_empty() || value.contains(of_shell) { shell_word(&value) } else { value }
}

/// Most flags are called as the setting is in Rust.
fn flag(setting: Setting) -> Option<Cow<'static, str>> {
    let named = match setting {
        Setting::End => "--end",
        Setting::Since => "--since",
        Setting::Until => "--until",
        Setting::HoursAcross => "--hours-across",
        Setting::MonthsAcross => "--months-across",
        Setting::TimesAcross => "--transposed",
        Setting::Categories => "--cat-exog",
        Setting::Holidays => "--holidays",
        Setting::FutureRows => "--futr FILE",
        Setting::StaticTable => "--static FILE",
        Setting::DropShort => "--drop-short",
        Setting::Intervals => "fit --intervals",
        Setting::Calibrate => "predict --intervals",
        Setting::Log => "--log",
        Setting::Checkpoint => "--checkpoint",
        Setting::Models => "foretell models",
        Setting::HyperParameters => "foretell models --json",
        Setting::ImportHyperParameter => "--set",
        Setting::SearchSpace => "--space",
        setting => return Some(format!("--{}", setting.key().replace('_', "-")).into()),
    };
    Some(named.into())
}
