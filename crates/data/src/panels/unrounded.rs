//! The target of a table with all its digits, while it is read.

/// The values of `y` in `f64`, where someone wants them: none as long as single precision holds all of them.
#[derive(Debug, Default)]
pub(crate) struct Unrounded {
    pub(crate) is_wanted: bool,
    values: Vec<f64>,
}

impl Unrounded {
    /// No values, wanted or not.
    pub(crate) fn wanted(is_wanted: bool) -> Self {
        Self { is_wanted, values: Vec::new() }
    }

    /// Appends a value, which follows those that are rounded to `before`.
    pub(crate) fn push(&mut self, before: &[f32], value: f64) {
        self.extend(before, &[value]);
    }

    /// Appends values, which follow those that are rounded to `before`.
    pub(crate) fn extend(&mut self, before: &[f32], values: &[f64]) {
        let is_held = |value: &f64| value.is_nan() || f64::from(*value as f32) == *value;
        if self.is_wanted && !(self.values.is_empty() && values.iter().all(is_held)) {
            self.begin(before);
            self.values.extend_from_slice(values);
        }
    }

    /// Appends those of another part, with what both are rounded to.
    pub(crate) fn append(&mut self, before: &[f32], other: &Self, rounded: &[f32]) {
        if self.values.is_empty() && other.values.is_empty() {
            return;
        }
        self.begin(before);
        match other.values.is_empty() {
            true => self.values.extend(rounded.iter().map(|&y| f64::from(y))),
            false => self.values.extend_from_slice(&other.values),
        }
    }

    /// Keeps what these are rounded to from now on, as values that are computed of them may have more digits.
    pub(crate) fn keep(&mut self, rounded: &[f32]) {
        if self.is_wanted {
            self.begin(rounded);
        }
    }

    fn begin(&mut self, before: &[f32]) {
        if self.values.is_empty() {
            self.values.extend(before.iter().map(|&y| f64::from(y)));
        }
    }

    /// Changes them, if there are any.
    pub(crate) fn each(&mut self, change: impl FnOnce(&mut Vec<f64>)) {
        if !self.values.is_empty() {
            change(&mut self.values);
        }
    }

    /// The value of a row that is rounded to `y`.
    pub(crate) fn get(&self, row: usize, y: f32) -> f64 {
        self.values.get(row).copied().unwrap_or(f64::from(y))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<f64>() * self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Aggregate, End, Fill, Panel, ReadOptions};
    use foretell_calendar::{Freq, TimeKind};

    fn read(text: &str, options: &ReadOptions) -> Panel {
        Panel::read_csv(text.as_bytes(), "t.csv", options).unwrap()
    }

    /// The values of the first series.
    fn values(panel: &Panel) -> Vec<f64> {
        panel.known_values(0, 0..panel.len(0))
    }

    #[test]
    fn long_and_wide_tables_hold_all_digits_in_any_order() {
        let expected = [20_000_000.0, 20_000_001.0, 20_000_003.0];
        let by_time =
            "unique_id,ds,y,x\na,1,20000000,1\nb,1,5,1\na,2,20000001,1\nb,2,6,1\na,3,20000003,1\nb,3,7,1\n";
        let shuffled = "unique_id,ds,y\nb,3,7\na,3,20000003\na,1,20000000\nb,1,5\nb,2,6\na,2,20000001\n";
        for panel in [
            read(by_time, &ReadOptions::new()),
            read(shuffled, &ReadOptions::new()),
            read(
                "ds,a,b\n3,20000003,7\n1,20000000,5\n2,20000001,6\n",
                &ReadOptions { wide: true, ..ReadOptions::new() },
            ),
        ] {
            assert_eq!(values(&panel), expected);
            assert!(panel.level(1).is_default() && panel.y(1) == [5.0, 6.0, 7.0]);
            assert!(panel.coarse_series().is_empty());
        }
    }

    #[test]
    fn numbers_that_single_precision_has_as_zero_are_scaled_or_told() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("t.csv");
        let told = |text: &str, options: &ReadOptions| {
            std::fs::write(&path, text).unwrap();
            // Read once, and a file that may be read again.
            [read(text, options), Panel::from_file(&path, options).unwrap()].map(|panel| {
                (values(&panel), panel.notes().iter().map(ToString::to_string).collect::<Vec<_>>())
            })
        };
        let wide = ReadOptions { wide: true, ..ReadOptions::new() };
        for (text, options) in [
            ("ds,y\n1,0\n2,1e-302\n3,3\n4,-1e-50\n", &ReadOptions::new()),
            ("ds,y,z\n1,0,1\n2,1e-302,1\n3,3,1\n4,-1e-50,1\n", &wide),
        ] {
            for (y, notes) in told(text, options) {
                assert_eq!((y, notes.len()), (vec![0.0, 0.0, 3.0, 0.0], 1), "{notes:?}");
                assert!(notes[0].contains("read as 0, the first of them 1e-302"), "{notes:?}");
            }
        }
        // Those of a series of their own are none beside others.
        let options = ReadOptions::new().freq(Freq::parse("1").unwrap());
        for (small, level) in [("2e-50", true), ("0", true), ("1", false)] {
            let text = format!("unique_id,ds,y\na,1,1e-50\na,2,{small}\nb,1,5\nb,2,0.1\n");
            std::fs::write(&path, text).unwrap();
            let panel = Panel::from_file(&path, &options).unwrap();
            assert_eq!((!panel.level(0).is_default(), panel.notes().is_empty()), (level, level), "{small}");
        }
        // By themselves they are values as any others.
        for (y, notes) in told("ds,y\n1,1e-302\n2,3e-302\n3,0\n4,-2e-302\n", &ReadOptions::new()) {
            let near = |(value, expected): (&f64, f64)| (value / 1e-302 - expected).abs() < 1e-6;
            assert!(y.iter().zip([1.0, 3.0, 0.0, -2.0]).all(near) && notes.is_empty(), "{y:?} {notes:?}");
        }
        // What single precision has, if not with all digits, and what is 0.
        for text in ["ds,y\n1,0\n2,1e-40\n3,2\n", "ds,y\n1,0\n2,0e-302\n3,-0\n"] {
            assert!(told(text, &ReadOptions::new()).iter().all(|(_, notes)| notes.is_empty()), "{text}");
        }
    }

    #[test]
    fn files_are_read_again_where_single_precision_loses_steps() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("t.csv");
        // More than a block, so that parts are joined.
        let rows: String = (0..120_000).map(|t| format!("meter,{t},{}\n", 1_000_000_000 + 3 * t)).collect();
        std::fs::write(&path, format!("unique_id,ds,y\n{rows}")).unwrap();
        for threads in [1, 2] {
            let panel = Panel::from_file(&path, &ReadOptions { threads, ..ReadOptions::new() }).unwrap();
            assert!(values(&panel).iter().enumerate().all(|(t, value)| *value == 1e9 + 3.0 * t as f64));
        }
    }

    #[test]
    fn sums_fillings_and_ends_are_of_the_values_themselves() {
        let text =
            "unique_id,ds,y\na,1,10000000\na,1,10000001\na,2,20000000\na,4,20000002\nb,1,1\nb,2,1\nb,6,1\n";
        let options = ReadOptions::new().aggregate(Aggregate::Sum).fill(Fill::Interpolate);
        let panel = read(text, &options);
        assert_eq!(values(&panel), [20_000_001.0, 20_000_000.0, 20_000_001.0, 20_000_002.0]);
        assert_eq!(values(&panel.with_end(End::Common, None).unwrap())[3..], [20_000_002.0, 0.0, 0.0]);
        let mut longer = panel.clone();
        longer.append("a", &[20_000_004.0], &[]).unwrap();
        assert_eq!(values(&longer)[4], 20_000_004.0);
        let joined = panel
            .followed_by(&read(
                "unique_id,ds,y\na,5,20000007\na,6,20000008\na,7,20000009\nb,7,1\nb,8,1\nb,9,1\n",
                &options,
            ))
            .unwrap();
        assert_eq!(values(&joined)[4..], [20_000_007.0, 20_000_008.0, 20_000_009.0]);
    }

    #[test]
    fn masked_rows_have_no_say_and_stay_zero() {
        let text = "unique_id,ds,y,available_mask\na,1,20000000,1\na,2,,0\na,3,20000001,1\na,4,20000000,1\n";
        let panel = read(text, &ReadOptions::new());
        assert!(!panel.level(0).is_default() && panel.y(0)[1] == 0.0);
        assert_eq!(panel.known_values(0, 2..4), [20_000_001.0, 20_000_000.0]);
        let elsewhere = panel.with_levels(|_| [2e7, 1.0].into());
        assert_eq!(elsewhere.y(0), [0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn slices_in_double_precision_are_held_as_tables_are() {
        let freq = Freq::parse("1").unwrap();
        let builder = Panel::builder(TimeKind::Integer).freq(freq).series("a", &[1, 2, 3], &[0.1, 0.2, 0.3]);
        let builder = builder.wide_series("b", &[1, 2, 3], &[1e9, 1e9 + 1.0, 1e9 + 2.0]);
        let panel = builder.series("c", &[1, 2, 3], &[1.0, 2.0, 4.0]).build().unwrap();
        assert_eq!(panel.known_values(1, 0..3), [1e9, 1e9 + 1.0, 1e9 + 2.0]);
        assert_eq!((panel.y(0), panel.y(2)), (&[0.1, 0.2, 0.3][..], &[1.0, 2.0, 4.0][..]));
    }

    #[test]
    fn arrow_and_parquet_in_double_precision_are_held_as_text_is() {
        use crate::ForecastTable;
        use foretell_tables::{ArrowTable, FileFormat, Frame};
        let values_of = [1e9, 1e9 + 3.0, 1e9 + 6.0];
        let mut frame =
            Frame { ids: vec!["a".into(); 3], times: vec![1, 2, 3], ..Frame::new(Freq::parse("1").unwrap()) };
        frame.push_wide("y", values_of.to_vec(), true);
        let panel =
            Panel::from_table(ArrowTable::from_batches([frame.record_batch()]).unwrap(), &ReadOptions::new())
                .unwrap();
        assert_eq!(values(&panel), values_of);
        let home = tempfile::tempdir().unwrap();
        for name in ["t.parquet", "t.csv", "t.arrows"] {
            let path = home.path().join(name);
            let file = std::fs::File::create(&path).unwrap();
            let mut writer = FileFormat::of(&path).writer(Box::new(file), frame.time_style(), '.').unwrap();
            writer.write(&frame).unwrap();
            writer.finish().unwrap();
            assert_eq!(values(&Panel::from_file(&path, &ReadOptions::new()).unwrap()), values_of, "{name}");
            let read = ForecastTable::frame_from_file(&path, &ReadOptions::new(), frame.freq).unwrap();
            assert_eq!(read.wide["y"], values_of, "{name}");
        }
    }
}
