//! Optimiser, schedule and clipping, by the names of PyTorch's classes and their arguments.

use foretell_checkpoint::{lr_scheduler_class, optimizer_class, torch_class_name};
use foretell_data::nearest;
use foretell_optim::{
    AdamConfig, Clip, Cosine, CosineWarmup, OneCycle, Plateau, PlateauConfig, RmsPropConfig, Rule, Schedule,
    SgdConfig, StepDecay,
};
use serde_json::{Map, Value, json};

use crate::common::Common;

/// The hyper-parameters that are read together.
pub(crate) const HYPER_PARAMETERS: [&str; 4] =
    ["optimizer", "optimizer_kwargs", "lr_scheduler", "lr_scheduler_kwargs"];

const OPTIMIZERS: [&str; 5] = ["Adam", "AdamW", "SGD", "RMSprop", "RAdam"];

const SCHEDULERS: [&str; 5] =
    ["StepLR", "CosineAnnealingLR", "OneCycleLR", "ReduceLROnPlateau", "CosineWarmup"];

/// The one schedule that PyTorch has no class for.
const OURS: &str = "CosineWarmup";

/// How gradients change parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OptimizerSettings {
    pub(crate) rule: Rule,
    pub(crate) schedule: Schedule,
    pub(crate) clip: Option<Clip>,
}

/// A hyper-parameter that cannot be.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

/// Checks the name of an optimiser or a schedule, if that is what this hyper-parameter is.
pub(crate) fn check_class(name: &str, value: &Value) -> Result<(), Fault> {
    let (known, place) = match name {
        "optimizer" => (OPTIMIZERS, "torch.optim"),
        "lr_scheduler" => (SCHEDULERS, "torch.optim.lr_scheduler"),
        _ => return Ok(()),
    };
    let Some(class) = value.as_str().filter(|class| !known.contains(class)) else { return Ok(()) };
    let hint = nearest(class, known).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    let expected = format!("null or a class of {place} that foretell has: {}", known.join(", "));
    Err(Fault { name: name.to_owned(), expected, found: format!("{class}{hint}") })
}

impl OptimizerSettings {
    /// Reads what the hyper-parameters say together.
    pub(crate) fn read(common: &Common) -> Result<Self, Fault> {
        let mut rule = Arguments::new("optimizer", &common.optimizer, &common.optimizer_kwargs)?.rule()?;
        let arguments = Arguments::new("lr_scheduler", &common.lr_scheduler, &common.lr_scheduler_kwargs)?;
        let schedule = arguments.schedule(common)?;
        if let Some(first) = schedule.at(0).momentum {
            rule = rule.with_momentum(first);
        }
        let by_value = common.gradient_clip_algorithm.as_deref() == Some("value");
        let most = common.gradient_clip_val.filter(|most| *most > 0.0);
        let clip = most.map(|most| if by_value { Clip::Value(most) } else { Clip::Norm(most) });
        Ok(Self { rule, schedule, clip })
    }
}

/// The arguments of a class; each is taken out as it is read, so that those remain which the class does not
/// have. Absent and null ones take the default.
struct Arguments {
    /// The hyper-parameter that names the class.
    kind: &'static str,
    class: Option<String>,
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Arguments {
    fn new(
        kind: &'static str,
        class: &Option<String>,
        kwargs: &Option<Map<String, Value>>,
    ) -> Result<Self, Fault> {
        let arguments =
            Self { kind, class: class.clone(), left: kwargs.clone().unwrap_or_default(), known: Vec::new() };
        if class.is_none() && !arguments.left.is_empty() {
            let found = Value::from(arguments.left).to_string();
            let (name, expected) = (format!("{kind}_kwargs"), format!("null where {kind} is null"));
            return Err(Fault { name, expected, found });
        }
        Ok(arguments)
    }

    fn rule(mut self) -> Result<Rule, Fault> {
        let class = self.class.clone().unwrap_or_else(|| "Adam".to_owned());
        let decay = if class == "AdamW" { 0.01 } else { 0.0 };
        let weight_decay = self.number("weight_decay", decay, AT_LEAST_0)?;
        let rule = match class.as_str() {
            "SGD" => {
                let momentum = self.number("momentum", 0.0, AT_LEAST_0)?;
                let dampening = self.number("dampening", 0.0, ANY)?;
                let nesterov = self.flag("nesterov", false)?;
                if nesterov && (momentum == 0.0 || dampening != 0.0) {
                    let expected = "false without a momentum, or with a dampening";
                    return Err(self.bad("nesterov", expected, "true"));
                }
                Rule::Sgd(SgdConfig { momentum, dampening, nesterov, weight_decay })
            }
            "RMSprop" => Rule::RmsProp(RmsPropConfig {
                alpha: self.number("alpha", 0.99, SHARE)?,
                eps: self.number("eps", 1e-8, AT_LEAST_0)?,
                momentum: self.number("momentum", 0.0, AT_LEAST_0)?,
                weight_decay,
            }),
            adam => {
                let [beta1, beta2] = self.betas()?;
                let eps = self.number("eps", 1e-8, AT_LEAST_0)?;
                let config = AdamConfig { beta1, beta2, eps, weight_decay };
                match adam {
                    "AdamW" => Rule::AdamW(config),
                    "RAdam" => Rule::RAdam(config),
                    _ => Rule::Adam(config),
                }
            }
        };
        // What PyTorch can do beside: how it computes does not matter here, the rest must be off.
        for name in ["foreach", "fused", "capturable", "differentiable"] {
            self.left.remove(name);
        }
        for name in ["amsgrad", "maximize", "centered", "decoupled_weight_decay"] {
            if self.left.get(name).is_some_and(|value| *value == false) {
                self.left.remove(name);
            }
        }
        if let Some(lr) = self.left.get("lr") {
            return Err(self.bad("lr", "left to the hyper-parameter learning_rate", &lr.to_string()));
        }
        self.finish()?;
        Ok(rule)
    }

    fn schedule(mut self, common: &Common) -> Result<Schedule, Fault> {
        let (rate, steps) = (common.learning_rate, common.max_steps);
        let Some(class) = self.class.clone() else {
            return Ok(Schedule::StepDecay(StepDecay::halvings(rate, common.num_lr_decays, steps)));
        };
        let schedule = match class.as_str() {
            "StepLR" => Schedule::StepDecay(StepDecay {
                initial: rate,
                every: self
                    .count("step_size", None)?
                    .filter(|every| *every > 0)
                    .ok_or_else(|| self.bad("step_size", "given, and at least 1", "none"))?,
                factor: self.number("gamma", 0.1, AT_LEAST_0)?,
            }),
            "CosineAnnealingLR" => Schedule::Cosine(Cosine {
                initial: rate,
                floor: self.number("eta_min", 0.0, AT_LEAST_0)?,
                steps: self.count("T_max", Some(steps))?.unwrap_or(1).max(1),
            }),
            OURS => {
                let floor = self.number("eta_min", 0.0, AT_LEAST_0)?;
                let steps = self.count("total_steps", Some(steps))?.unwrap_or(1);
                let warmup = self.count("warmup_steps", Some(steps / 10))?.unwrap_or(0);
                if warmup >= steps {
                    let expected = format!("fewer than all steps, of which there are {steps}");
                    return Err(self.bad("warmup_steps", &expected, &warmup.to_string()));
                }
                Schedule::CosineWarmup(CosineWarmup { peak: rate, floor, warmup, steps })
            }
            "OneCycleLR" => Schedule::OneCycle(self.one_cycle(rate, steps)?),
            _ => Schedule::Plateau(Plateau::new(rate, self.plateau()?)),
        };
        if self.left.get("last_epoch").is_some_and(|epoch| *epoch == -1) {
            self.left.remove("last_epoch");
        }
        self.finish()?;
        Ok(schedule)
    }

    fn one_cycle(&mut self, rate: f64, max_steps: u64) -> Result<OneCycle, Fault> {
        let peak = self.number("max_lr", rate, ABOVE_0)?;
        let initial = peak / self.number("div_factor", 25.0, ABOVE_0)?;
        let product = match (self.count("epochs", None)?, self.count("steps_per_epoch", None)?) {
            (Some(epochs), Some(each)) => epochs.saturating_mul(each),
            _ => max_steps,
        };
        let steps = self.count("total_steps", Some(product))?.unwrap_or(product);
        if steps < max_steps {
            let expected = format!("at least max_steps = {max_steps}");
            return Err(self.bad("total_steps", &expected, &steps.to_string()));
        }
        let momenta =
            [self.number("base_momentum", 0.85, BELOW_1)?, self.number("max_momentum", 0.95, BELOW_1)?];
        Ok(OneCycle {
            initial,
            peak,
            floor: initial / self.number("final_div_factor", 1e4, ABOVE_0)?,
            steps,
            rise: self.number("pct_start", 0.3, SHARE)?,
            three_phase: self.flag("three_phase", false)?,
            linear: self.word("anneal_strategy", ["cos", "linear"])? == 1,
            momentum: self.flag("cycle_momentum", true)?.then_some(momenta),
        })
    }

    fn plateau(&mut self) -> Result<PlateauConfig, Fault> {
        self.word("mode", ["min"])?;
        Ok(PlateauConfig {
            factor: self.number("factor", 0.1, BELOW_1)?,
            patience: self.count("patience", Some(10))?.unwrap_or(10),
            threshold: self.number("threshold", 1e-4, AT_LEAST_0)?,
            relative: self.word("threshold_mode", ["rel", "abs"])? == 0,
            cooldown: self.count("cooldown", Some(0))?.unwrap_or(0),
            floor: self.number("min_lr", 0.0, AT_LEAST_0)?,
            eps: self.number("eps", 1e-8, AT_LEAST_0)?,
        })
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.remove(name).filter(|value| !value.is_null())
    }

    fn number(&mut self, name: &'static str, default: f64, range: Range) -> Result<f64, Fault> {
        let Some(value) = self.take(name) else { return Ok(default) };
        let number = value.as_f64().filter(|&number| (range.holds)(number));
        number.ok_or_else(|| self.bad(name, range.name, &value.to_string()))
    }

    fn count(&mut self, name: &'static str, default: Option<u64>) -> Result<Option<u64>, Fault> {
        let Some(value) = self.take(name) else { return Ok(default) };
        let count = value.as_u64().filter(|&count| count <= u64::from(u32::MAX));
        count.map(Some).ok_or_else(|| self.bad(name, "a whole number from 0", &value.to_string()))
    }

    fn flag(&mut self, name: &'static str, default: bool) -> Result<bool, Fault> {
        let Some(value) = self.take(name) else { return Ok(default) };
        value.as_bool().ok_or_else(|| self.bad(name, "true or false", &value.to_string()))
    }

    /// Which of these words it is; the first is the default.
    fn word<const N: usize>(&mut self, name: &'static str, words: [&str; N]) -> Result<usize, Fault> {
        let Some(value) = self.take(name) else { return Ok(0) };
        let place = words.iter().position(|word| value == *word);
        place.ok_or_else(|| self.bad(name, &words.join(" or "), &value.to_string()))
    }

    fn betas(&mut self) -> Result<[f64; 2], Fault> {
        let Some(value) = self.take("betas") else { return Ok([0.9, 0.999]) };
        let betas = serde_json::from_value::<[f64; 2]>(value.clone()).ok();
        let betas = betas.filter(|betas| betas.iter().all(|&beta| (BELOW_1.holds)(beta)));
        betas.ok_or_else(|| self.bad("betas", "a list of two numbers from 0 to below 1", &value.to_string()))
    }

    fn bad(&self, argument: &str, expected: &str, found: &str) -> Fault {
        let name = format!("{}_kwargs.{argument}", self.kind);
        Fault { name, expected: expected.to_owned(), found: found.to_owned() }
    }

    /// Nothing may be left.
    fn finish(&self) -> Result<(), Fault> {
        let Some((name, value)) = self.left.iter().next() else { return Ok(()) };
        let hint = match nearest(name, self.known.iter().copied()) {
            Some(known) if known != *name => format!("; did you mean {known}?"),
            _ => String::new(),
        };
        let class = self.class.as_deref().unwrap_or_default();
        let expected = format!("made of what foretell has of {class}'s arguments: {}", self.known.join(", "));
        let found = format!("{name} = {value}{hint}");
        Err(Fault { name: format!("{}_kwargs", self.kind), expected, found })
    }
}

/// The numbers that an argument may be.
struct Range {
    name: &'static str,
    holds: fn(f64) -> bool,
}

const ANY: Range = Range { name: "a number", holds: f64::is_finite };
const AT_LEAST_0: Range =
    Range { name: "a number from 0", holds: |number| number >= 0.0 && number.is_finite() };
const ABOVE_0: Range = Range { name: "a number above 0", holds: |number| number > 0.0 && number.is_finite() };
const SHARE: Range = Range { name: "a number from 0 to 1", holds: |number| (0.0..=1.0).contains(&number) };
const BELOW_1: Range =
    Range { name: "a number from 0 to below 1", holds: |number| (0.0..1.0).contains(&number) };

/// Writes what the hyper-parameters say as neuralforecast's files do: classes as such, with the arguments that
/// their constructors demand. It leaves arguments alone that have no class, so that is where ours goes.
pub(crate) fn to_file(map: &mut Map<String, Value>) {
    if let Some(class) = map["optimizer"].as_str().map(optimizer_class) {
        map["optimizer"] = class;
    }
    let Some(class) = map["lr_scheduler"].as_str().map(str::to_owned) else { return };
    let demanded = match class.as_str() {
        "CosineAnnealingLR" => json!({ "T_max": map["max_steps"] }),
        "OneCycleLR" => json!({ "max_lr": map["learning_rate"], "total_steps": map["max_steps"] }),
        OURS => json!({ CLASS: OURS }),
        _ => json!({}),
    };
    let mut kwargs = demanded.as_object().cloned().unwrap_or_default();
    kwargs.extend(map["lr_scheduler_kwargs"].as_object().cloned().unwrap_or_default());
    if kwargs.contains_key("epochs") {
        kwargs.remove("total_steps");
    }
    map["lr_scheduler"] = if class == OURS { Value::Null } else { lr_scheduler_class(&class) };
    map["lr_scheduler_kwargs"] = kwargs.into();
}

/// Where the name of a class stands that PyTorch does not have.
const CLASS: &str = "foretell_class";

/// Reads what [`to_file`] or neuralforecast wrote.
pub(crate) fn from_file(map: &mut Map<String, Value>) {
    for name in ["optimizer", "lr_scheduler"] {
        if let Some(class) = map.get(name).and_then(torch_class_name).map(Value::from) {
            map.insert(name.to_owned(), class);
        }
    }
    let kwargs = map.get_mut("lr_scheduler_kwargs").and_then(Value::as_object_mut);
    if let Some(class) = kwargs.and_then(|kwargs| kwargs.shift_remove(CLASS)) {
        map.insert("lr_scheduler".to_owned(), class);
    }
}

#[cfg(test)]
#[path = "optimizer_settings_tests.rs"]
mod tests;
