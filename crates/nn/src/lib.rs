//! Parameters, initialisers, layers, losses, and the trait that a model implements
