//! Pictures as PNG (ISO/IEC 15948).

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// The file of a picture of `[height, width, 3]` bytes of red, green and blue.
pub(crate) fn png(pixels: &[u8], (width, height): (u32, u32)) -> anyhow::Result<Vec<u8>> {
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // 8 bits a channel, true colour, the only compression and filters that there are, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.chunks_exact(3 * width as usize) {
        // Each row is told how it is filtered: not at all, since figures are flat colours.
        rows.write_all(&[0])?;
        rows.write_all(row)?;
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", rows.finish()?), (b"IEND", Vec::new())] {
        let mut sum = Crc::new();
        sum.update(kind);
        sum.update(&data);
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(kind);
        file.extend(data);
        file.extend(sum.sum().to_be_bytes());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_a_file() {
        let file = png(&[1, 2, 3], (1, 1)).unwrap();
        assert_eq!(&file[..16], b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR");
        // The sum of a header of one true-colour pixel of 8 bits, as in every such file.
        assert_eq!(file[29..33], [0x90, 0x77, 0x53, 0xde]);
        let length = u32::from_be_bytes(file[33..37].try_into().unwrap()) as usize;
        let mut rows = Vec::new();
        flate2::write::ZlibDecoder::new(&mut rows).write_all(&file[41..41 + length]).unwrap();
        assert_eq!(rows, [0, 1, 2, 3]);
    }
}
