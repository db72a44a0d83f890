//! Writes two model directories from nothing, one with days and one with integer times.
//!
//! `cargo run -p foretell-checkpoint --example author -- FOLDER`

#[path = "../tests/support/mod.rs"]
mod support;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: author FOLDER")?;
    let folder = std::path::Path::new(&folder);
    support::checkpoint(false).save(folder.join("days"), true)?;
    support::checkpoint(true).save(folder.join("integers"), true)?;
    Ok(())
}
