//! Model directories in neuralforecast's format, read and written
