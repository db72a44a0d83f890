//! Optimiser, schedule and clipping, by the names of PyTorch's classes and their arguments.

use foretell_checkpoint::{lr_scheduler_class, optimizer_class, torch_class_name};
use foretell_messages::nearest;
use foretell_nn::{Arguments, HyperParameterError, NumberRange};
use foretell_optim::{
    AdadeltaConfig, AdagradConfig, AdamConfig, BadConstant, Clip, Cosine, CosineWarmup, Milestones,
    NAdamConfig, OneCycle, Plateau, PlateauConfig, Polynomial, Ramp, RmsPropConfig, Rule, Schedule,
    SgdConfig, StepDecay, WarmRestarts,
};
use serde_json::{Map, Value, json};

use crate::common_hyper_parameters::Common;

const ANY: NumberRange = NumberRange::ANY;
const AT_LEAST_0: NumberRange = NumberRange::AT_LEAST_0;
const POSITIVE: NumberRange = NumberRange::POSITIVE;
const FROM_0_TO_1: NumberRange = NumberRange::FROM_0_TO_1;
const FROM_0_BELOW_1: NumberRange = NumberRange::FROM_0_BELOW_1;

/// The hyper-parameters that are read together.
pub(crate) const HYPER_PARAMETERS: [&str; 4] =
    ["optimizer", "optimizer_kwargs", "lr_scheduler", "lr_scheduler_kwargs"];

/// All that [`OptimizerSettings::read`] reads.
pub(crate) const READ_TOGETHER: [&str; 9] = [
    "optimizer", "optimizer_kwargs", "lr_scheduler", "lr_scheduler_kwargs", "learning_rate", "max_steps",
    "num_lr_decays", "gradient_clip_val", "gradient_clip_algorithm",
];

/// The one schedule that PyTorch has no class for.
const OURS: &str = "CosineWarmup";

/// How gradients change parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OptimizerSettings {
    pub(crate) rule: Rule,
    pub(crate) schedule: Schedule,
    pub(crate) clip: Option<Clip>,
}

impl OptimizerSettings {
    /// Reads the hyper-parameters together.
    pub(crate) fn read(common: &Common) -> Result<Self, HyperParameterError> {
        let mut rule = Class::new("optimizer", &common.optimizer, &common.optimizer_kwargs)?.read(rule)?;
        let schedule = Class::new("lr_scheduler", &common.lr_scheduler, &common.lr_scheduler_kwargs)?
            .read(|arguments, class| schedule(arguments, class, common))?;
        // Arguments that are right each by itself can be too large together.
        schedule.check().map_err(|BadConstant { name, expected, found, .. }| {
            let expected = format!("such that its {name} is {expected}");
            HyperParameterError::new("lr_scheduler_kwargs", expected, found)
        })?;
        if let Some(first) = schedule.at(0).momentum {
            if matches!(rule, Rule::NAdam(_) | Rule::Adagrad(_) | Rule::Adadelta(_)) {
                let expected = "false with NAdam, Adagrad and Adadelta, which have no momentum that a cycle could change";
                return Err(HyperParameterError::new("lr_scheduler_kwargs.cycle_momentum", expected, true));
            }
            rule = rule.with_momentum(first);
        }
        let by_value = common.gradient_clip_algorithm.as_deref() == Some("value");
        let most = common.gradient_clip_val.filter(|most| *most > 0.0);
        let clip = most.map(|most| if by_value { Clip::Value(most) } else { Clip::Norm(most) });
        Ok(Self { rule, schedule, clip })
    }
}

/// A class of optimisers or schedules, and its arguments.
struct Class {
    /// The hyper-parameter that names it.
    kind: &'static str,
    name: Option<String>,
    arguments: Arguments,
}

impl Class {
    fn new(
        kind: &'static str,
        name: &Option<String>,
        kwargs: &Option<Map<String, Value>>,
    ) -> Result<Self, HyperParameterError> {
        let kwargs = kwargs.clone().unwrap_or_default();
        if name.is_none() && !kwargs.is_empty() {
            let stated = Value::from(kwargs).to_string();
            let (name, expected) = (format!("{kind}_kwargs"), format!("null where {kind} is null"));
            return Err(HyperParameterError::new(name, expected, stated));
        }
        Ok(Self { kind, name: name.clone(), arguments: Arguments::new(&kwargs) })
    }

    /// The settings that `read` takes from the arguments, of which none may be left.
    fn read<T>(
        mut self,
        read: impl FnOnce(&mut Arguments, Option<&str>) -> Result<T, HyperParameterError>,
    ) -> Result<T, HyperParameterError> {
        let settings = read(&mut self.arguments, self.name.as_deref())
            .map_err(|error| error.within(&format!("{}_kwargs", self.kind)))?;
        let known = self.arguments.known();
        let Some((name, value)) = self.arguments.first_unread() else { return Ok(settings) };
        let hint = match nearest(name, known.iter().copied()) {
            Some(known) if known != name => format!("; did you mean {known}?"),
            _ => String::new(),
        };
        let class = self.name.as_deref().unwrap_or_default();
        let expected = format!("made of what foretell has of {class}'s arguments: {}", known.join(", "));
        Err(HyperParameterError::new(
            format!("{}_kwargs", self.kind),
            expected,
            format!("{name} = {value}{hint}"),
        ))
    }
}

fn rule(arguments: &mut Arguments, class: Option<&str>) -> Result<Rule, HyperParameterError> {
    let class = class.unwrap_or("Adam");
    let decay = if class == "AdamW" { 0.01 } else { 0.0 };
    let weight_decay = arguments.number("weight_decay", AT_LEAST_0)?.unwrap_or(decay);
    let rule = match class {
        "SGD" => {
            let momentum = arguments.number("momentum", AT_LEAST_0)?.unwrap_or(0.0);
            let dampening = arguments.number("dampening", ANY)?.unwrap_or(0.0);
            let nesterov = arguments.flag("nesterov", false)?;
            if nesterov && (momentum == 0.0 || dampening != 0.0) {
                let expected = "false without a momentum, or with a dampening";
                return Err(HyperParameterError::new("nesterov", expected, true));
            }
            let sgd = SgdConfig::default().momentum(momentum).dampening(dampening).nesterov(nesterov);
            Rule::Sgd(sgd.weight_decay(weight_decay))
        }
        "RMSprop" => Rule::RmsProp(
            RmsPropConfig::default()
                .alpha(arguments.number("alpha", FROM_0_TO_1)?.unwrap_or(0.99))
                .eps(arguments.number("eps", AT_LEAST_0)?.unwrap_or(1e-8))
                .momentum(arguments.number("momentum", AT_LEAST_0)?.unwrap_or(0.0))
                .weight_decay(weight_decay),
        ),
        "Adagrad" => Rule::Adagrad(
            AdagradConfig::default()
                .lr_decay(arguments.number("lr_decay", AT_LEAST_0)?.unwrap_or(0.0))
                .initial(arguments.number("initial_accumulator_value", AT_LEAST_0)?.unwrap_or(0.0))
                .eps(arguments.number("eps", AT_LEAST_0)?.unwrap_or(1e-10))
                .weight_decay(weight_decay),
        ),
        "Adadelta" => Rule::Adadelta(
            AdadeltaConfig::default()
                .rho(arguments.number("rho", FROM_0_TO_1)?.unwrap_or(0.9))
                .eps(arguments.number("eps", AT_LEAST_0)?.unwrap_or(1e-6))
                .weight_decay(weight_decay),
        ),
        adam => {
            let [beta1, beta2] = betas(arguments)?;
            let eps = arguments.number("eps", AT_LEAST_0)?.unwrap_or(1e-8);
            let config = AdamConfig::default().beta1(beta1).beta2(beta2).eps(eps).weight_decay(weight_decay);
            match adam {
                "AdamW" => Rule::AdamW(config),
                "RAdam" => Rule::RAdam(config),
                "Adamax" => Rule::Adamax(config),
                "NAdam" => {
                    let momentum_decay = arguments.number("momentum_decay", AT_LEAST_0)?.unwrap_or(4e-3);
                    Rule::NAdam(NAdamConfig::default().adam(config).momentum_decay(momentum_decay))
                }
                _ => Rule::Adam(config),
            }
        }
    };
    // What PyTorch can do beside: how it computes does not matter here, the rest must be off.
    for name in ["foreach", "fused", "capturable", "differentiable"] {
        arguments.ignore(name);
    }
    for name in ["amsgrad", "maximize", "centered", "decoupled_weight_decay"] {
        arguments.ignore_if(name, false);
    }
    match arguments.unread("lr") {
        Some(lr) => Err(HyperParameterError::new("lr", "left to the hyper-parameter learning_rate", lr)),
        None => Ok(rule),
    }
}

fn betas(arguments: &mut Arguments) -> Result<[f64; 2], HyperParameterError> {
    const EXPECTED: &str = "a list of two numbers from 0 to below 1";
    match arguments.numbers("betas", EXPECTED, FROM_0_BELOW_1.holds)? {
        None => Ok([0.9, 0.999]),
        Some((betas, written)) => {
            betas.try_into().map_err(|_| HyperParameterError::new("betas", EXPECTED, written))
        }
    }
}

fn schedule(
    arguments: &mut Arguments,
    class: Option<&str>,
    common: &Common,
) -> Result<Schedule, HyperParameterError> {
    let (rate, max_steps) = (common.learning_rate, common.max_steps);
    let Some(class) = class else {
        return Ok(Schedule::StepDecay(StepDecay::halvings(rate, common.num_lr_decays, max_steps)));
    };
    let schedule = match class {
        "StepLR" => {
            let every = steps(arguments, "step_size")?
                .filter(|every| *every > 0)
                .ok_or_else(|| HyperParameterError::new("step_size", "given, and at least 1", "none"))?;
            let factor = arguments.number("gamma", AT_LEAST_0)?.unwrap_or(0.1);
            Schedule::StepDecay(StepDecay::new(rate, every).factor(factor))
        }
        "MultiStepLR" => {
            let steps = milestones(arguments)?;
            let factor = arguments.number("gamma", AT_LEAST_0)?.unwrap_or(0.1);
            Schedule::Milestones(Milestones::new(rate, steps).factor(factor))
        }
        "ExponentialLR" => {
            let factor = arguments.number("gamma", AT_LEAST_0)?;
            let factor =
                factor.ok_or_else(|| HyperParameterError::new("gamma", "given, and at least 0", "none"))?;
            Schedule::StepDecay(StepDecay::new(rate, 1).factor(factor))
        }
        "ConstantLR" => {
            let from = arguments.number("factor", FROM_0_TO_1)?.unwrap_or(1.0 / 3.0);
            let steps = steps(arguments, "total_iters")?.unwrap_or(5);
            Schedule::Ramp(Ramp::new(rate, steps).from(from).jump(true))
        }
        "LinearLR" => {
            let from = arguments.number("start_factor", FROM_0_TO_1)?.unwrap_or(1.0 / 3.0);
            let to = arguments.number("end_factor", FROM_0_TO_1)?.unwrap_or(1.0);
            let steps = steps(arguments, "total_iters")?.unwrap_or(5);
            Schedule::Ramp(Ramp::new(rate, steps).from(from).to(to))
        }
        "PolynomialLR" => {
            let steps = steps(arguments, "total_iters")?.unwrap_or(5).max(1);
            let power = arguments.number("power", AT_LEAST_0)?.unwrap_or(1.0);
            Schedule::Polynomial(Polynomial::new(rate, steps).power(power))
        }
        "CosineAnnealingWarmRestarts" => {
            let floor = arguments.number("eta_min", AT_LEAST_0)?.unwrap_or(0.0);
            let first = steps(arguments, "T_0")?
                .filter(|first| *first > 0)
                .ok_or_else(|| HyperParameterError::new("T_0", "given, and at least 1", "none"))?;
            let factor = steps(arguments, "T_mult")?.unwrap_or(1).max(1);
            Schedule::WarmRestarts(WarmRestarts::new(rate, first).floor(floor).factor(factor))
        }
        "CosineAnnealingLR" => {
            let floor = arguments.number("eta_min", AT_LEAST_0)?.unwrap_or(0.0);
            let steps = steps(arguments, "T_max")?.unwrap_or(max_steps).max(1);
            Schedule::Cosine(Cosine::new(rate, steps).floor(floor))
        }
        OURS => {
            let floor = arguments.number("eta_min", AT_LEAST_0)?.unwrap_or(0.0);
            let total = steps(arguments, "total_steps")?.unwrap_or(max_steps);
            let warmup = steps(arguments, "warmup_steps")?.unwrap_or(total / 10);
            if warmup >= total {
                let expected = format!("fewer than all steps, of which there are {total}");
                return Err(HyperParameterError::new("warmup_steps", expected, warmup));
            }
            Schedule::CosineWarmup(CosineWarmup::new(rate, warmup, total).floor(floor))
        }
        "OneCycleLR" => Schedule::OneCycle(one_cycle(arguments, rate, max_steps)?),
        _ => Schedule::Plateau(Plateau::new(rate, plateau(arguments)?)),
    };
    arguments.ignore_if("last_epoch", -1);
    Ok(schedule)
}

fn one_cycle(arguments: &mut Arguments, rate: f64, max_steps: u64) -> Result<OneCycle, HyperParameterError> {
    let peak = arguments.number("max_lr", POSITIVE)?.unwrap_or(rate);
    let initial = peak / arguments.number("div_factor", POSITIVE)?.unwrap_or(25.0);
    let product = match (steps(arguments, "epochs")?, steps(arguments, "steps_per_epoch")?) {
        (Some(epochs), Some(each)) => epochs.saturating_mul(each),
        _ => max_steps,
    };
    let total = steps(arguments, "total_steps")?.unwrap_or(product);
    if total < max_steps {
        return Err(HyperParameterError::new(
            "total_steps",
            format!("at least max_steps = {max_steps}"),
            total,
        ));
    }
    let momenta = [
        arguments.number("base_momentum", FROM_0_BELOW_1)?.unwrap_or(0.85),
        arguments.number("max_momentum", FROM_0_BELOW_1)?.unwrap_or(0.95),
    ];
    // A training of no steps has a schedule, too.
    Ok(OneCycle::new(peak, total.max(1))
        .initial(initial)
        .floor(initial / arguments.number("final_div_factor", POSITIVE)?.unwrap_or(1e4))
        .rise(arguments.number("pct_start", FROM_0_TO_1)?.unwrap_or(0.3))
        .three_phase(arguments.flag("three_phase", false)?)
        .linear(arguments.word("anneal_strategy", ["cos", "linear"])? == 1)
        .momentum(arguments.flag("cycle_momentum", true)?.then_some(momenta)))
}

fn plateau(arguments: &mut Arguments) -> Result<PlateauConfig, HyperParameterError> {
    arguments.word("mode", ["min"])?;
    Ok(PlateauConfig::default()
        .factor(arguments.number("factor", FROM_0_BELOW_1)?.unwrap_or(0.1))
        .patience(steps(arguments, "patience")?.unwrap_or(10))
        .threshold(arguments.number("threshold", AT_LEAST_0)?.unwrap_or(1e-4))
        .relative(arguments.word("threshold_mode", ["rel", "abs"])? == 0)
        .cooldown(steps(arguments, "cooldown")?.unwrap_or(0))
        .floor(arguments.number("min_lr", AT_LEAST_0)?.unwrap_or(0.0))
        .eps(arguments.number("eps", AT_LEAST_0)?.unwrap_or(1e-8)))
}

/// The steps at which a rate changes.
fn milestones(arguments: &mut Arguments) -> Result<Vec<u64>, HyperParameterError> {
    const EXPECTED: &str = "given, a list of steps such as [300, 600]";
    let is_step = |step: f64| step >= 0.0 && step.fract() == 0.0;
    match arguments.numbers("milestones", EXPECTED, is_step)? {
        Some((steps, _)) => Ok(steps.into_iter().map(|step| step as u64).collect()),
        None => Err(HyperParameterError::new("milestones", EXPECTED, "none")),
    }
}

/// This many steps.
fn steps(arguments: &mut Arguments, name: &'static str) -> Result<Option<u64>, HyperParameterError> {
    Ok(arguments.count(name, 0..=u32::MAX)?.map(u64::from))
}

/// Writes the hyper-parameters as neuralforecast's files do: classes as such, with the arguments that
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

/// The argument that holds the name of a class that PyTorch does not have.
const CLASS: &str = "foretell_class";

/// Hyper-parameters in which classes are names again, from those of a file that foretell or neuralforecast wrote.
pub fn from_file(map: &mut Map<String, Value>) {
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
