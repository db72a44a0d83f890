//! What is said of the intervals that models have.

/// The advice to train with another loss, for models that have one.
pub(crate) fn other_loss(has_loss: bool, loss: &str) -> String {
    if has_loss { format!(", or train with {loss}") } else { String::new() }
}

/// What leads to intervals by dropout, or past them: these hyper-parameters of these models are to be set, if there are some.
pub(crate) fn dropout_to_set(to_set: &[(String, String)]) -> String {
    let settings: Vec<String> = to_set.iter().map(|(model, name)| format!("{name} of {model}")).collect();
    match settings.is_empty() {
        true => "leave them out where models have quantiles or a distribution of their own".to_owned(),
        false => format!("set {} above 0 and train with it", settings.join(", or ")),
    }
}

/// What intervals models have by themselves, in words.
pub(crate) fn own_intervals(any: &[String], fixed: &[String]) -> String {
    let told = |models: &[String], one: &str, several: &str| match models {
        [] => None,
        [model] => Some(format!("{model} {one}")),
        models => Some(format!("{} {several}", models.join(", "))),
    };
    let any = told(any, "has intervals of any level by itself", "have intervals of any level by themselves");
    let fixed = told(
        fixed,
        "forecasts quantiles, which are its intervals",
        "forecast quantiles, which are their intervals",
    );
    any.into_iter().chain(fixed).collect::<Vec<_>>().join(", and ")
}
