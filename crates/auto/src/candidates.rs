//! Which models are tried on a panel, and why: one table.

use foretell::{ModelSpec, Value};

use crate::budget::Budget;
use crate::grid::QUANTILES;
use crate::traits::PanelTraits;

/// A model that was thought of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub model: &'static str,
    /// Whether it is tried.
    pub is_tried: bool,
    /// Why, or why not.
    pub why: String,
}

/// How a model is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It learns in a moment, of each series: anew before each window.
    Local,
    /// It is trained in steps, on all series: once before the windows to choose by, once before the kept one, once on everything.
    Network,
}

impl Kind {
    /// How a model with these hyper-parameters is run.
    pub(crate) fn of(spec: &ModelSpec) -> Self {
        if spec.as_ref().needs().max_steps.is_some() { Self::Network } else { Self::Local }
    }
}

/// Foretell0, trained on with the series of the panel, beside itself as it came.
const TUNED: &str = "Foretell0-tuned";

/// AutoARIMA of logarithms, beside that of the values.
const OF_LOGARITHMS: &str = "AutoARIMA-log";

/// A candidate that is a model once more.
struct Variant {
    name: &'static str,
    model: &'static str,
    /// The hyper-parameter in which it differs, by the steps of a training.
    differs: fn(steps: u64) -> (&'static str, Value),
}

const VARIANTS: &[Variant] = &[
    Variant { name: TUNED, model: "Foretell0", differs: |steps| ("max_steps", steps.into()) },
    Variant { name: OF_LOGARITHMS, model: "AutoARIMA", differs: |_| ("blambda", 0.into()) },
];

fn variant(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| name.eq_ignore_ascii_case(variant.name))
}

/// The model behind the name of a candidate.
pub(crate) fn model_of(name: &str) -> &str {
    variant(name).map_or(name, |variant| variant.model)
}

/// The fewest steps of a network's training that are worth their time: 20 of what is trained on already make the forecast 1 % better.
pub(crate) fn fewest_steps(model: &str) -> u64 {
    if model == model_of(TUNED) { 20 } else { 60 }
}

/// A row of the table.
struct Rule {
    model: &'static str,
    /// Most steps of a series that it is shown, by the main season: earlier steps tell little and take long.
    rows: fn(season: usize) -> usize,
    suits: Suits,
}

/// Why a model is tried on such a panel with such a budget, or why not.
type Suits = fn(&PanelTraits, Budget) -> Result<String, String>;

const fn rule(model: &'static str, rows: fn(usize) -> usize, suits: Suits) -> Rule {
    Rule { model, rows, suits }
}

/// Whether a model forecasts the mean demand of a step where there is none at most of them.
pub(crate) fn is_of_demand(name: &str) -> bool {
    ["CrostonClassic", "CrostonOptimized", "CrostonSBA", "ADIDA", "IMAPA", "TSB"].contains(&name)
}

/// All steps.
fn all(_: usize) -> usize {
    usize::MAX
}

/// As many steps as seasons are smoothed by.
fn twenty_seasons(season: usize) -> usize {
    (20 * season).max(300)
}

/// As many as each season is taken out of.
fn thirty_seasons(season: usize) -> usize {
    (30 * season).max(700)
}

/// As many as Prophet's trend bends over.
fn long_trend(season: usize) -> usize {
    (20 * season).max(2000)
}

/// The longest season that exponential smoothing and Theta have numbers for.
const LONGEST_SMOOTHED: usize = 24;

/// What a search among models may cost without a budget, as steps of all series times the share of a year's twelve months that the
/// season has.
const QUICK_SMOOTHING: f64 = 4_000.0;
const QUICK_ARIMA: f64 = 200_000.0;
const QUICK_PROPHET: f64 = 30_000.0;
/// Of one season; several are taken out in two rounds each.
const QUICK_STL: [f64; 2] = [150_000.0, 40_000.0];

fn always(why: &str) -> Result<String, String> {
    Ok(why.to_owned())
}

/// The season that models of smoothed seasons are told: none where it is too long for them and series have it less than twice.
fn smoothed_season(traits: &PanelTraits) -> usize {
    match traits.season() {
        season if season > LONGEST_SMOOTHED && traits.typical_len < 2 * season => 1,
        season => season,
    }
}

/// Why models of smoothed seasons do, or not.
fn smoothed(traits: &PanelTraits, why: &str) -> Result<String, String> {
    match smoothed_season(traits) {
        season if season > LONGEST_SMOOTHED => {
            Err(format!("a season of {season} is too long for it: its limit is {LONGEST_SMOOTHED}"))
        }
        _ => Ok(why.to_owned()),
    }
}

/// What takes long on large panels is left to a budget.
fn if_quick(
    traits: &PanelTraits,
    budget: Budget,
    rows: fn(usize) -> usize,
    most: f64,
    why: &str,
) -> Result<String, String> {
    let cost =
        traits.steps(rows(traits.season())) * (traits.season().clamp(4, LONGEST_SMOOTHED) as f64 / 12.0);
    match budget == Budget::Quick && cost > most {
        true => Err("slow on a panel of this size: a budget of time tries it".to_owned()),
        false => Ok(why.to_owned()),
    }
}

/// What ARIMA may cost without a budget: each column that it reads takes about as long as two models without.
fn quick_arima(traits: &PanelTraits) -> f64 {
    QUICK_ARIMA / (1 + 2 * traits.futr) as f64
}

/// Why models of intermittent demand do, or not.
fn intermittent(traits: &PanelTraits, why: &str) -> Result<String, String> {
    match traits.intermittent {
        share if share >= 0.05 => Ok(format!("{why}: {:.0} % of the series have many zeros", 100.0 * share)),
        _ => Err("few series have many zeros".to_owned()),
    }
}

/// Why networks do, or not: what is trained on needs fewer windows than what begins anew.
fn network(traits: &PanelTraits, budget: Budget, fewest: f64, why: &str) -> Result<String, String> {
    let windows = traits.series as f64 * traits.typical_len.saturating_sub(2 * traits.h) as f64;
    match () {
        () if !budget.trains() => Err("it is trained in steps: a budget of time tries it".to_owned()),
        () if windows < fewest => Err("too few windows to learn from".to_owned()),
        () => Ok(why.to_owned()),
    }
}

/// The table, in the order in which models are tried: first what costs little.
const RULES: [Rule; 17] = [
    rule("SeasonalNaive", all, |_, _| always("what every other is measured by")),
    rule("FLAIR", all, |_, _| always("shape times level, closed form")),
    rule("Foretell0", all, |_, _| always("a network that other series trained")),
    rule("HistoricAverage", |season| (10 * season).max(100), |_, _| always("where values only scatter")),
    rule("RandomWalkWithDrift", all, |traits, _| match traits.season() {
        1 => always("a trend and nothing else"),
        _ => Err("there is a season".to_owned()),
    }),
    rule("DynamicOptimizedTheta", twenty_seasons, |traits, _| {
        smoothed(traits, "trend halved, season taken out")
    }),
    rule("CrostonSBA", all, |traits, _| {
        let why = "sizes and gaps of demand";
        let of_few = |not| match traits.rare {
            0 => Err(not),
            1 => Ok(format!("{why}: a series is 0 at most steps")),
            rare => Ok(format!("{why}: {rare} series are 0 at most steps")),
        };
        intermittent(traits, why).or_else(of_few)
    }),
    rule("IMAPA", all, |traits, _| intermittent(traits, "demand at several frequencies")),
    rule("ADIDA", all, |traits, _| intermittent(traits, "demand of longer periods")),
    rule("AutoARIMA", twenty_seasons, |traits, budget| {
        let why = match traits.season() {
            season if season > LONGEST_SMOOTHED => {
                format!("without the season of {season}, which is long for it")
            }
            _ => "the best of the classical ones alone".to_owned(),
        };
        if_quick(traits, budget, twenty_seasons, quick_arima(traits), &why)
    }),
    rule(OF_LOGARITHMS, twenty_seasons, |traits, budget| match traits.multiplied {
        share if share >= 0.5 => {
            let why = "the same of logarithms: what grows by a share";
            // Beside the one of values it takes as long once more.
            if_quick(traits, budget, twenty_seasons, quick_arima(traits) / 2.0, why)
        }
        _ => Err(
            "fewer than half of the series have grown by half or shrunk by a third, all values above zero"
                .to_owned(),
        ),
    }),
    rule("MSTL", thirty_seasons, |traits, budget| {
        let most = QUICK_STL[usize::from(traits.seasons.len() > 1)];
        match traits.seasons.iter().any(|season| *season > 1 && 2 * season <= traits.typical_len) {
            true => if_quick(traits, budget, thirty_seasons, most, "every season, each taken out by itself"),
            false if traits.season() == 1 => Err("there is no season".to_owned()),
            false => Err("series have fewer than two seasons".to_owned()),
        }
    }),
    rule("AutoETS", twenty_seasons, |traits, budget| {
        let why = smoothed(traits, "level, trend and season, smoothed")?;
        if_quick(traits, budget, twenty_seasons, QUICK_SMOOTHING, &why)
    }),
    rule("Prophet", long_trend, |traits, budget| match traits.futr {
        0 => Err("no column is known ahead".to_owned()),
        _ => if_quick(traits, budget, long_trend, QUICK_PROPHET, "it reads the columns known ahead"),
    }),
    rule(TUNED, all, |traits, budget| {
        network(traits, budget, 60.0, "that network, trained on with these series")
    }),
    rule("NHITS", all, |traits, budget| network(traits, budget, 300.0, "one network for all series")),
    rule("TiDE", all, |traits, budget| match traits.futr {
        0 => Err("no column is known ahead".to_owned()),
        _ => network(traits, budget, 300.0, "it reads the columns known ahead"),
    }),
];

/// The models that were thought of for such a panel, and which of them are tried; a model that this program has not is no candidate.
///
/// ```
/// use foretell::{Freq, Panel};
/// use foretell_auto::{Budget, PanelTraits, candidates};
///
/// let panel = Panel::from_series(Freq::parse("MS")?, [("a", 0, vec![1.0; 48])])?;
/// let found = candidates(&PanelTraits::of(&panel, 12, &[], 0), Budget::Quick);
/// let tried: Vec<&str> = found.iter().filter(|model| model.is_tried).map(|model| model.model).collect();
/// assert!(tried.contains(&"AutoARIMA") && !tried.contains(&"NHITS"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn candidates(traits: &PanelTraits, budget: Budget) -> Vec<Candidate> {
    let known = RULES.iter().filter(|rule| ModelSpec::new(model_of(rule.model), 1, 1).is_ok());
    let candidate = |rule: &Rule| {
        let found = (rule.suits)(traits, budget);
        let is_tried = found.is_ok();
        let why = found.unwrap_or_else(|why| why);
        Candidate { model: rule.model, is_tried, why }
    };
    known.map(candidate).collect()
}

/// The models that are tried on such a panel, with hyper-parameters that suit it, for a search that fits each to all steps of the series; and
/// those that this would take too long for, with the reason. Networks have 500 steps of training.
///
/// ```
/// use foretell::{Freq, Panel};
/// use foretell_auto::{Budget, PanelTraits, suiting};
///
/// let panel = Panel::from_series(Freq::parse("MS")?, [("a", 0, vec![1.0; 48])])?;
/// let (models, left_out) = suiting(&PanelTraits::of(&panel, 12, &[], 0), Budget::Quick);
/// assert!(models.iter().any(|model| model.name() == "AutoETS") && left_out.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn suiting(traits: &PanelTraits, budget: Budget) -> (Vec<ModelSpec>, Vec<(&'static str, String)>) {
    /// This multiple of the steps that a forecast shows a model is too much for it.
    const TOO_MANY: usize = 4;
    const STEPS: u64 = 500;
    let (mut models, mut left_out) = (Vec::new(), Vec::new());
    // One model is searched once, by its own name.
    let is_searched = |found: &Candidate| found.is_tried && found.model == model_of(found.model);
    for Candidate { model, .. } in candidates(traits, budget).into_iter().filter(is_searched) {
        let shown = RULES
            .iter()
            .find(|rule| rule.model == model)
            .map_or(usize::MAX, |rule| (rule.rows)(traits.season()));
        match spec_of(model, traits, STEPS, &[]) {
            Ok(_) if traits.typical_len > shown.saturating_mul(TOO_MANY) => {
                left_out.push((model, format!("slow on series of {} steps", traits.typical_len)));
            }
            Ok((spec, _)) => models.push(spec),
            Err(reason) => left_out.push((model, reason)),
        }
    }
    (models, left_out)
}

/// A model of this name for such a panel, and the most steps of a series that it is shown. A network's `steps` are those of its
/// training. It reads those of these columns, by the names of hyper-parameters, that it can.
pub(crate) fn spec_of(
    name: &str,
    traits: &PanelTraits,
    steps: u64,
    columns: &[(&'static str, Vec<String>)],
) -> Result<(ModelSpec, usize), String> {
    let rule = RULES.iter().find(|rule| rule.model.eq_ignore_ascii_case(name));
    let input = (2 * traits.h).max(2 * traits.season().min(200)).clamp(4, (traits.typical_len / 2).max(4));
    let mut spec = ModelSpec::new(model_of(name), traits.h, input).map_err(|error| error.to_string())?;
    if spec.is_multivariate() {
        return Err("it forecasts all series together".to_owned());
    }
    let has = |spec: &ModelSpec, name: &str| spec.hyper_parameters().contains_key(name);
    let variant = variant(name);
    if let Some(Variant { name, differs, .. }) = variant {
        let (hyper_parameter, value) = differs(steps);
        let set = spec.set("alias", *name).and_then(|spec| spec.set(hyper_parameter, value));
        spec = set.map_err(|error| error.to_string())?;
    }
    if variant.is_none() && Kind::of(&spec) == Kind::Network {
        let quantiles = Value::from(QUANTILES.to_vec());
        let mut loss = foretell::Map::new();
        loss.insert("MQLoss".to_owned(), foretell::json!({ "quantiles": quantiles }));
        let settings = [
            ("max_steps", Value::from(steps)),
            ("scaler_type", Value::from("robust")),
            ("loss", Value::Object(loss)),
            ("start_padding_enabled", Value::from(true)),
            // Smaller than by default: steps are worth more than width where time is short.
            ("windows_batch_size", Value::from(256)),
            ("mlp_units", foretell::json!([[128, 128], [128, 128], [128, 128]])),
        ];
        for (name, value) in settings {
            // What a network does not take it does without.
            if has(&spec, name) {
                spec = spec.clone().set(name, value).unwrap_or(spec);
            }
        }
    } else if has(&spec, "season_length") {
        let season = match rule.map(|rule| rule.model) {
            Some("AutoARIMA" | OF_LOGARITHMS) if traits.season() > LONGEST_SMOOTHED => 1,
            Some("AutoETS" | "DynamicOptimizedTheta") => smoothed_season(traits),
            _ => traits.season(),
        };
        // A model of several seasons gets them all.
        let all = spec.clone().set("season_length", traits.seasons.clone());
        spec = match all {
            Ok(spec) => spec,
            Err(_) => spec.set("season_length", season).map_err(|error| error.to_string())?,
        };
    }
    for (name, names) in columns.iter().filter(|(_, names)| !names.is_empty()) {
        if has(&spec, name) {
            spec = spec.clone().set(name, names.clone()).unwrap_or(spec);
        }
    }
    spec.check().map_err(|error| error.to_string())?;
    let rows = rule.map_or(usize::MAX, |rule| (rule.rows)(traits.season()));
    Ok((spec, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(series: usize, len: usize, seasons: &[usize]) -> PanelTraits {
        PanelTraits {
            series,
            typical_len: len,
            longest: len,
            seasons: seasons.to_vec(),
            intermittent: 0.0,
            rare: 0,
            short: 0.0,
            multiplied: 0.0,
            h: 12,
            futr: 0,
        }
    }

    fn tried(traits: &PanelTraits, budget: Budget) -> Vec<&'static str> {
        candidates(traits, budget)
            .into_iter()
            .filter(|model| model.is_tried)
            .map(|model| model.model)
            .collect()
    }

    #[test]
    fn the_panel_and_the_budget_decide_what_is_tried() {
        let month = tried(&traits(10, 100, &[12]), Budget::Quick);
        assert!(!tried(&traits(9000, 300, &[12]), Budget::Quick).contains(&"AutoARIMA"));
        for model in ["SeasonalNaive", "AutoARIMA", "AutoETS", "MSTL", "DynamicOptimizedTheta"] {
            assert!(month.contains(&model), "{model}");
        }
        for model in ["NHITS", "CrostonSBA", "Prophet"] {
            assert!(!month.contains(&model), "{model}");
        }
        assert!(!tried(&traits(2000, 100, &[12]), Budget::Quick).contains(&"AutoETS"), "it takes long");
        assert!(tried(&traits(2000, 100, &[12]), Budget::Steps(100)).contains(&"AutoETS"));
        let weeks = tried(&traits(10, 200, &[52]), Budget::Quick);
        assert!(!weeks.contains(&"AutoETS") && weeks.contains(&"MSTL"));
        let year = traits(10, 90, &[52]);
        assert!(tried(&year, Budget::Quick).contains(&"AutoETS"), "without the season");
        let told = spec_of("AutoETS", &year, 1, &[]).unwrap().0.hyper_parameters()["season_length"].clone();
        assert_eq!(told, Value::from(1));
        let demand = PanelTraits { intermittent: 0.6, ..traits(50, 100, &[7]) };
        assert!(tried(&demand, Budget::Quick).contains(&"CrostonSBA"));
        let few = tried(&PanelTraits { intermittent: 0.02, rare: 1, ..traits(50, 100, &[7]) }, Budget::Quick);
        assert!(few.contains(&"CrostonSBA") && !few.contains(&"ADIDA"), "one model knows the mean: {few:?}");
        assert!(!month.contains(&OF_LOGARITHMS));
        let growing = tried(&PanelTraits { multiplied: 0.5, ..traits(10, 100, &[12]) }, Budget::Quick);
        assert!(growing.contains(&OF_LOGARITHMS));
        let priced = PanelTraits { futr: 1, ..traits(50, 100, &[7]) };
        assert!(tried(&priced, Budget::Steps(100)).contains(&"TiDE"));
        assert!(tried(&priced, Budget::Quick).contains(&"Prophet"));
        let large = |futr: usize| PanelTraits { futr, ..traits(2000, 100, &[7]) };
        assert!(!tried(&large(1), Budget::Quick).contains(&"Prophet"), "it takes long");
        assert!(tried(&large(1), Budget::Steps(100)).contains(&"Prophet"));
        let arima = |futr: usize| tried(&large(futr), Budget::Quick).contains(&"AutoARIMA");
        assert!(arima(0) && !arima(1), "with columns it takes longer");
        assert!(tried(&traits(50, 100, &[7]), Budget::Steps(100)).contains(&"NHITS"));
        let one = tried(&traits(1, 100, &[7]), Budget::Steps(100));
        assert!(one.contains(&TUNED) && !one.contains(&"NHITS"), "one series of 100 steps: {one:?}");
        assert!(!tried(&traits(1, 80, &[7]), Budget::Steps(100)).contains(&TUNED), "few windows");
    }

    #[test]
    fn every_rule_makes_a_model_that_can_be_fitted() {
        let traits = traits(10, 1000, &[24, 168]);
        for rule in RULES.iter().filter(|rule| ModelSpec::new(model_of(rule.model), 1, 1).is_ok()) {
            let (spec, _) = spec_of(rule.model, &traits, 70, &[]).expect(rule.model);
            let kind = Kind::of(&spec);
            assert_eq!(spec.alias(), rule.model);
            assert_eq!(kind == Kind::Network, [TUNED, "NHITS", "TiDE"].contains(&rule.model));
            if kind == Kind::Network {
                assert_eq!(spec.hyper_parameters()["max_steps"], 70);
            }
            if kind == Kind::Network && rule.model != TUNED {
                assert_eq!(spec.hyper_parameters()["scaler_type"], "robust", "{}", rule.model);
            }
        }
        let (logarithms, ..) = spec_of(OF_LOGARITHMS, &traits, 0, &[]).unwrap();
        let power = &logarithms.hyper_parameters()["blambda"];
        assert_eq!((logarithms.name(), power), ("AutoARIMA", &foretell::json!(0.0)));
        let (mstl, _) = spec_of("mstl", &traits, 0, &[]).unwrap();
        assert_eq!(mstl.hyper_parameters()["season_length"], foretell::json!([24, 168]));
        let (tide, _) =
            spec_of("TiDE", &traits, 70, &[("futr_exog_list", vec!["price".to_owned()])]).unwrap();
        assert_eq!(tide.hyper_parameters()["futr_exog_list"], foretell::json!(["price"]));
        assert!(spec_of("iTransformer", &traits, 70, &[]).unwrap_err().contains("together"));
    }
}
