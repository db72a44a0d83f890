//! What `foretell --version` says beside the version: of which commit the program is, for which system, and with which features.

use std::sync::LazyLock;

/// The features of this program that are on.
fn features() -> String {
    macro_rules! on {
        ($($name:literal)*) => { [$(($name, cfg!(feature = $name))),*] };
    }
    let all = on! {
        "amp" "excel" "faer" "flash" "mpi" "parallel" "parquet" "pool" "serve" "simd" "timellm" "tzdb"
    };
    let names: Vec<&str> = all.into_iter().filter_map(|(name, on)| on.then_some(name)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The version with the rest. `cargo xtask release` names the commit to the compiler.
pub(crate) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(text);
    &TEXT
}

fn text() -> String {
    let commit = option_env!("FORETELL_COMMIT").unwrap_or("unknown, of a build outside of releases");
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let library = match cfg!(target_env = "musl") {
        true => ", static",
        false => "",
    };
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}\ncommit: {commit}\nsystem: {system} {processor}{library}\nfeatures: {}", features())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_names_every_feature_that_is_on() {
        let manifest = include_str!("../Cargo.toml").split_once("[features]").unwrap().1;
        let manifest = manifest.split_once("[dependencies]").unwrap().0;
        let own = manifest.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
        let own: Vec<&str> = own.filter(|name| !name.starts_with('#') && *name != "default").collect();
        assert!(own.len() > 10, "{own:?}");
        let text = long();
        let told: Vec<&str> = text.rsplit_once("features: ").unwrap().1.split(", ").collect();
        assert!(told.iter().all(|name| own.contains(name) || *name == "none"), "{told:?} of {own:?}");
        // Tests of the workspace have what is on by default.
        let default: Vec<&str> =
            own.iter().copied().filter(|name| !["mpi", "timellm"].contains(name)).collect();
        if cfg!(feature = "serve") && cfg!(feature = "simd") {
            assert!(default.iter().all(|name| told.contains(name)), "{told:?} lacks one of {default:?}");
        }
    }
}
