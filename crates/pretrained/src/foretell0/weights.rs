//! The file of the weights: matrices as int8 with a factor for each output channel, vectors as f32.
//!
//! ```text
//! "FORETELL0"  u32 length of the header  header (JSON)  then, in the order of the network's table:
//!     matrix [outputs, inputs]   outputs f32 factors, then outputs x inputs i8
//!     vector                     f32 values
//! ```
//!
//! All numbers are little-endian. The header says how the weights came about ([`Provenance`]).

use foretell_nn::{Params, Table};
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 9] = b"FORETELL0";

/// How weights came about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The seed of the synthetic series.
    pub seed: u64,
    /// Steps of training in all runs so far.
    pub steps: u64,
    /// Windows in all runs so far: the series of later runs begin after them.
    pub windows: u64,
    /// Seconds of all runs so far.
    pub seconds: f64,
    /// Step and mean loss since the point before, over all runs.
    pub losses: Vec<(u64, f32)>,
}

/// Why bytes are no weights of this network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// Another file.
    #[error("these bytes are not weights of Foretell0: they do not begin with FORETELL0")]
    Magic,
    /// A header that cannot be read.
    #[error("the header of these weights of Foretell0 cannot be read: {0}")]
    Header(String),
    /// Too few or too many bytes.
    #[error(
        "weights of Foretell0 have {expected} bytes, found {found}; the file is cut off or of another version"
    )]
    Length {
        /// Bytes that the network's table takes.
        expected: usize,
        /// Bytes that there are.
        found: usize,
    },
}

/// The weights as bytes. What is read back differs by at most half a step of 1/127 of the channel's largest weight.
pub fn write(params: &Params, provenance: &Provenance) -> Vec<u8> {
    let header = serde_json::to_vec(provenance).expect("plain numbers are JSON");
    let mut bytes = MAGIC.to_vec();
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    for entry in params.table().trained() {
        let values = params.values(entry);
        match *entry.shape {
            [outputs, inputs] => {
                let rows = || values.chunks_exact(inputs);
                let factors: Vec<f32> =
                    rows().map(|row| row.iter().fold(0.0, |m: f32, w| m.max(w.abs())) / 127.0).collect();
                bytes.reserve(outputs * (inputs + 4));
                factors.iter().for_each(|factor| bytes.extend(factor.to_le_bytes()));
                for (row, factor) in rows().zip(&factors) {
                    let inverse = if *factor > 0.0 { factor.recip() } else { 0.0 };
                    bytes.extend(row.iter().map(|w| (w * inverse).round() as i8 as u8));
                }
            }
            _ => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
        }
    }
    bytes
}

/// The parameters of this table that [`write()`] made these bytes of.
///
/// # Errors
/// If the bytes are of something else, cut off, or of a network of other sizes.
pub fn read(bytes: &[u8], table: Table) -> Result<(Params, Provenance), WeightsError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(WeightsError::Magic)?;
    let length = || WeightsError::Length { expected: MAGIC.len() + 4, found: bytes.len() };
    let (size, rest) = rest.split_first_chunk::<4>().ok_or_else(length)?;
    let size = u32::from_le_bytes(*size) as usize;
    let body = rest
        .get(size..)
        .ok_or(WeightsError::Length { expected: MAGIC.len() + 4 + size, found: bytes.len() })?;
    let provenance =
        serde_json::from_slice(&rest[..size]).map_err(|error| WeightsError::Header(error.to_string()))?;
    let bytes_of = |shape: &[usize]| match *shape {
        [outputs, inputs] => outputs * (inputs + 4),
        _ => 4 * shape.iter().product::<usize>(),
    };
    let expected: usize = table.trained().map(|entry| bytes_of(&entry.shape)).sum();
    if body.len() != expected {
        let before = bytes.len() - body.len();
        return Err(WeightsError::Length { expected: before + expected, found: bytes.len() });
    }
    let mut params = table.initialise(0);
    let entries = params.table().entries().to_vec();
    let mut at = 0;
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.is_trained()) {
        let part = &body[at..at + bytes_of(&entry.shape)];
        at += part.len();
        let floats = |bytes: &[u8]| -> Vec<f32> {
            let (numbers, _) = bytes.as_chunks::<4>();
            numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()
        };
        let values = match *entry.shape {
            [outputs, inputs] => {
                let (factors, weights) = part.split_at(4 * outputs);
                let row = |(row, factor): (&[u8], f32)| {
                    row.iter().map(move |w| f32::from(*w as i8) * factor).collect::<Vec<_>>()
                };
                weights.chunks_exact(inputs).zip(floats(factors)).flat_map(row).collect()
            }
            _ => floats(part),
        };
        params.set(index, &values);
    }
    Ok((params, provenance))
}

/// The values of all parameters, in the order of the table.
pub(crate) fn plain(params: &Params) -> Vec<f64> {
    let values = params.table().trained().flat_map(|entry| params.values(entry));
    values.map(|value| f64::from(*value)).collect()
}

/// The parameters of this table with the values that [`plain`] gave, or why they are not.
pub(crate) fn with_plain(table: Table, values: &[f64]) -> Result<Params, String> {
    let expected: usize = table.trained().map(|entry| entry.shape.numel()).sum();
    if values.len() != expected || !values.iter().all(|value| value.is_finite()) {
        let found = values.len();
        return Err(format!(
            "its weights must be {expected} finite numbers, found {found}; save it again from its source"
        ));
    }
    let mut params = table.initialise(0);
    let entries = params.table().entries().to_vec();
    let mut rest = values;
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.is_trained()) {
        let own = rest.split_off(..entry.shape.numel()).expect("as many as were counted");
        params.set(index, &own.iter().map(|value| *value as f32).collect::<Vec<_>>());
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foretell0::network::PatchNetwork;

    #[test]
    fn weights_come_back_within_half_a_step_and_take_less_than_a_megabyte() {
        let params = PatchNetwork::new().1.initialise(3);
        let provenance =
            Provenance { seed: 1, steps: 7, windows: 448, seconds: 2.5, losses: vec![(7, 0.25)] };
        let bytes = write(&params, &provenance);
        assert!(bytes.len() < 1_000_000, "{} bytes", bytes.len());
        let (read, found) = read(&bytes, PatchNetwork::new().1).unwrap();
        assert_eq!(found, provenance);
        for entry in params.table().trained() {
            let (before, after) = (params.values(entry), read.values(entry));
            let inputs = if entry.shape.len() == 2 { entry.shape[1] } else { before.len() };
            for (before, after) in before.chunks(inputs).zip(after.chunks(inputs)) {
                let step = before.iter().fold(0.0, |m: f32, w| m.max(w.abs())) / 127.0;
                assert!(
                    before.iter().zip(after).all(|(b, a)| (b - a).abs() <= 0.501 * step),
                    "{}",
                    entry.name
                );
            }
        }
        // What has been rounded once is not rounded again.
        assert_eq!(write(&read, &found), bytes);
    }

    #[test]
    fn plain_values_come_back_to_the_bit() {
        let params = PatchNetwork::new().1.initialise(3);
        let values = plain(&params);
        let read = with_plain(PatchNetwork::new().1, &values).unwrap();
        assert_eq!(read.arena(), params.arena());
        for wrong in [&values[1..], &[&values[1..], &[f64::NAN]].concat()] {
            let error = with_plain(PatchNetwork::new().1, wrong).unwrap_err();
            assert!(error.contains(&format!("must be {} finite", values.len())), "{error}");
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let read = |bytes: &[u8]| read(bytes, PatchNetwork::new().1).map(|_| ()).unwrap_err();
        let bytes = write(&PatchNetwork::new().1.initialise(3), &Provenance::default());
        assert_eq!(read(b"PK"), WeightsError::Magic);
        assert!(matches!(read(&bytes[..11]), WeightsError::Length { .. }));
        assert!(matches!(read(&bytes[..40]), WeightsError::Length { .. }));
        let length = WeightsError::Length { expected: bytes.len(), found: bytes.len() - 1 };
        assert_eq!(read(&bytes[..bytes.len() - 1]), length);
        let mut header = bytes.clone();
        header[13] = b'[';
        assert!(matches!(read(&header), WeightsError::Header(_)));
        let mut size = bytes;
        size[9..13].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read(&size), WeightsError::Length { .. }));
    }
}
