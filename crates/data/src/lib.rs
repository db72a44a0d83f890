//! Panels of series: reading, calendars, scalers and window sampling
