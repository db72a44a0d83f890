//! Reads a model directory, says what is in it, and writes it again.
//!
//! `cargo run -p foretell-checkpoint --example rewrite -- FROM TO`

use foretell_checkpoint::Checkpoint;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rewrite FROM TO".into());
    };
    let checkpoint = Checkpoint::load(from)?;
    for model in &checkpoint.models {
        let loss = model.loss()?;
        println!("{} ({}): {} tensors, {}", model.alias, model.class, model.weights().len(), loss.class);
    }
    if let Some(dataset) = &checkpoint.dataset {
        println!("{} series, {} rows of {:?}", dataset.series(), dataset.rows(), dataset.columns);
    }
    checkpoint.save(to, true)?;
    Ok(())
}
