//! Categorical columns: each is replaced by its embedding before a model sees it.

use std::sync::Arc;

use foretell_nn::{
    Dims, EmbeddedWindows, Embedding, Forward, Inputs, Model, Scope, StepState, Tensor, Var, Windows,
};
use serde_json::Value;

/// A categorical column, and how it is embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoricalColumn {
    /// Its place among the columns of its kind.
    pub column: usize,
    /// The largest number of categories that the column may have, without the one for unseen values.
    pub cardinality: usize,
    /// The width of each category's embedding.
    pub width: usize,
}

impl CategoricalColumn {
    /// The embedding width that a rule (`cat_emb_dim`) gives for `cardinality` categories: a number, or the name of a
    /// rule of thumb; `None` if there is no such rule.
    pub fn width(rule: &Value, cardinality: usize) -> Option<usize> {
        let n = cardinality as f64;
        let width = match rule.as_str() {
            None => return rule.as_u64().and_then(|width| width.try_into().ok()).filter(|&width| width > 0),
            // Howard and Gugger 2020, "fastai: a layered API for deep learning".
            Some("fastai") => (1.6 * n.powf(0.56)).ceil(),
            Some("sqrt") => n.sqrt().ceil(),
            Some("half") => (n / 2.0).ceil(),
            Some(_) => return None,
        };
        Some(width.clamp(1.0, 50.0) as usize)
    }
}

/// The categorical columns of a model, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CategoricalColumns {
    /// Among the columns known for the past only.
    pub hist: Vec<CategoricalColumn>,
    /// Among the columns known for past and future.
    pub futr: Vec<CategoricalColumn>,
    /// Among the columns that do not change over time.
    pub stat: Vec<CategoricalColumn>,
}

impl CategoricalColumns {
    fn is_empty(&self) -> bool {
        self.hist.is_empty() && self.futr.is_empty() && self.stat.is_empty()
    }

    /// `dims` with each categorical column counted by the width of its embedding: the sizes that the model sees.
    fn embedded(&self, dims: &Dims) -> Dims {
        let wider = |columns: usize, categories: &[CategoricalColumn]| {
            categories.iter().fold(columns, |columns, category| (columns - 1).saturating_add(category.width))
        };
        Dims {
            hist_exog: wider(dims.hist_exog, &self.hist),
            futr_exog: wider(dims.futr_exog, &self.futr),
            stat_exog: wider(dims.stat_exog, &self.stat),
            ..*dims
        }
    }

    /// Registers the embeddings of these columns and puts them before the model that `build` makes for the embedded
    /// sizes.
    pub(crate) fn embed_before<E>(
        &self,
        dims: &Dims,
        scope: &mut Scope<'_>,
        build: impl FnOnce(&Dims, &mut Scope<'_>) -> Result<Box<dyn Model>, E>,
    ) -> Result<Box<dyn Model>, E> {
        if self.is_empty() {
            return build(dims, scope);
        }
        let mut tables = |name: &str, categories: &[CategoricalColumn]| {
            let mut scope = scope.at(name);
            let tables = categories.iter().enumerate();
            let tables = tables.map(|(i, &category)| {
                (category.column, Embedding::new(&mut scope.at(i), category.cardinality, category.width))
            });
            Tables(tables.collect())
        };
        let hist = tables("hist_cat_embeddings", &self.hist);
        let futr = tables("futr_cat_embeddings", &self.futr);
        let stat = tables("stat_cat_embeddings", &self.stat);
        Ok(Box::new(Embedded { hist, futr, stat, model: build(&self.embedded(dims), scope)?.into() }))
    }
}

/// The embeddings of the categorical columns of one kind, with the places of the columns.
struct Tables(Vec<(usize, Embedding)>);

impl Tables {
    /// The columns that are not categorical, then the embeddings of the others: `[..., columns]` to
    /// `[..., wider]`.
    fn embed(&self, cx: &Forward<'_>, columns: &Var) -> Var {
        if self.0.is_empty() {
            return columns.clone();
        }
        let axis = columns.shape().len() - 1;
        let count = columns.shape()[axis];
        let plain = self.plain(count).map(|column| columns.narrow(axis, column, 1));
        let embedded = self.0.iter().map(|(place, table)| {
            let ids = columns.value().narrow(axis, *place, 1);
            table.forward(cx, &ids.reshape(ids.shape().without(axis)))
        });
        let parts: Vec<Var> = plain.chain(embedded).collect();
        Var::concat(&parts.iter().collect::<Vec<_>>(), axis)
    }

    /// Those of `count` columns that hold no categories.
    fn plain(&self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(|column| self.0.iter().all(|(place, _)| place != column))
    }

    /// The same as tensors, and which column each is of.
    fn embed_tensor(&self, cx: &Forward<'_>, columns: &Tensor) -> (Tensor, Vec<usize>) {
        let axis = columns.shape().len() - 1;
        let embedded = self.embed(cx, &Var::constant(columns.clone())).value().clone();
        let mut of: Vec<usize> = self.plain(columns.shape()[axis]).collect();
        of.extend(self.0.iter().flat_map(|(place, table)| std::iter::repeat_n(*place, table.width())));
        (embedded, of)
    }
}

/// A model behind the embeddings of its categorical columns.
struct Embedded {
    hist: Tables,
    futr: Tables,
    stat: Tables,
    model: Arc<dyn Model>,
}

impl Embedded {
    fn inputs(&self, cx: &Forward<'_>, windows: &Inputs) -> Inputs {
        let embed = |tables: &Tables, columns: &Option<Var>| {
            columns.as_ref().map(|columns| tables.embed(cx, columns))
        };
        Inputs {
            hist_exog: embed(&self.hist, &windows.hist_exog),
            futr_exog: embed(&self.futr, &windows.futr_exog),
            stat_exog: embed(&self.stat, &windows.stat_exog),
            ..windows.clone()
        }
    }
}

impl Model for Embedded {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        self.model.forward(cx, &self.inputs(cx, windows))
    }

    fn embed(&self, cx: &Forward<'_>, windows: &Windows) -> Option<EmbeddedWindows> {
        let embed = |tables: &Tables, columns: &Option<Tensor>| {
            columns.as_ref().map(|columns| tables.embed_tensor(cx, columns)).unzip()
        };
        let (hist_exog, hist) = embed(&self.hist, &windows.hist_exog);
        let (futr_exog, futr) = embed(&self.futr, &windows.futr_exog);
        let (stat_exog, stat) = embed(&self.stat, &windows.stat_exog);
        let windows = Windows { hist_exog, futr_exog, stat_exog, ..windows.clone() };
        Some(EmbeddedWindows { windows, columns: [hist, futr, stat].map(Option::unwrap_or_default) })
    }

    fn behind_embeddings(&self) -> Option<Arc<dyn Model>> {
        Some(self.model.clone())
    }

    fn keeps_state(&self) -> bool {
        self.model.keeps_state()
    }

    fn step(&self, cx: &Forward<'_>, windows: &Inputs, state: &mut StepState) -> Var {
        self.model.step(cx, &self.inputs(cx, windows), state)
    }
}
