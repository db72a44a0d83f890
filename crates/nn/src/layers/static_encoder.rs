//! How a Temporal Fusion Transformer encodes columns that do not change over time (Lim et al. 2021, arXiv 1912.09363,
//! section 4.3), parameters named as in neuralforecast's `StaticCovariateEncoder`.

use foretell_autograd::{Activation, Cell, CellVars, Var};

use crate::{
    EmbeddedNumbers, Forward, GatedResidual, GatedResidualSizes, ResidualContext, Scope, SelectedVariables,
    VariableSelection, VariableSelectionSizes,
};

/// The sizes of a [`StaticEncoder`].
#[derive(Clone, Copy, Debug)]
pub struct StaticEncoderSizes {
    /// Columns.
    pub columns: usize,
    /// Width of each vector.
    pub hidden: usize,
    /// The cell of the recurrent layers whose initial states it makes.
    pub cell: Cell,
    /// The number of these layers.
    pub layers: usize,
    /// Whether all layers start from the same state.
    pub one_state: bool,
    /// The rate of dropout.
    pub dropout: f32,
    /// The activation of the networks that select; those that make contexts have an exponential linear unit.
    pub activation: Activation,
}

/// A selection of the columns (`vsn`), and networks on it that make contexts (`context_grns.0` and so on): of the selection of
/// temporal variables, of the enrichment, then the first h of each recurrent layer, then the first c where the layers are of an
/// LSTM.
#[derive(Clone, Debug)]
pub struct StaticEncoder {
    columns: VariableSelection,
    contexts: [GatedResidual; 2],
    /// The networks for the initial h and, for an LSTM, the initial c: one for each layer, or one for all.
    first: Vec<Vec<GatedResidual>>,
    layers: usize,
}

/// The result of a [`StaticEncoder`].
#[derive(Clone, Debug)]
pub struct StaticContexts {
    /// The context of the selection of temporal variables, `[batch, hidden]`.
    pub selection: Var,
    /// The context of the enrichment, `[batch, hidden]`.
    pub enrichment: Var,
    /// The initial state of each recurrent layer.
    pub start: Vec<CellVars>,
    /// The weights of the columns, `[batch, columns]`.
    pub weights: Var,
}

impl StaticEncoder {
    /// Registers the parameters in `scope`.
    ///
    /// # Panics
    /// If there are no columns.
    #[track_caller]
    pub fn new(scope: &mut Scope<'_>, sizes: &StaticEncoderSizes) -> Self {
        let &StaticEncoderSizes { columns, hidden, cell, layers, one_state, dropout, activation } = sizes;
        let selection =
            VariableSelectionSizes { variables: columns, hidden, reads_context: false, dropout, activation };
        let columns = VariableSelection::new(&mut scope.at("vsn"), &selection);
        let sizes = GatedResidualSizes {
            inputs: hidden,
            hidden,
            outputs: None,
            context: ResidualContext::None,
            dropout,
            activation: Activation::Elu { alpha: 1.0 },
        };
        let mut scope = scope.at("context_grns");
        let mut number = 0;
        let mut next = || {
            number += 1;
            GatedResidual::new(&mut scope.at(number - 1), &sizes)
        };
        let contexts = [next(), next()];
        let kinds = if cell == Cell::Lstm { 2 } else { 1 };
        let states = if one_state { 1 } else { layers };
        let first = (0..kinds).map(|_| (0..states).map(|_| next()).collect()).collect();
        Self { columns, contexts, first, layers }
    }

    /// The contexts of `x`, numbers `[batch, columns]`.
    ///
    /// # Panics
    /// If there is another number of columns.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &EmbeddedNumbers) -> StaticContexts {
        let SelectedVariables { sum, weights } = self.columns.forward(cx, x, None);
        let [selection, enrichment] = self.contexts.each_ref().map(|network| network.forward(cx, &sum, None));
        let states = |networks: &Vec<GatedResidual>| -> Vec<Var> {
            let states: Vec<Var> = networks.iter().map(|network| network.forward(cx, &sum, None)).collect();
            states.iter().cycle().take(self.layers).cloned().collect()
        };
        let [h, c] = [0, 1].map(|kind| self.first.get(kind).map(states));
        let start = h.into_iter().flatten().enumerate();
        let start = start.map(|(k, h)| CellVars { h, c: c.as_ref().map(|c| c[k].clone()) }).collect();
        StaticContexts { selection, enrichment, start, weights }
    }
}
