//! A network of our own, trained on synthetic series alone.

pub mod forecast;
pub mod network;
pub mod periods;
pub mod scale;
pub mod weights;
pub mod window;
