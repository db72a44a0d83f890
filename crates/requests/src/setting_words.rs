//! The options under which the package offers what messages of the libraries tell users to change.

use std::borrow::Cow;

use foretell::{Setting, SettingWords, request_field};

pub(crate) const OPTIONS: SettingWords =
    SettingWords { name: option, with_value: |_, name, value| format!("{name}: {value}") };

/// A field of a request, or of a training, which a server has not.
fn option(setting: Setting) -> Option<Cow<'static, str>> {
    match setting {
        Setting::Intervals => Some("intervals".into()),
        Setting::Precision => Some("precision".into()),
        Setting::LowMemory => Some("lowMemory".into()),
        setting => request_field(setting),
    }
}
