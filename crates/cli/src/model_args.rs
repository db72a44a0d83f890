//! Which models a command is for, with which hyper-parameters.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use foretell::{Exogenous, Fitted, MemoryLimit, ModelSpec};

use crate::args::steps;
use crate::context::Context;
use crate::failure::Usage;
use crate::setting::{Setting, setting};

/// Models by name, and their hyper-parameters.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// Models to use, separated by commas (letters of any case); `foretell models` lists them. A name may come
    /// twice, as in NHITS,NHITS: --set NHITS.1.key=JSON sets hyper-parameters of the second
    #[arg(
        long = "model", value_name = "NAME[,NAME]", value_delimiter = ',',
        value_parser = NonEmptyStringValueParser::new()
    )]
    models: Vec<String>,
    /// The models of this directory, with their hyper-parameters, in place of --model and --h. Their training continues from the
    /// weights that they have; names of columns, how data are read and scaled are as saved with them. --set changes what
    /// concerns the training (max_steps, learning_rate, ...), but no shape of a weight
    #[arg(long, value_name = "DIR", conflicts_with_all = ["models", "h", "input_size"])]
    from: Option<PathBuf>,
    /// Steps to forecast
    #[arg(long, value_name = "N", value_parser = steps())]
    h: Option<usize>,
    /// Steps of history that the forecast of a network is made from; -1 for 3 times h. Other models read as much history
    /// as they need
    #[arg(long, value_name = "N", value_parser = input_size, allow_negative_numbers = true)]
    input_size: Option<InputSize>,
    /// Columns of the data known for the past only that the models read (hist_exog_list). A model that cannot read
    /// such columns is trained without them, with a warning, if another model reads them; the same holds for the
    /// following flags
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    hist_exog: Vec<String>,
    /// Columns of the data known for past and future that the models read (futr_exog_list); `foretell predict --futr`
    /// takes their future values
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    futr_exog: Vec<String>,
    /// Columns of --static that the models read (stat_exog_list) [default: all of them; in bench, whose columns are
    /// synthetic, none]
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    stat_exog: Vec<String>,
    /// Those of these columns that hold categories, texts or numbers, which the models embed (cat_exog_list)
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    cat_exog: Vec<String>,
    /// A hyper-parameter for all models, with NAME.key=JSON for those of that name, with NAME.1.key=JSON for the
    /// second of them. They are numbered as their columns are, NAME (0), NAME1 (1), ...; a value that is not JSON is
    /// taken as text
    #[arg(long = "set", value_name = "key=JSON", value_parser = setting)]
    settings: Vec<Setting>,
}

/// Steps of history; nothing for 3 times the horizon.
#[derive(Clone, Copy, Debug)]
struct InputSize(Option<usize>);

fn input_size(text: &str) -> Result<InputSize, String> {
    match text.parse() {
        Ok(-1) => Ok(InputSize(None)),
        Ok(size @ 1..=1_000_000) => Ok(InputSize(Some(size as usize))),
        Ok(0_i64) | Err(_) | Ok(_) => Err("it must be between 1 and 1000000, or -1 for 3 times h".to_owned()),
    }
}

/// A flag that names columns, the hyper-parameter that it sets, the columns, and which models can read them.
type ColumnFlag<'a> = (&'static str, &'static str, &'a [String], fn(Exogenous) -> bool);

impl ModelArgs {
    /// The models with their hyper-parameters set: first those for all models, then those for models of a name, then
    /// those for one. `statics` are the columns of the static file, if there is one; `from` are the trained models whose
    /// hyper-parameters they have at first, as [`ModelArgs::trained`] read them; where they are to be `searched` the input size may be missing. Models that cannot read columns which others read do without them, of which `log` tells.
    pub(crate) fn specs(
        &self,
        seed: Option<u64>,
        statics: &[String],
        from: Option<&Fitted>,
        searched: bool,
        context: &'static Context,
    ) -> anyhow::Result<Vec<ModelSpec>> {
        let first = self.first_specs(from, searched)?;
        self.set(first, seed, statics, from, context)
    }

    /// Whether some model reads columns of one value a series.
    pub(crate) fn read_statics(&self, from: Option<&Fitted>, searched: bool) -> anyhow::Result<bool> {
        Ok(self.first_specs(from, searched)?.iter().any(|spec| spec.exogenous().stat))
    }

    /// Whether models are named, or a directory of trained ones.
    pub(crate) fn are_named(&self) -> bool {
        !self.models.is_empty() || self.from.is_some()
    }

    /// Steps to forecast.
    pub(crate) fn h(&self) -> anyhow::Result<usize> {
        self.h.ok_or_else(|| {
            Usage("--h is missing: how many steps to forecast, as in --h 24".to_owned()).into()
        })
    }

    /// A model that reads all columns that models are to read.
    pub(crate) fn reading_all(&self, mut spec: ModelSpec, statics: &[String]) -> anyhow::Result<ModelSpec> {
        for (flag, name, columns, _) in self.column_flags(statics, None) {
            spec = spec.set(name, columns).context(flag)?;
        }
        Ok(spec)
    }

    /// The columns that models are to read, by kind. Trained models have theirs; others read all of the static file.
    fn column_flags<'a>(&'a self, statics: &'a [String], from: Option<&Fitted>) -> [ColumnFlag<'a>; 4] {
        let all_statics = self.stat_exog.is_empty() && from.is_none();
        let stat_exog = if all_statics { statics } else { &self.stat_exog };
        let stat_flag = if all_statics { "--static" } else { "--stat-exog" };
        [
            ("--hist-exog", "hist_exog_list", &self.hist_exog, |reads| reads.hist),
            ("--futr-exog", "futr_exog_list", &self.futr_exog, |reads| reads.futr),
            (stat_flag, "stat_exog_list", stat_exog, |reads| reads.stat),
            ("--cat-exog", "cat_exog_list", &self.cat_exog, |reads| reads.cat),
        ]
    }

    /// These models, with what the flags set of them.
    pub(crate) fn set(
        &self,
        first: Vec<ModelSpec>,
        seed: Option<u64>,
        statics: &[String],
        from: Option<&Fitted>,
        context: &'static Context,
    ) -> anyhow::Result<Vec<ModelSpec>> {
        let names: Vec<String> = first.iter().map(|spec| spec.name().to_owned()).collect();
        let number = |place: usize| names[..place].iter().filter(|name| **name == names[place]).count();
        let models: Vec<(&str, usize)> =
            names.iter().enumerate().map(|(place, name)| (name.as_str(), number(place))).collect();
        for Setting { key, .. } in &self.settings {
            if let Some(model) = key.model.as_ref().filter(|_| !models.iter().any(|(m, n)| key.is_for(m, *n)))
            {
                return Err(Usage(format!("--set {key}: {}", self.no_such_model(model, &names))).into());
            }
        }
        let kinds = self.column_flags(statics, from);
        let mut specs = first;
        for (flag, name, columns, reads) in kinds.into_iter().filter(|(_, _, columns, _)| !columns.is_empty())
        {
            let any = specs.iter().any(|spec| reads(spec.exogenous()));
            let mut without: Vec<&str> = Vec::new();
            for (spec, (model, _)) in specs.iter_mut().zip(&models) {
                match any && !reads(spec.exogenous()) {
                    true => without.push(model),
                    false => *spec = spec.clone().set(name, columns).context(flag)?,
                }
            }
            let grouped =
                |(spec, _): &(&ModelSpec, _)| name == "stat_exog_list" && spec.as_ref().needs().is_joint;
            if let Some((_, (model, _))) = specs.iter().zip(&models).find(|pair| grouped(pair)) {
                context.warning(&format!(
                    "{model}: series with equal {} are forecast together, each reading the others; --stat-exog names other columns",
                    columns.join(" and ")
                ));
            }
            if !without.is_empty() {
                let (models, columns) = (without.join(", "), columns.join(", "));
                context.warning(&format!("{flag} {columns}: {models} read no such columns and do without"));
            }
        }
        let takes_steps = |spec: &ModelSpec| spec.as_ref().needs().max_steps.is_some();
        let has_networks = specs.iter().any(takes_steps);
        let settle = |(mut spec, &(model, number)): (ModelSpec, &(&str, usize))| {
            let has = |spec: &ModelSpec, name: &str| spec.hyper_parameters().contains_key(name);
            if let Some(seed) = seed.filter(|_| has(&spec, "random_seed")) {
                spec = spec.set("random_seed", seed)?;
            }
            let mut settings: Vec<&Setting> =
                self.settings.iter().filter(|setting| setting.key.is_for(model, number)).collect();
            settings.sort_by_key(|setting| setting.key.rank());
            for Setting { key, value } in settings {
                // What is set for all models is set for networks, where there are some.
                let is_for_networks = key.model.is_none() && has_networks && !takes_steps(&spec);
                if is_for_networks && !has(&spec, &key.name) {
                    continue;
                }
                let flag = || match &key.model {
                    None if models.len() > 1 => {
                        format!("--set {key}, for all models (for one of them: --set NAME.{key})")
                    }
                    _ => format!("--set {key}"),
                };
                spec = spec.set(&key.name, value.clone()).with_context(flag)?;
            }
            Ok(spec)
        };
        specs.into_iter().zip(&models).map(settle).collect()
    }

    /// The names of the hyper-parameters that are set for the model with this number among those of its name.
    pub(crate) fn set_by_user(&self, model: &str, number: usize) -> Vec<String> {
        let input_size = self.input_size.map(|_| "input_size".to_owned());
        let settings = self.settings.iter().filter(|setting| setting.key.is_for(model, number));
        input_size.into_iter().chain(settings.map(|setting| setting.key.name.clone())).collect()
    }

    /// The models of --from, if it is given.
    pub(crate) fn trained(&self, limit: MemoryLimit) -> anyhow::Result<Option<Fitted>> {
        if let Some(dir) = self.directory().map(Path::display) {
            let message =
                format!("--model {dir}: it is a directory; --from {dir} takes the trained models in it");
            return Err(Usage(message).into());
        }
        Ok(self.from.as_ref().map(|dir| Fitted::load_within(dir, limit)).transpose()?)
    }

    /// The first flag that changes models, if there is one: their columns or other hyper-parameters.
    pub(crate) fn changed(&self) -> Option<String> {
        let columns = [
            ("--hist-exog", &self.hist_exog),
            ("--futr-exog", &self.futr_exog),
            ("--stat-exog", &self.stat_exog),
            ("--cat-exog", &self.cat_exog),
        ];
        let columns = columns.into_iter().find(|(_, columns)| !columns.is_empty());
        let setting = || self.settings.first().map(|setting| format!("--set {}", setting.key));
        columns.map(|(flag, _)| flag.to_owned()).or_else(setting)
    }

    /// The models of the directory that --model names, if it names no model.
    pub(crate) fn in_directory(&self, limit: MemoryLimit) -> anyhow::Result<Option<Fitted>> {
        let Some(dir) = self.directory() else {
            self.models.iter().try_for_each(|name| check_model_or_directory(name))?;
            return Ok(None);
        };
        let given = [("--h", self.h.is_some()), ("--input-size", self.input_size.is_some())];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            let message =
                format!("{flag}: the models of {} were trained with theirs; leave it out", dir.display());
            return Err(Usage(message).into());
        }
        Ok(Some(Fitted::load_within(dir, limit)?))
    }

    /// The directory that --model names in place of models.
    fn directory(&self) -> Option<&Path> {
        let [name] = &self.models[..] else { return None };
        let dir = Path::new(name);
        (dir.is_dir() && ModelSpec::new(name, 1, 1).is_err()).then_some(dir)
    }

    /// The models before anything is set: as they were trained, or with default hyper-parameters.
    fn first_specs(&self, from: Option<&Fitted>, searched: bool) -> anyhow::Result<Vec<ModelSpec>> {
        let h = match (from, self.h) {
            (Some(fitted), _) => {
                return Ok(fitted.models().iter().map(|model| model.spec().clone()).collect());
            }
            (None, Some(h)) => h,
            (None, None) => {
                // A name that is no model's is no fault of the horizon.
                self.models.iter().try_for_each(|name| ModelSpec::new(name, 1, 1).map(drop))?;
                self.h()?
            }
        };
        let input_size = self.input_size.and_then(|InputSize(size)| size).unwrap_or(3 * h);
        if let Some(all) = self.models.iter().find(|name| name.eq_ignore_ascii_case("all")) {
            return Err(Usage(format!(
                "--model {all}: there is no such model; `foretell forecast` tries all that suit the data and combines the best \
                 (--model auto), and `foretell models` lists them"
            ))
            .into());
        }
        let specs = self.models.iter().map(|model| ModelSpec::new(model, h, input_size));
        let specs = specs.collect::<Result<Vec<_>, _>>()?;
        let mut networks = specs.iter().filter(|spec| spec.input_size().is_some()).map(ModelSpec::name);
        if let (None, Some(network), false) = (self.input_size, networks.next(), searched) {
            let message = format!(
                "--input-size is missing: {network} is a network, and this is the number of steps of history that it forecasts from; \
                 -1 stands for 3 times h"
            );
            return Err(Usage(message).into());
        }
        Ok(specs)
    }

    /// Why a hyper-parameter is for none of the models of these names.
    fn no_such_model(&self, model: &str, names: &[String]) -> String {
        let models = match (&self.from, self.directory()) {
            (Some(dir), _) => format!("the models of --from {}, {}", dir.display(), names.join(", ")),
            (None, Some(dir)) => format!("the models of --model {}, {}", dir.display(), names.join(", ")),
            (None, None) if self.models.is_empty() => {
                format!("those that suit the data, {}", names.join(", "))
            }
            (None, None) => format!("--model {}", self.models.join(", ")),
        };
        match names.iter().filter(|name| *name == model).count() {
            0 => format!("there is no {model} among {models}"),
            1 => format!("there is one {model} among {models}: {model}.0"),
            n => format!("there are {n} {model} in {models}, numbered {model}.0 to {model}.{}", n - 1),
        }
    }
}

/// Loads the models of the directory that a flag names.
///
/// # Errors
/// Those of loading; and where there is no such directory but a model is called so, what there is instead.
pub(crate) fn load_models(flag: &str, dir: &Path, limit: MemoryLimit) -> anyhow::Result<Fitted> {
    let name = dir.to_string_lossy();
    let loaded = Fitted::load_within(dir, limit);
    if loaded.is_err()
        && !dir.exists()
        && (name.eq_ignore_ascii_case("all") || ModelSpec::new(&name, 1, 1).is_ok())
    {
        return Err(Usage(format!(
            "{flag} {name}: there is no such directory of trained models; `foretell fit --model NAME --out DIR` writes one (auto for \
             NAME combines those that suit the data), and `foretell forecast` forecasts at once"
        ))
        .into());
    }
    Ok(loaded?)
}

/// Checks that a name is that of a model or of a directory.
fn check_model_or_directory(name: &str) -> Result<(), Usage> {
    let Err(unknown) = ModelSpec::new(name, 1, 1) else { return Ok(()) };
    let path = Path::new(name);
    let what = if path.is_dir() {
        "a directory of trained models stands alone, and this one is among others; name it alone"
    } else if path.exists() {
        "it is a file; name models, or a directory of trained ones"
    } else {
        "there is no such directory of trained models"
    };
    Err(Usage(format!("--model {name}: {what}; {unknown}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_size_is_positive_or_three_horizons() {
        assert!(matches!(input_size("-1"), Ok(InputSize(None))));
        assert!(matches!(input_size("96"), Ok(InputSize(Some(96)))));
        for text in ["0", "-2", "1e3", "", "99999999999999999999"] {
            assert!(input_size(text).is_err(), "{text:?}");
        }
    }
}
