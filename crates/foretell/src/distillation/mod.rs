//! Networks that learn the forecasts of other models (Hinton, Vinyals and Dean 2015, "Distilling the Knowledge in a Neural Network", arXiv
//! 1503.02531).

pub(crate) mod distil;
mod lessons;
mod mixtures;
pub(crate) mod options;
