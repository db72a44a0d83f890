//! Classical models as callers use them. One program of tests, since each compiles all of their estimators anew.

mod arimax;
mod box_cox;
mod ces_mfles;
mod described;
mod intermittent;
mod m4;
mod series;
mod statsforecast;
mod units;
