use super::*;
use crate::NetworkSpec;

fn spec(settings: Value) -> NetworkSpec {
    let spec =
        NetworkSpec::new("NLinear", 4, 8).and_then(|spec| spec.set("max_steps", 100)).expect("a model");
    let settings = settings.as_object().expect("an object").clone();
    settings.into_iter().fold(spec, |spec, (name, value)| spec.set(&name, value).expect("a value"))
}

fn read(settings: Value) -> OptimizerSettings {
    spec(settings).optimizer_settings().unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn refused(settings: Value) -> String {
    spec(settings).check().expect_err("a mistake").to_string()
}

#[test]
fn defaults_are_those_of_torch() {
    let rule = |name: &str| read(json!({ "optimizer": name })).rule;
    let adam = AdamConfig::default().beta1(0.9).beta2(0.999).eps(1e-8).weight_decay(0.0);
    assert_eq!(read(json!({})).rule, Rule::Adam(adam));
    assert_eq!(rule("Adam"), Rule::Adam(adam));
    assert_eq!(rule("AdamW"), Rule::AdamW(adam.weight_decay(0.01)));
    assert_eq!(rule("RAdam"), Rule::RAdam(adam));
    let plain = SgdConfig::default().momentum(0.0).dampening(0.0).nesterov(false).weight_decay(0.0);
    assert_eq!(rule("SGD"), Rule::Sgd(plain));
    let rms = RmsPropConfig::default().alpha(0.99).eps(1e-8).momentum(0.0).weight_decay(0.0);
    assert_eq!(rule("RMSprop"), Rule::RmsProp(rms));
    assert_eq!(read(json!({})).clip, None);

    let cycle = OneCycle::new(0.002, 100)
        .initial(0.002 / 25.0)
        .floor(0.002 / 25.0 / 1e4)
        .rise(0.3)
        .three_phase(false)
        .linear(false)
        .momentum(Some([0.85, 0.95]));
    let read = read(json!({ "learning_rate": 0.002, "lr_scheduler": "OneCycleLR", "optimizer": "SGD" }));
    assert_eq!(read.schedule, Schedule::OneCycle(cycle));
    // There is a velocity from the first step on.
    assert_eq!(read.rule, Rule::Sgd(plain.momentum(0.95)));
}

#[test]
fn arguments_arrive() {
    let settings = read(json!({
        "optimizer_kwargs": { "momentum": 0.9, "nesterov": true, "weight_decay": 1, "foreach": true, "maximize": false },
        "optimizer": "SGD",
        "lr_scheduler": "CosineWarmup",
        "lr_scheduler_kwargs": { "warmup_steps": 5, "eta_min": 1e-6 },
        "gradient_clip_val": 2,
        "gradient_clip_algorithm": "value",
    }));
    let rule = SgdConfig::default().momentum(0.9).nesterov(true).weight_decay(1.0);
    let schedule = CosineWarmup::new(1e-4, 5, 100).floor(1e-6);
    let expected = OptimizerSettings {
        rule: Rule::Sgd(rule),
        schedule: Schedule::CosineWarmup(schedule),
        clip: Some(Clip::Value(2.0)),
    };
    assert_eq!(settings, expected);
    assert_eq!(read(json!({ "gradient_clip_val": 0.5 })).clip, Some(Clip::Norm(0.5)));
    assert_eq!(read(json!({ "gradient_clip_val": 0 })).clip, None);
    let plateau = json!({ "lr_scheduler": "ReduceLROnPlateau", "lr_scheduler_kwargs": { "patience": 3 } });
    assert!(read(plateau).schedule.watches());
}

#[test]
fn mistakes_are_named_with_the_nearest_valid_name() {
    for (settings, said) in [
        (json!({ "optimizer": "SGD", "optimizer_kwargs": { "momentun": 0.9 } }), "did you mean momentum?"),
        (json!({ "optimizer": "AdamW", "optimizer_kwargs": { "lr": 0.9 } }), "learning_rate"),
        (json!({ "optimizer": "Adam", "optimizer_kwargs": { "amsgrad": true } }), "found amsgrad = true"),
        (json!({ "optimizer": "Adam", "optimizer_kwargs": { "betas": [0.9, 1.0] } }), "kwargs.betas must be"),
        (json!({ "optimizer": "SGD", "optimizer_kwargs": { "nesterov": true } }), "without a momentum"),
        (json!({ "optimizer_kwargs": { "eps": 1e-6 } }), "null where optimizer is null"),
        (json!({ "lr_scheduler_kwargs": { "gamma": 0.5 } }), "null where lr_scheduler is null"),
        (json!({ "lr_scheduler": "StepLR" }), "kwargs.step_size must be given"),
        (json!({ "lr_scheduler": "ExponentialLR" }), "kwargs.gamma must be given"),
        (json!({ "lr_scheduler": "MultiStepLR" }), "kwargs.milestones must be given"),
        (json!({ "lr_scheduler": "CosineAnnealingWarmRestarts" }), "kwargs.T_0 must be given"),
        (json!({ "lr_scheduler": "OneCycleLR", "optimizer": "NAdam" }), "cycle_momentum must be false"),
        (
            json!({ "lr_scheduler": "OneCycleLR", "lr_scheduler_kwargs": { "total_steps": 99 } }),
            "at least max_steps = 100",
        ),
        (
            json!({ "lr_scheduler": "OneCycleLR", "lr_scheduler_kwargs": { "anneal_strategy": "sin" } }),
            "cos or linear",
        ),
        (
            json!({ "lr_scheduler": "CosineWarmup", "lr_scheduler_kwargs": { "warmup_steps": 100 } }),
            "fewer than all steps",
        ),
        (
            json!({ "lr_scheduler": "ReduceLROnPlateau", "lr_scheduler_kwargs": { "factor": 1.0 } }),
            "from 0 to below 1",
        ),
        (
            json!({ "lr_scheduler": "ReduceLROnPlateau", "lr_scheduler_kwargs": { "mode": "max" } }),
            "must be min",
        ),
    ] {
        let message = refused(settings);
        assert!(message.contains(said) && message.contains("_kwargs"), "{message}");
    }
    let class =
        |name: &str, value: &str| spec(json!({})).set(name, value).expect_err("a mistake").to_string();
    assert!(class("optimizer", "Adamw").contains("did you mean AdamW?"));
    assert!(class("lr_scheduler", "OneCycle").contains("did you mean OneCycleLR?"));
    assert!(class("gradient_clip_algorithm", "max").contains("\"norm\", \"value\""));
}

#[test]
fn arguments_that_are_too_large_together_are_refused() {
    let one_cycle = |kwargs: Value| json!({ "learning_rate": 0.1, "lr_scheduler": "OneCycleLR", "lr_scheduler_kwargs": kwargs });
    let message = refused(one_cycle(json!({ "max_lr": 1e300, "div_factor": 1e-10 })));
    assert_eq!(
        message,
        "NLinear: hyper-parameter lr_scheduler_kwargs must be such that its initial is a finite number of at least 0, \
         found inf"
    );
    // Without steps there is nothing to refuse.
    let none = spec(one_cycle(json!({}))).set("max_steps", 0).expect("a number of steps");
    assert_eq!(none.check().map_err(|error| error.to_string()), Ok(()));
}

#[test]
fn further_classes_of_torch_have_its_defaults() {
    let adam = AdamConfig::default();
    for (name, expected) in [
        ("NAdam", Rule::NAdam(NAdamConfig::default().adam(adam).momentum_decay(4e-3))),
        ("Adamax", Rule::Adamax(adam)),
        ("Adagrad", Rule::Adagrad(AdagradConfig::default())),
        ("Adadelta", Rule::Adadelta(AdadeltaConfig::default())),
    ] {
        assert_eq!(read(json!({ "optimizer": name })).rule, expected);
    }
    let rates = |name: &str, kwargs: Value| {
        let settings = json!({ "learning_rate": 0.1, "lr_scheduler": name, "lr_scheduler_kwargs": kwargs });
        let schedule = read(settings).schedule;
        [0, 4, 6].map(|step| schedule.at(step).rate)
    };
    assert_eq!(rates("MultiStepLR", json!({ "milestones": [4, 6], "gamma": 0.5 })), [0.1, 0.05, 0.025]);
    assert_eq!(rates("ExponentialLR", json!({ "gamma": 0.5 })), [0.1, 0.1 / 16.0, 0.1 / 64.0]);
    assert_eq!(rates("ConstantLR", json!({ "factor": 0.5 })), [0.05, 0.05, 0.1]);
    assert_eq!(rates("LinearLR", json!({ "start_factor": 0.0, "total_iters": 8 })), [0.0, 0.05, 0.1 * 0.75]);
    assert_eq!(rates("PolynomialLR", json!({ "total_iters": 8 })), [0.1, 0.05, 0.1 * 0.25]);
    assert_eq!(rates("CosineAnnealingWarmRestarts", json!({ "T_0": 6 }))[2], 0.1);
}

#[test]
fn files_name_classes_as_neuralforecast_does() {
    let settings = json!({
        "optimizer": "RAdam", "optimizer_kwargs": { "eps": 1e-6 }, "lr_scheduler": "OneCycleLR",
        "lr_scheduler_kwargs": { "pct_start": 0.5 }, "gradient_clip_val": 1.0,
    });
    let mut map = spec(settings).hyper_parameters();
    to_file(&mut map);
    assert_eq!(map["optimizer"], json!({ "__nf__": "torch_cls", "kind": "optimizer", "name": "RAdam" }));
    let kwargs = json!({ "max_lr": 1e-4, "total_steps": 100, "pct_start": 0.5 });
    assert_eq!(map["lr_scheduler_kwargs"], kwargs);
    from_file(&mut map);
    assert_eq!((&map["optimizer"], &map["lr_scheduler"]), (&json!("RAdam"), &json!("OneCycleLR")));

    let settings = json!({ "lr_scheduler": "CosineWarmup", "lr_scheduler_kwargs": { "warmup_steps": 9 } });
    let before = spec(settings).hyper_parameters();
    let mut map = before.clone();
    to_file(&mut map);
    assert_eq!(map["lr_scheduler"], Value::Null);
    from_file(&mut map);
    assert_eq!(map, before);
}
