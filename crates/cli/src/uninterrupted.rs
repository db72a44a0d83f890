//! A writer that a signal does not interrupt.

use std::io::{self, Write};

/// Writes again what a signal interrupted: compressors pass it on where they end, to callers that take it for a failure.
#[derive(Debug)]
pub(crate) struct Uninterrupted<W>(pub(crate) W);

impl<W: Write> Write for Uninterrupted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        loop {
            match self.0.flush() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                flushed => return flushed,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{GzDecoder, GzEncoder};

    use super::*;

    /// Every second call is interrupted, the others write a few bytes.
    struct Interrupted(Vec<u8>, bool);

    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 = !self.1;
            match self.1 {
                true => Err(io::ErrorKind::Interrupted.into()),
                false => self.0.write(&bytes[..bytes.len().min(7)]),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn compressed_text_is_written_though_signals_interrupt() {
        let text: String = (0..5000).map(|row| format!("{row},{}\n", row * row)).collect();
        let mut gzip = GzEncoder::new(Uninterrupted(Interrupted(Vec::new(), false)), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let packed = gzip.finish().unwrap().0.0;
        let mut unpacked = GzDecoder::new(Vec::new());
        unpacked.write_all(&packed).unwrap();
        assert_eq!(unpacked.finish().unwrap(), text.as_bytes());
    }
}
