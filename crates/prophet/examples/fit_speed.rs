//! Seconds that fits of all series of a file take: `cargo run --release -p foretell-prophet --example fit_speed DATA.csv THREADS`.
//! `compare/prophet_fits.py` writes a file of 100 series, and measures the Python package on it.

use std::time::Instant;

use foretell_data::{Panel, ReadOptions, Vocabulary};
use foretell_estimator::{Estimator as _, HeldOut, Run, Verdict, Workers};
use foretell_prophet::{Prophet, ProphetSettings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, threads] = &arguments[..] else { return Err("give a file and a number of threads".into()) };
    let panel = Panel::read_csv(std::fs::File::open(path)?, path, &ReadOptions::default())?;
    let (workers, vocabulary) = (Workers::new(threads.parse()?)?, Vocabulary::new());
    let prophet = Prophet::new(ProphetSettings::default());
    for _ in 0..3 {
        let listen = &mut |_: &_| Verdict::Continue;
        let run = Run::alone(&workers, &vocabulary, listen);
        let start = Instant::now();
        prophet.fit(&panel, HeldOut::default(), run)?;
        println!("{} series fitted in {:.3} s", panel.n_series(), start.elapsed().as_secs_f64());
    }
    Ok(())
}
