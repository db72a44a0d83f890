//! A trained network as an ONNX graph, from the windows in the data's units to the columns of a forecast.

use std::fmt;

use foretell_batch::shift_target;
use foretell_data::WindowScaler;
use foretell_infer::{forecast, forecast_key, mean_of_outputs};
use foretell_nn::trace::{Trace, TracedOperand, traced};
use foretell_nn::{Dims, Forward, Init, Key, Loss, Network, Params, Tensor, Windows};

use crate::emitter::Emitter;
use crate::error::OnnxError;
use crate::extent::{Extent, RUNS};
use crate::graph::{Graph, Name};
use crate::loss::{check, columns};
use crate::operations;
use crate::plan::Plan;
use crate::proto::Dim;
use crate::scaling::{Scale, scale_of, scaled, scaled_columns};

/// Columns of a kind that a network reads.
#[derive(Clone, Debug, Default)]
pub struct ScaledColumns {
    /// Their names.
    pub names: Vec<String>,
    /// Whether each holds numbers, which are scaled, or places in a table of categories, which are not.
    pub holds_numbers: Vec<bool>,
}

/// A trained network that is to be written as a graph.
#[derive(Clone)]
pub struct OnnxExport<'a> {
    /// The model's name, which the names of the forecast's columns begin with.
    pub name: &'a str,
    /// The model.
    pub network: &'a Network,
    /// Its parameters, held in `f32`.
    pub params: &'a Params,
    /// The sizes of the windows that it forecasts from.
    pub dims: Dims,
    /// Whether a window is one of several series.
    pub multivariate: bool,
    /// Its loss.
    pub loss: &'a Loss,
    /// How each window is scaled.
    pub scaler: WindowScaler,
    /// Whether the model sees zeros in place of the target's history.
    pub exclude_insample_y: bool,
    /// The seed of the random numbers that forecasts draw.
    pub random_seed: u64,
    /// Historic, future and static columns.
    pub columns: [ScaledColumns; 3],
}

impl fmt::Debug for OnnxExport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnnxExport")
            .field("name", &self.name)
            .field("dims", &self.dims)
            .finish_non_exhaustive()
    }
}

/// The target, the mask, and the columns that there are.
struct Inputs<T> {
    target: T,
    mask: T,
    hist: Option<T>,
    futr: Option<T>,
    stat: Option<T>,
}

impl<T> Inputs<T> {
    fn all(&self) -> impl Iterator<Item = &T> {
        [&self.target, &self.mask]
            .into_iter()
            .chain([&self.hist, &self.futr, &self.stat].into_iter().flatten())
    }
}

impl OnnxExport<'_> {
    /// The bytes of an ONNX file. Its inputs, all of floats, with the number of windows first:
    ///
    /// * `insample_y [batch, input_size]`, in the data's units, and `insample_mask`, 1 where it is known;
    /// * `hist_exog [batch, input_size, columns]`, `futr_exog [batch, input_size + horizon, columns]` and `stat_exog [batch,
    ///   columns]`, where the model reads any.
    ///
    /// Its output is `forecast [batch, horizon, columns]`, in the data's units. A model of several series has one dimension more,
    /// behind the first: the series, in the order of its training. The file's metadata have the names of all columns.
    ///
    /// # Errors
    /// If an operation of the model, or a column of its loss, is none of ONNX's, or follows from the values of the windows.
    pub fn graph(&self) -> Result<Vec<u8>, OnnxError> {
        check(self.loss)?;
        let decoding = self.network.needs.decoding;
        if decoding.paths().is_some() {
            return Err(OnnxError::Choice { choice: "sample paths, whose steps are drawn at random" });
        }
        if decoding.is_step_by_step() && self.loss.is_distribution() {
            let loss = self.loss.name().to_owned();
            return Err(OnnxError::Loss {
                loss,
                reason: "a mean is computed at each step, to be read at the next",
            });
        }
        let plan = self.plan()?;
        let mut graph = Graph::default();
        let rows = Extent { each: self.dims.n_series, fixed: 0 };
        let inputs = self.inputs(&mut graph, rows);
        let scale = scale_of(&mut graph, self.scaler, &inputs.target, &inputs.mask);
        let scaled = self.scaled(&mut graph, &inputs, scale.as_ref());
        let names = scaled.all().cloned().collect();
        let outputs = Emitter::new(&mut graph, &plan, names).run(operations::find)?;
        let scale = scale.map(|scale| self.of_outputs(&mut graph, scale));
        let forecast = columns(&mut graph, self.loss, self.scaler, &outputs, scale.as_ref());
        self.output(&mut graph, &forecast, rows);
        Ok(graph.into_bytes(self.name, &self.texts()))
    }

    /// The two recorded runs, compared.
    fn plan(&self) -> Result<Plan, OnnxError> {
        // What the parameters compute once for all forecasts is computed before.
        self.run(&self.windows(1, 0));
        let [(few, a), (many, b)] = RUNS.map(|windows| {
            let inputs = self.windows(windows, windows as u64);
            let operands: Vec<TracedOperand> = inputs.all().map(TracedOperand::from).collect();
            let (output, trace): (Tensor, Trace) = traced(operands, || self.run(&inputs));
            (output, trace)
        });
        Plan::new([a, b], self.windows(1, 0).all().count(), [&few, &many])
    }

    /// Windows of random numbers.
    fn windows(&self, windows: usize, seed: u64) -> Inputs<Tensor> {
        let Dims { input_size, horizon, hist_exog, futr_exog, stat_exog, n_series, .. } = self.dims;
        let rows = windows * n_series;
        let key = Key::new(seed);
        let random =
            |draw: u64, shape: &[usize]| Tensor::build(shape, |x| Init::Normal.fill(key.fold(draw), x));
        let known = |mut mask: Tensor| {
            let place = |at: usize| at % input_size;
            let values = mask.values_mut().iter_mut().enumerate();
            values.for_each(|(at, x)| *x = f32::from(place(at) >= input_size / 2 || *x > 0.0));
            mask
        };
        // Places in a table of categories are whole numbers.
        let columns = |draw: u64, shape: &[usize], columns: &ScaledColumns| {
            let count = columns.names.len();
            (count > 0).then(|| {
                let mut x = random(draw, shape);
                let values = x.values_mut().iter_mut().enumerate();
                values
                    .filter(|(at, _)| !columns.holds_numbers[at % count])
                    .for_each(|(_, x)| *x = f32::from(*x > 0.0));
                x
            })
        };
        let [hist, futr, stat] = &self.columns;
        Inputs {
            target: random(1, &[rows, input_size]),
            mask: known(random(2, &[rows, input_size])),
            hist: columns(3, &[rows, input_size, hist_exog], hist),
            futr: columns(4, &[rows, input_size + horizon, futr_exog], futr),
            stat: columns(5, &[rows, stat_exog], stat),
        }
    }

    /// The outputs of the network for scaled windows, `[rows, horizon, outputs]`.
    fn run(&self, inputs: &Inputs<Tensor>) -> Tensor {
        let target = match self.exclude_insample_y {
            true => inputs.target.scale(0.0),
            false => inputs.target.clone(),
        };
        let mut windows = Windows {
            insample_y: target,
            insample_mask: inputs.mask.clone(),
            hist_exog: inputs.hist.clone(),
            futr_exog: inputs.futr.clone(),
            stat_exog: inputs.stat.clone(),
        };
        let (rows, steps) = (inputs.target.shape()[0], self.dims.horizon);
        if self.network.needs.decoding.is_step_by_step() {
            // Nothing of the horizon is known.
            let ahead = Tensor::zeros([rows, steps]);
            windows = shift_target(&windows, &ahead, &ahead);
        }
        let implicit = self.loss.implicit().is_some();
        let fed_back = |last: &Tensor| match implicit {
            true => last.narrow(2, last.shape()[2] - 1, 1).reshape([last.shape()[0], 1]),
            false => mean_of_outputs(last),
        };
        let quantiles: Vec<f32> = self.loss.columns().quantiles().chain([0.5]).collect();
        let cx =
            Forward::inference(self.params).with_key(forecast_key(self.random_seed)).at_quantiles(&quantiles);
        forecast(self.network, &cx, &windows, steps, &fed_back)
    }

    /// The graph's inputs, a window of each series a row.
    fn inputs(&self, graph: &mut Graph, rows: Extent) -> Inputs<Name> {
        let Dims { input_size, horizon, n_series, .. } = self.dims;
        let mut input = |name: &str, sizes: &[usize]| {
            let batch = [Dim::Named("batch")].into_iter();
            let series = self.multivariate.then_some(Dim::Size(n_series));
            let dims: Vec<Dim> =
                batch.chain(series).chain(sizes.iter().map(|&size| Dim::Size(size))).collect();
            let x = graph.input(name, &dims);
            match self.multivariate {
                true => {
                    let shape: Vec<Extent> =
                        [rows].into_iter().chain(sizes.iter().map(|&size| Extent::fixed(size))).collect();
                    graph.reshape(&x, &shape)
                }
                false => x,
            }
        };
        let [hist, futr, stat] = self.columns.each_ref().map(|columns| columns.names.len());
        Inputs {
            target: input("insample_y", &[input_size]),
            mask: input("insample_mask", &[input_size]),
            hist: (hist > 0).then(|| input("hist_exog", &[input_size, hist])),
            futr: (futr > 0).then(|| input("futr_exog", &[input_size + horizon, futr])),
            stat: (stat > 0).then(|| input("stat_exog", &[stat])),
        }
    }

    /// The inputs as the network reads them.
    fn scaled(&self, graph: &mut Graph, inputs: &Inputs<Name>, scale: Option<&Scale>) -> Inputs<Name> {
        let Inputs { target, mask, hist, futr, stat } = inputs;
        let [of_hist, of_futr, _] = &self.columns;
        let mut columns = |x: &Option<Name>, of: &ScaledColumns| {
            let x = x.as_ref()?;
            Some(scaled_columns(graph, self.scaler, (x, mask), self.dims.input_size, &of.holds_numbers))
        };
        let (hist, futr) = (columns(hist, of_hist), columns(futr, of_futr));
        let target = match scale {
            Some(scale) => scaled(graph, self.scaler, target, scale),
            None => target.clone(),
        };
        Inputs { target, mask: mask.clone(), hist, futr, stat: stat.clone() }
    }

    /// The scale of the outputs, `[rows, 1, 1]`: that of the windows `[rows, 1]`, with the learned correction.
    fn of_outputs(&self, graph: &mut Graph, Scale { loc, scale }: Scale) -> Scale {
        let [mut loc, mut scale] = [loc, scale].map(|part| graph.unsqueeze(&part, &[2]));
        if let Some([bias, weight]) = self.params.revin() {
            loc = graph.with_number("Add", &loc, bias);
            scale = graph.with_number("Mul", &scale, weight.max(0.0) + 1e-6);
        }
        Scale { loc, scale }
    }

    fn output(&self, graph: &mut Graph, forecast: &str, rows: Extent) {
        let (steps, count) = (self.dims.horizon, self.loss.suffixes().len());
        let whole = [Extent::fixed(steps), Extent::fixed(count)];
        let (shape, series) = match self.multivariate {
            true => {
                let windows = Extent { each: rows.each / self.dims.n_series, fixed: 0 };
                (vec![windows, Extent::fixed(self.dims.n_series)], Some(Dim::Size(self.dims.n_series)))
            }
            false => (vec![rows], None),
        };
        let shape: Vec<Extent> = shape.into_iter().chain(whole).collect();
        let forecast = graph.reshape(forecast, &shape);
        let dims =
            [Dim::Named("batch")].into_iter().chain(series).chain([Dim::Size(steps), Dim::Size(count)]);
        graph.output("forecast", &forecast, &dims.collect::<Vec<_>>());
    }

    /// What a caller must know of the graph: names are each on a line.
    fn texts(&self) -> Vec<(&'static str, String)> {
        let columns: Vec<String> =
            self.loss.suffixes().iter().map(|suffix| format!("{}{suffix}", self.name)).collect();
        let [hist, futr, stat] = self.columns.each_ref().map(|columns| columns.names.join("\n"));
        let mut texts = vec![
            ("model", self.name.to_owned()),
            ("columns", columns.join("\n")),
            ("input_size", self.dims.input_size.to_string()),
            ("h", self.dims.horizon.to_string()),
            ("scaler_type", self.scaler.name().to_owned()),
        ];
        for (key, names) in [("hist_exog_list", hist), ("futr_exog_list", futr), ("stat_exog_list", stat)] {
            if !names.is_empty() {
                texts.push((key, names));
            }
        }
        texts
    }
}
