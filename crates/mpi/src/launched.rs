//! Whether this process is one of several that a launcher of MPI started.

use std::env;

/// The variables by which launchers tell a process how many were started with it: Open MPI, MPICH and Intel MPI, MVAPICH.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"];

/// How many processes were started together, if a launcher of MPI started this one. It calls no MPI library, so that a program
/// that was started by itself needs none at work.
pub(crate) fn launched() -> Option<usize> {
    launched_by(|name| env::var(name).ok())
}

/// [`launched`], in an environment with these variables.
fn launched_by(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let size = |name: &str| variable(name)?.parse().ok();
    // Slurm sets its own in whatever it starts; with the other one MPI is meant.
    let by_slurm = || variable("PMIX_RANK").and_then(|_| size("SLURM_STEP_NUM_TASKS"));
    SIZES.into_iter().find_map(size).or_else(by_slurm)
}

#[cfg(test)]
mod tests {
    use super::launched_by;

    fn launched(environment: &[(&str, &str)]) -> Option<usize> {
        launched_by(|name| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_what_they_set() {
        assert_eq!(launched(&[]), None);
        assert_eq!(launched(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")]), Some(4));
        assert_eq!(launched(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]), Some(2));
        assert_eq!(launched(&[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "8")]), Some(8));
        assert_eq!(
            launched(&[("SLURM_STEP_NUM_TASKS", "8")]),
            None,
            "a program that Slurm started by itself"
        );
        assert_eq!(launched(&[("PMI_SIZE", "many")]), None);
    }
}
