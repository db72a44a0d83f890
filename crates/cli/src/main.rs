//! The foretell command line.
fn main() {}
