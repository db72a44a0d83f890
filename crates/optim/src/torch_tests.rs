//! Optimisers and schedules against PyTorch: `fixtures/*.json`, which `compare/optim.py` writes.

use crate::{
    AdadeltaConfig, AdagradConfig, AdamConfig, Clip, Cosine, Milestones, NAdamConfig, OneCycle, Optimizer,
    Plateau, PlateauConfig, Polynomial, Ramp, RmsPropConfig, Rule, Schedule, SgdConfig, StepDecay,
    WarmRestarts,
};
use serde::Deserialize;
use serde_json::{Map, Value};

type Arguments = Map<String, Value>;

fn number(kwargs: &Arguments, name: &str, default: f64) -> f64 {
    kwargs.get(name).map_or(default, |value| value.as_f64().expect("a number"))
}

fn whole(kwargs: &Arguments, name: &str, default: u64) -> u64 {
    kwargs.get(name).map_or(default, |value| value.as_u64().expect("a whole number"))
}

fn rule(name: &str, kwargs: &Arguments) -> Rule {
    let (momentum, weight_decay) = (number(kwargs, "momentum", 0.0), number(kwargs, "weight_decay", 0.0));
    let eps = number(kwargs, "eps", 1e-8);
    let beta =
        |i: usize, default: f64| kwargs.get("betas").map_or(default, |betas| betas[i].as_f64().expect("one"));
    let adam = AdamConfig { beta1: beta(0, 0.9), beta2: beta(1, 0.999), eps, weight_decay };
    match name {
        "Adam" => Rule::Adam(adam),
        "AdamW" => Rule::AdamW(AdamConfig { weight_decay: number(kwargs, "weight_decay", 0.01), ..adam }),
        "RAdam" => Rule::RAdam(adam),
        "SGD" => Rule::Sgd(SgdConfig {
            momentum,
            dampening: number(kwargs, "dampening", 0.0),
            nesterov: kwargs.contains_key("nesterov"),
            weight_decay,
        }),
        "RMSprop" => {
            let alpha = number(kwargs, "alpha", 0.99);
            Rule::RmsProp(RmsPropConfig { alpha, eps, momentum, weight_decay })
        }
        "NAdam" => Rule::NAdam(NAdamConfig { adam, momentum_decay: number(kwargs, "momentum_decay", 4e-3) }),
        "Adamax" => Rule::Adamax(adam),
        "Adagrad" => Rule::Adagrad(AdagradConfig {
            lr_decay: number(kwargs, "lr_decay", 0.0),
            initial: number(kwargs, "initial_accumulator_value", 0.0),
            eps: number(kwargs, "eps", 1e-10),
            weight_decay,
        }),
        "Adadelta" => {
            let (rho, eps) = (number(kwargs, "rho", 0.9), number(kwargs, "eps", 1e-6));
            Rule::Adadelta(AdadeltaConfig { rho, eps, weight_decay })
        }
        other => panic!("no rule for {other}"),
    }
}

fn one_cycle(kwargs: &Arguments) -> Schedule {
    let peak = number(kwargs, "max_lr", f64::NAN);
    let initial = peak / number(kwargs, "div_factor", 25.0);
    let momenta = [number(kwargs, "base_momentum", 0.85), number(kwargs, "max_momentum", 0.95)];
    Schedule::OneCycle(OneCycle {
        initial,
        peak,
        floor: initial / number(kwargs, "final_div_factor", 1e4),
        steps: whole(kwargs, "total_steps", 0),
        rise: number(kwargs, "pct_start", 0.3),
        three_phase: kwargs.contains_key("three_phase"),
        linear: kwargs.get("anneal_strategy").is_some_and(|strategy| strategy == "linear"),
        momentum: (!kwargs.contains_key("cycle_momentum")).then_some(momenta),
    })
}

fn schedule(name: &str, lr: f64, kwargs: &Arguments) -> Schedule {
    match name {
        "StepLR" => {
            let factor = number(kwargs, "gamma", 0.1);
            Schedule::StepDecay(StepDecay { initial: lr, every: whole(kwargs, "step_size", 0), factor })
        }
        "ExponentialLR" => Schedule::StepDecay(StepDecay {
            initial: lr,
            every: 1,
            factor: number(kwargs, "gamma", f64::NAN),
        }),
        "MultiStepLR" => {
            let steps = kwargs["milestones"].as_array().expect("a list").iter();
            let steps = steps.map(|step| step.as_u64().expect("a step")).collect();
            Schedule::Milestones(Milestones { initial: lr, steps, factor: number(kwargs, "gamma", 0.1) })
        }
        "ConstantLR" | "LinearLR" => {
            let jump = name == "ConstantLR";
            let from = number(kwargs, if jump { "factor" } else { "start_factor" }, 1.0 / 3.0);
            let (to, steps) = (number(kwargs, "end_factor", 1.0), whole(kwargs, "total_iters", 5));
            Schedule::Ramp(Ramp { rate: lr, from, to, steps, jump })
        }
        "PolynomialLR" => {
            let (steps, power) = (whole(kwargs, "total_iters", 5), number(kwargs, "power", 1.0));
            Schedule::Polynomial(Polynomial { initial: lr, steps, power })
        }
        "CosineAnnealingWarmRestarts" => {
            let (first, factor) = (whole(kwargs, "T_0", 0), whole(kwargs, "T_mult", 1));
            let floor = number(kwargs, "eta_min", 0.0);
            Schedule::WarmRestarts(WarmRestarts { initial: lr, floor, first, factor })
        }
        "CosineAnnealingLR" => {
            let floor = number(kwargs, "eta_min", 0.0);
            Schedule::Cosine(Cosine { initial: lr, floor, steps: whole(kwargs, "T_max", 0) })
        }
        "OneCycleLR" => one_cycle(kwargs),
        "ReduceLROnPlateau" => {
            let config = PlateauConfig {
                factor: number(kwargs, "factor", 0.1),
                patience: whole(kwargs, "patience", 10),
                threshold: number(kwargs, "threshold", 1e-4),
                relative: kwargs.get("threshold_mode").is_none_or(|mode| mode == "rel"),
                cooldown: whole(kwargs, "cooldown", 0),
                floor: number(kwargs, "min_lr", 0.0),
                eps: number(kwargs, "eps", 1e-8),
            };
            Schedule::Plateau(Plateau::new(lr, config))
        }
        other => panic!("no schedule for {other}"),
    }
}

#[derive(Deserialize)]
struct Optimizers {
    lr: f64,
    shown: Vec<usize>,
    start: Vec<f32>,
    gradients: Vec<Vec<f32>>,
    cases: Vec<OptimizerCase>,
}

#[derive(Deserialize)]
struct OptimizerCase {
    optimizer: String,
    kwargs: Arguments,
    clip: Option<Arguments>,
    cycle: Option<Arguments>,
    params: Vec<Vec<f64>>,
}

#[test]
fn optimisers_agree_with_torch() {
    let all: Optimizers =
        serde_json::from_str(include_str!("../tests/fixtures/optimizers.json")).expect("fixtures");
    assert_eq!(all.cases.len(), 28);
    for case in &all.cases {
        let what = format!("{} {:?} {:?} {:?}", case.optimizer, case.kwargs, case.clip, case.cycle);
        let cycle = case.cycle.as_ref().map(one_cycle);
        let pace = |step| cycle.as_ref().map_or(all.lr.into(), |cycle| cycle.at(step));
        let rule = rule(&case.optimizer, &case.kwargs);
        let rule = pace(0).momentum.map_or(rule, |first| rule.with_momentum(first));
        let clip = case.clip.as_ref().map(|clip| match clip.get("norm") {
            Some(most) => Clip::Norm(most.as_f64().expect("a bound")),
            None => Clip::Value(number(clip, "value", f64::NAN)),
        });
        // One shard, and two halves of it, which add up exactly.
        for shards in [1, 2] {
            let mut optimizer = Optimizer::new(all.start.len(), rule, clip);
            let (mut params, mut shown) = (all.start.clone(), case.params.iter());
            for (step, gradient) in (1..).zip(&all.gradients) {
                let part: Vec<f32> = gradient.iter().map(|g| g / shards as f32).collect();
                optimizer.step(&mut params, &vec![&part[..]; shards], pace(step as u64 - 1));
                if !all.shown.contains(&step) {
                    continue;
                }
                for (found, expected) in params.iter().zip(shown.next().expect("parameters")) {
                    let gap = (f64::from(*found) - expected).abs();
                    assert!(gap < 2e-6, "{what}, step {step}: {found}, expected {expected}");
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Schedules {
    lr: f64,
    losses: Vec<f64>,
    cases: Vec<ScheduleCase>,
}

#[derive(Deserialize)]
struct ScheduleCase {
    scheduler: String,
    kwargs: Arguments,
    rates: Vec<f64>,
    momenta: Vec<f64>,
}

#[test]
fn schedules_agree_with_torch() {
    let all: Schedules =
        serde_json::from_str(include_str!("../tests/fixtures/schedules.json")).expect("fixtures");
    assert_eq!(all.cases.len(), 23);
    for case in &all.cases {
        let what = format!("{} {:?}", case.scheduler, case.kwargs);
        let mut schedule = schedule(&case.scheduler, all.lr, &case.kwargs);
        for (step, loss) in all.losses.iter().enumerate() {
            let pace = schedule.at(step as u64);
            let (rate, momentum) = (case.rates[step], case.momenta[step]);
            assert!((pace.rate - rate).abs() < 1e-12, "{what}, step {step}: {}, expected {rate}", pace.rate);
            let scheduled = pace.momentum.unwrap_or(0.9);
            assert!(
                (scheduled - momentum).abs() < 1e-12,
                "{what}, step {step}: {scheduled}, expected {momentum}"
            );
            schedule.observe(*loss);
        }
        assert_eq!(schedule.watches(), case.scheduler == "ReduceLROnPlateau");
    }
}
