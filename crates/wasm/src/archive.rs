//! Directories of models as zip archives.

use std::io::{Cursor, Read, Write};

// The one way of deflating that `zip` then has.
use flate2 as _;
use foretell::Fitted;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::refusal::Refusal;

/// The most bytes that the files of an archive may have: a quarter of what a module of WebAssembly can address.
const MOST_BYTES: u64 = 1 << 30;

/// The models of an archive, or of the bytes of [`Fitted::to_bytes`].
pub(crate) fn read(bytes: &[u8]) -> Result<Fitted, Refusal> {
    if bytes.starts_with(b"foretell model directory") {
        return Ok(Fitted::from_bytes(bytes)?);
    }
    let files = unzip(bytes)?;
    Ok(Fitted::from_files(files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])))?)
}

/// The files of an archive by their names, without the folder that they may stand in.
fn unzip(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Refusal> {
    let refuse = |error: String| {
        Refusal::archive(format!(
            "these bytes are no zip archive of a model directory: {error}; zip the directory that save wrote"
        ))
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| refuse(error.to_string()))?;
    let (mut files, mut room) = (Vec::new(), MOST_BYTES);
    for place in 0..archive.len() {
        let mut file = archive.by_index(place).map_err(|error| refuse(error.to_string()))?;
        if file.is_dir() {
            continue;
        }
        let name = file.name().map_err(|error| refuse(error.to_string()))?;
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let mut content = Vec::new();
        let read = file.by_ref().take(room + 1).read_to_end(&mut content);
        let read = read.map_err(|error| refuse(format!("{name}: {error}")))? as u64;
        room = room.checked_sub(read).ok_or_else(|| {
            Refusal::archive(
                "the files of the archive take more than 1 GiB; load them where there is more memory",
            )
        })?;
        files.push((name, content));
    }
    Ok(files)
}

/// The archive of models, whose files are those of a directory; deflated, as numbers of networks hardly are but the rest is.
pub(crate) fn write(fitted: &Fitted) -> Result<Vec<u8>, Refusal> {
    let refuse =
        |error: zip::result::ZipError| Refusal::archive(format!("the archive cannot be written: {error}"));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in fitted.to_files()? {
        archive.start_file(name, options).map_err(refuse)?;
        archive.write_all(&bytes).map_err(|error| refuse(error.into()))?;
    }
    Ok(archive.finish().map_err(refuse)?.into_inner())
}
