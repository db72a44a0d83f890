//! The facade as programs use it. One program for all these tests, since each program is linked anew; those beside it
//! count what their whole process takes.

mod accumulation;
mod accuracy;
mod alone;
mod anomalies;
mod blocks;
mod categories;
mod checkpoints;
mod conformance;
mod cut_short;
mod distillation;
mod doubts;
mod ensembles;
mod estimators;
mod etth1;
mod explanations;
mod features;
mod flair;
mod further_training;
mod growing_series;
mod hierarchies;
mod horizons;
mod importances;
mod intervals;
mod joined;
mod language_model;
mod large_values;
mod losses;
mod m4;
mod multivariate;
mod own_model;
#[cfg(feature = "pickle")]
mod pickles;
#[cfg(feature = "amp")]
mod precision;
mod pretrained;
mod prophet;
mod pruning;
mod refits;
mod reproducible;
mod resume;
mod sample_paths;
mod sampling;
mod scalers;
mod scores;
mod several_processes;
mod side_by_side;
mod specs;
mod stages;
mod stored_panels;
mod training;
mod uncertainty;
mod validation_data;
mod values;
mod warm_up;
