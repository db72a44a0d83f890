//! Settings that messages tell users to change, by the name under which each host offers them.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::OnceLock;

/// The settings, each with its name in Rust.
macro_rules! settings {
    ($($(#[$doc:meta])+ $setting:ident = $in_rust:literal,)+) => {
        /// A setting that a message tells the user to change.
        ///
        /// A library shows the name that it has in Rust. A program that offers settings under other names (flags of a command line,
        /// arguments of another language) registers these once with [`word_settings`]; a part of it that answers in other words, as a server in
        /// those of its requests, words what it says by [`in_words_of`].
        ///
        /// ```
        /// use foretell_messages::Setting;
        ///
        /// assert_eq!(Setting::Zone.to("Europe/Berlin").to_string(), "`ReadOptions::zone = Europe/Berlin`");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Setting {
            $($(#[$doc])+ $setting,)+
        }

        impl Setting {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$setting,)+];

            /// Its name in Rust.
            pub fn in_rust(self) -> &'static str {
                match self {
                    $(Self::$setting => $in_rust,)+
                }
            }
        }
    };
}

settings! {
    /// How gaps in a series are filled.
    Fill = "ReadOptions::fill",
    /// The treatment of series that end before others.
    End = "Panel::with_end",
    /// The mark before decimals.
    Decimal = "ReadOptions::numbers.decimal",
    /// The mark between thousands.
    Thousands = "ReadOptions::numbers.thousands",
    /// Values that stand for missing ones.
    Missing = "ReadOptions::missing",
    /// Texts that stand for 0.
    Zeros = "ReadOptions::zeros",
    /// Marks behind numbers that only say how these came about.
    NumberFlags = "ReadOptions::number_flags",
    /// How several rows of a series and time become one.
    Aggregate = "ReadOptions::aggregate",
    /// The periods that rows are gathered in.
    Resample = "ReadOptions::resample",
    /// Whether periods that are not complete are kept.
    KeepPartial = "ReadOptions::keep_partial",
    /// The first time that is read.
    Since = "Panel::between",
    /// The last time that is read.
    Until = "Panel::between",
    /// Whether forecasts below 0 become 0.
    NonNegative = "KeptSettings::non_negative",
    /// The sheet of a workbook.
    Sheet = "FileOptions::sheet",
    /// Which hour of a day its number names.
    Hours = "ReadOptions::hours",
    /// Reads columns of hours as one series.
    HoursAcross = "ReadOptions::across",
    /// Reads columns of months as one series.
    MonthsAcross = "ReadOptions::across",
    /// Reads a row as a series, with its times across.
    TimesAcross = "ReadOptions::across",
    /// Reads every column but that of the times as a series.
    Wide = "ReadOptions::wide",
    /// The columns that make the time.
    TimeColumns = "ReadOptions::time_cols",
    /// The encoding of text.
    Encoding = "FileOptions::encoding",
    /// How many lines stand before the header.
    SkipRows = "FileOptions::skip_rows",
    /// How lines begin that are no rows.
    SkipMatching = "FileOptions::skip_matching",
    /// Columns that hold categories.
    Categories = "ReadOptions::categories",
    /// How times are written.
    TimeFormat = "ReadOptions::time_format",
    /// The language of the names of months.
    Locale = "ReadOptions::locale",
    /// The frequency of the data.
    Freq = "ReadOptions::freq",
    /// Days on which business days or hours have no row.
    Holidays = "Freq::without_holidays",
    /// The grid that times which jitter are moved to.
    Snap = "ReadOptions::snap",
    /// The column of the series' ids.
    IdColumn = "ReadOptions::id_col",
    /// The column of the times.
    TimeColumn = "ReadOptions::time_col",
    /// The column of the target's values.
    TargetColumn = "ReadOptions::target_col",
    /// The time zone of the data.
    Zone = "ReadOptions::zone",
    /// The table of future rows.
    FutureRows = "Future",
    /// The table of static columns.
    StaticTable = "Panel::with_static_file",
    /// Leaves out the series that are too short.
    DropShort = "Panel::without_shorter_than",
    /// The most memory that may be taken.
    MaxMemory = "max_memory",
    /// Calibrates intervals with the training.
    Intervals = "Forecaster::intervals",
    /// Calibrates intervals of trained models.
    Calibrate = "Fitted::calibrate",
    /// Threads to compute on.
    Threads = "Forecaster::threads",
    /// The precision of a training.
    Precision = "Forecaster::precision",
    /// Trains in the least memory.
    LowMemory = "Forecaster::low_memory",
    /// The reports of a training.
    Log = "Forecaster::on_progress",
    /// Where the state of a training is kept.
    Checkpoint = "Forecaster::checkpoint_to",
    /// Series or windows at a time of a bench.
    Batch = "Bench::batch",
    /// A hyper-parameter of a model.
    HyperParameter = "ModelSpec::set",
    /// The list of models.
    Models = "foretell::model_names",
    /// The list of a model's hyper-parameters.
    HyperParameters = "ModelSpec::hyper_parameters",
    /// The class of imported weights.
    ImportClass = "ImportOptions::class",
    /// A hyper-parameter of imported weights.
    ImportHyperParameter = "ImportOptions::settings",
    /// The frequency of imported models.
    ImportFreq = "ImportOptions::freq",
    /// The values that a search gives a hyper-parameter.
    SearchSpace = "SearchSpace::search",
    /// The steps that are forecast.
    Horizon = "ModelSpec::h",
    /// The windows that a search scores.
    SearchWindows = "Search::n_windows",
}

impl Setting {
    /// The last word of its name in Rust, which most hosts have in theirs: `time_col` of `ReadOptions::time_col`.
    pub fn key(self) -> &'static str {
        self.in_rust().rsplit([':', '.']).next().unwrap_or_default()
    }

    /// The setting with a value to give it.
    pub fn to(self, value: impl fmt::Display) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            let name = name(self);
            match host(self) {
                Some((words, _)) => write!(f, "`{}`", (words.with_value)(self, &name, value.to_string())),
                None => write!(f, "`{name} = {value}`"),
            }
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", name(*self))
    }
}

thread_local! {
    /// The settings that the text which is being worded has named.
    static NAMED: RefCell<Option<Vec<Setting>>> = const { RefCell::new(None) };
    /// The words of the text that is being worded, where they are not those of the process.
    static WORDS: Cell<Option<SettingWords>> = const { Cell::new(None) };
}

/// The words that have a name for a setting, with that name: those of the text that is being worded, else those of the process.
fn host(setting: Setting) -> Option<(SettingWords, Cow<'static, str>)> {
    let words = [WORDS.get(), HOST.get().copied()];
    words.into_iter().flatten().find_map(|words| Some((words, (words.name)(setting)?)))
}

/// What `work` words, with settings in these words, and those without a name there in the words of the process: an error holds settings
/// and values, and has a wording where it is printed, so a process may print it for several hosts.
///
/// ```
/// use foretell_messages::{Setting, SettingWords, in_words_of};
///
/// let words = SettingWords { name: |_| Some("zone".into()), with_value: |_, name, value| format!("{name}: {value}") };
/// assert_eq!(in_words_of(words, || Setting::Zone.to("UTC").to_string()), "`zone: UTC`");
/// assert_eq!(Setting::Zone.to("UTC").to_string(), "`ReadOptions::zone = UTC`");
/// ```
pub fn in_words_of<R>(words: SettingWords, work: impl FnOnce() -> R) -> R {
    /// Puts the words of before back, also after a panic.
    struct Before(Option<SettingWords>);
    impl Drop for Before {
        fn drop(&mut self) {
            WORDS.set(self.0);
        }
    }
    let _before = Before(WORDS.replace(Some(words)));
    work()
}

/// The words of what this thread words, where they are not those of the process: for [`in_words_of`] on threads that work for it.
pub fn words_here() -> Option<SettingWords> {
    WORDS.get()
}

/// The text of an error, and the settings that it names, in their order: so the advice of a message and the setting that programs read
/// of it are one.
pub fn settings_named(error: &dyn fmt::Display) -> (String, Vec<Setting>) {
    let before = NAMED.replace(Some(Vec::new()));
    let text = error.to_string();
    (text, NAMED.replace(before).unwrap_or_default())
}

/// Its name in the words of the host.
fn name(setting: Setting) -> Cow<'static, str> {
    NAMED.with_borrow_mut(|named| named.iter_mut().for_each(|named| named.push(setting)));
    setting.in_words()
}

impl Setting {
    /// Its name in the words of the host, else in Rust.
    pub fn in_words(self) -> Cow<'static, str> {
        host(self).map_or_else(|| self.in_rust().into(), |(_, name)| name)
    }
}

/// How a host names settings.
#[derive(Clone, Copy, Debug)]
pub struct SettingWords {
    /// The host's name of a setting, `--zone` for example; without one the name in Rust is shown.
    pub name: fn(Setting) -> Option<Cow<'static, str>>,
    /// A setting of a name with a value, as they are written there: on a command line with a blank between them, and quotation marks
    /// around a value that has blanks.
    pub with_value: fn(Setting, &str, String) -> String,
}

static HOST: OnceLock<SettingWords> = OnceLock::new();

/// Makes every message of this process name settings as its host does; the first call counts.
pub fn word_settings(words: SettingWords) {
    HOST.get_or_init(|| words);
}

#[cfg(test)]
mod tests {
    use super::{Setting, SettingWords, in_words_of, settings_named, words_here};

    #[test]
    fn the_settings_that_a_text_names_are_told() {
        let text = std::fmt::from_fn(|f| write!(f, "{}, or {}", Setting::Fill, Setting::Freq.to("D")));
        let (said, named) = settings_named(&text);
        assert_eq!((said, named), (text.to_string(), vec![Setting::Fill, Setting::Freq]));
        assert_eq!(settings_named(&"plain").1, []);
    }

    #[test]
    fn other_threads_word_as_the_one_that_they_work_for() {
        let words = SettingWords {
            name: |_| Some("zone".into()),
            with_value: |_, name, value| format!("{name}: {value}"),
        };
        let told = |words: Option<SettingWords>| {
            let zone = || Setting::Zone.to("UTC").to_string();
            words.map_or_else(zone, |words| in_words_of(words, zone))
        };
        let elsewhere = in_words_of(words, || {
            let here = words_here();
            std::thread::spawn(move || told(here)).join().unwrap()
        });
        assert_eq!(elsewhere, "`zone: UTC`");
        assert!(words_here().is_none());
    }

    #[test]
    fn without_a_host_settings_have_their_names_in_rust() {
        assert_eq!(Setting::Fill.to_string(), "`ReadOptions::fill`");
        assert_eq!(Setting::TimeFormat.to("%Y").to_string(), "`ReadOptions::time_format = %Y`");
    }
}
