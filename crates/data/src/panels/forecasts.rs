//! Tables of forecasts, read back.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::forecast_table::ForecastTable;
use super::options::ReadOptions;
use super::precision::{SINGLE, loses_steps};
use super::spelling::StrangeIds;
use crate::error::DataError;
use crate::error::series::SeriesError;
use crate::error::steps::StepError;
use foretell_calendar::Freq;
use foretell_tables::{Frame, Place, TableError, narrow};

impl ForecastTable {
    /// Reads a file of forecasts of series of the frequency `freq`: Parquet by its name, else CSV; one that
    /// [`Frame::write_csv`] or `Frame::write_parquet` wrote, or a data frame of
    /// neuralforecast. Ids and times are in the columns that `options` names, the times of cutoffs in `cutoff`
    /// if there is one. Of the other columns those of numbers are kept; a missing number is NaN.
    ///
    /// # Errors
    /// A column that is missing, times that cannot be read or are of another kind than `freq`, no rows, more than
    /// [`ReadOptions::max_memory`] has room for.
    pub fn frame_from_file(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        freq: Freq,
    ) -> Result<Frame, DataError> {
        Self::from_file(path, options)?.into_frame(options, freq)
    }

    /// The table of a frame.
    pub fn of_frame(frame: Frame) -> Self {
        let mut wide = frame.wide;
        let widen = |(name, values): (String, Vec<f32>)| {
            let values = wide.remove(&name).unwrap_or_else(|| values.into_iter().map(f64::from).collect());
            (name, values)
        };
        Self {
            file: "the forecast".into(),
            kind: frame.freq.kind(),
            ids: frame.ids,
            integer_ids: frame.integer_ids,
            is_unnamed: false,
            times: frame.times,
            zone: frame.zone,
            cutoffs: frame.cutoffs,
            columns: frame.columns.into_iter().map(widen).collect(),
            known: frame.known,
            notes: Vec::new(),
        }
    }

    /// Checks that no series of this table that another does not have is there under another spelling, as `7` and `007`.
    ///
    /// # Errors
    /// [`SeriesError::SpeltOtherwise`].
    pub fn check_spelling(&self, other: &Self) -> Result<(), DataError> {
        let [ours, theirs]: [FxHashSet<&str>; 2] =
            [self, other].map(|table| table.ids.iter().map(|id| &**id).collect());
        let mut strange = StrangeIds::default();
        theirs.difference(&ours).for_each(|id| strange.note(id));
        let mut missing: Vec<&str> = ours.difference(&theirs).copied().collect();
        missing.sort_unstable();
        match strange.spelt_otherwise(missing.into_iter()) {
            Some((ours, theirs)) => {
                Err(SeriesError::SpeltOtherwise { table: self.file.clone(), ours: theirs, theirs: ours }
                    .into())
            }
            None => Ok(()),
        }
    }

    /// The frequency that the first series seems to have; `None` if it has too few times to tell.
    pub fn freq(&self) -> Option<Freq> {
        Freq::infer(self.kind, self.zone.as_ref(), &self.times_of_first())
    }

    /// The frequency that most steps of the first series have, though it may lack rows; `None` if it has too few times to tell.
    pub fn likely_freq(&self) -> Option<Freq> {
        Freq::guess(self.kind, self.zone.as_ref(), &self.times_of_first())
    }

    /// The times of the first series, sorted and each once.
    fn times_of_first(&self) -> Vec<i64> {
        let Some(first) = self.ids.first() else { return Vec::new() };
        let of_first = self.ids.iter().zip(&self.times).filter(|(id, _)| *id == first);
        let mut times: Vec<i64> = of_first.map(|(_, time)| *time).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The table as a frame of series of the frequency `freq`, its ids and times in the columns that `options` names.
    ///
    /// # Errors
    /// If its times are of another kind than `freq`, or a value is beyond single precision.
    pub fn into_frame(self, options: &ReadOptions, freq: Freq) -> Result<Frame, DataError> {
        if self.kind != freq.kind() {
            return Err(StepError::FreqKind { kind: self.kind, freq, trained: false, follows: None }.into());
        }
        let narrow = |(name, values): (String, Vec<f64>)| -> Result<(String, Vec<f32>), DataError> {
            let too_large = |(row, value): (usize, f64)| {
                narrow(value).map_err(|flaw| {
                    TableError::bad_value(
                        Place { file: Some(self.file.clone()), ..Place::row(row) },
                        name.clone(),
                        format!("{value:e}"),
                        flaw,
                    )
                })
            };
            let values = values.into_iter().enumerate().map(too_large).collect::<Result<_, _>>()?;
            Ok((name, values))
        };
        let loses = |values: &[f64]| {
            let mut start = 0;
            self.ids.chunk_by(|one, other| one == other).any(|rows| {
                start += rows.len();
                loses_steps(values[start - rows.len()..start].iter().copied(), &SINGLE)
            })
        };
        let wide = self.columns.iter().filter(|(_, values)| loses(values)).cloned().collect();
        let columns = self.columns.into_iter().map(narrow).collect::<Result<_, _>>()?;
        Ok(Frame {
            id_col: options.id_col.clone(),
            time_col: options.time_name().to_owned(),
            zone: self.zone,
            ids: self.ids,
            integer_ids: self.integer_ids,
            times: self.times,
            cutoffs: self.cutoffs,
            columns,
            wide,
            known: self.known,
            ..Frame::new(freq)
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_tables::{ColumnError, TableError};
    use std::sync::Arc;

    use super::super::bounds::LOOK;
    use super::*;
    use crate::{Fill, Panel};
    use foretell_calendar::Zone;
    use foretell_tables::FileFormat;

    fn frame(freq: &str, zone: Option<&str>) -> Frame {
        let freq = Freq::parse(freq).unwrap();
        let zone = zone.map(|word| Zone::parse(word).unwrap());
        let times =
            (0..4).map(|n| freq.next_in(zone.as_ref(), 3_600_000_000, n / 2 + n % 2).unwrap()).collect();
        Frame {
            id_col: "shop".into(),
            time_col: "day".into(),
            zone,
            ids: ["a", "a", "b", "b"].map(Arc::from).to_vec(),
            times,
            cutoffs: Some(vec![0, 0, 3_600_000_000, 3_600_000_000]),
            columns: vec![
                ("y".into(), vec![0.1, f32::NAN, 3e30, -1.0]),
                ("MLP-lo-90".into(), vec![f32::MIN_POSITIVE, 0.0, 16_777_217.0, 1.0 / 3.0]),
            ],
            ..Frame::new(freq)
        }
    }

    const FILES: [&str; 2] = ["frame.csv", "frame.parquet"];

    fn write(frame: &Frame, path: &Path) {
        let file = std::fs::File::create(path).unwrap();
        let style = frame.time_style();
        let mut writer = FileFormat::of(path).writer(Box::new(file), style, '.').unwrap();
        writer.write(frame).unwrap();
        writer.finish().unwrap();
    }

    #[test]
    fn what_is_written_is_read_back_with_its_types() {
        let home = tempfile::tempdir().unwrap();
        let options =
            ReadOptions { id_col: "shop".into(), time_col: Some("day".into()), ..ReadOptions::default() };
        for (freq, zone) in
            [("h", None), ("h", Some("Europe/Berlin")), ("15min", Some("+05:45")), ("7", None)]
        {
            let frame = frame(freq, zone);
            for name in FILES {
                let path = home.path().join(name);
                write(&frame, &path);
                let options = ReadOptions { zone: frame.zone.clone(), ..options.clone() };
                let read = ForecastTable::frame_from_file(&path, &options, frame.freq).unwrap();
                assert_eq!(
                    (&read.ids, &read.times, &read.cutoffs),
                    (&frame.ids, &frame.times, &frame.cutoffs)
                );
                let bits = |frame: &Frame| -> Vec<(String, Vec<u32>)> {
                    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
                    frame.columns.iter().map(|(name, values)| (name.clone(), bits(values))).collect()
                };
                assert_eq!(bits(&read), bits(&frame), "{name}, {freq}, {zone:?}");
            }
            // The zone is a type of the last file, and need not be told.
            let read =
                ForecastTable::frame_from_file(home.path().join("frame.parquet"), &options, frame.freq)
                    .unwrap();
            let shown = |zone: &Option<Zone>| zone.as_ref().map(ToString::to_string);
            assert_eq!(shown(&read.zone), shown(&frame.zone));
        }
    }

    #[test]
    fn ids_that_came_as_integers_go_as_integers() {
        let mut frame = frame("D", None);
        frame.ids = ["7", "7", "10", "10"].map(Arc::from).to_vec();
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("frame.parquet");
        let options =
            ReadOptions { id_col: "shop".into(), time_col: Some("day".into()), ..ReadOptions::default() };
        for integer_ids in [false, true] {
            frame.integer_ids = integer_ids;
            write(&frame, &path);
            let read = ForecastTable::frame_from_file(&path, &options, frame.freq).unwrap();
            assert_eq!((read.integer_ids, &read.ids), (integer_ids, &frame.ids));
            let options =
                ReadOptions { target_col: "MLP-lo-90".into(), fill: Some(Fill::Zero), ..options.clone() };
            let options = ReadOptions { freq: Some(frame.freq), columns: Some(Vec::new()), ..options };
            assert_eq!(Panel::from_file(&path, &options).unwrap().has_integer_ids(), integer_ids);
        }
    }

    #[test]
    fn more_than_memory_has_room_for_is_refused_on_the_way() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        let mut text = "unique_id,ds,MLP\n".to_owned();
        (0..16 * LOOK).for_each(|row| text += &format!("a,{row},1\n"));
        std::fs::write(&path, text).unwrap();
        let read = |limit| {
            let options = ReadOptions { max_memory: Some(limit), ..ReadOptions::default() };
            ForecastTable::frame_from_file(&path, &options, Freq::parse("1").unwrap())
        };
        assert_eq!(read(100_000_000).unwrap().n_rows(), 16 * LOOK);
        let error = read(5_000_000).unwrap_err().to_string();
        assert!(error.contains("its first 65536 rows take"), "{error}");
    }

    #[test]
    fn tables_that_are_no_forecasts_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            ForecastTable::frame_from_file(&path, &ReadOptions::default(), Freq::parse("D").unwrap())
        };
        assert!(matches!(read("unique_id,ds,y\n"), Err(DataError::NoRows { .. })));
        assert!(matches!(read("unique_id,ds,y\na,1,2\n"), Err(DataError::Steps(StepError::FreqKind { .. }))));
        assert!(matches!(
            read("unique_id,y\na,2\n"),
            Err(DataError::Table(TableError::Column(ColumnError::Missing { .. })))
        ));
        let error = read("unique_id,ds,A\na,2024-01-01,1\na,2024-01-02,1e39\n").unwrap_err().to_string();
        assert!(error.contains("f.csv, row 1, column `A`: \"1e39\" is beyond a 32-bit float"), "{error}");
        let frame = read(",unique_id,ds,MLP,note\n0,a,2024-01-01,,fine\n1,a,2024-01-02,2,\n").unwrap();
        assert_eq!(frame.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["MLP"]);
        assert!(frame.columns[0].1[0].is_nan() && frame.cutoffs.is_none());
    }
}
