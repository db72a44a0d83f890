//! What each model is for, in a few words.

/// A model and its use.
const USES: [(&str, &str); 70] = [
    ("NLinear", "a line, from the last value"),
    ("DLinear", "lines for trend and rest"),
    ("RLinear", "a line on scaled windows"),
    ("MLP", "plain network, any columns"),
    ("NBEATS", "trend and season from bases"),
    ("NBEATSx", "NBEATS that reads columns"),
    ("NHITS", "long horizons, many series"),
    ("TiDE", "many columns, fast"),
    ("DeepNPTS", "weighs past values, any shape"),
    ("KAN", "learned curves as layers"),
    ("RNN", "plain recurrent, step by step"),
    ("LSTM", "long memory, step by step"),
    ("GRU", "memory with fewer weights"),
    ("LSTMAttention", "memory with attention"),
    ("DilatedRNN", "recurrent over long strides"),
    ("xLSTM", "larger memory, slow"),
    ("TCN", "convolutions over the past"),
    ("BiTCN", "convolutions, future columns"),
    ("DeepAR", "distributions, step by step"),
    ("MLPMultivariate", "series together, plain network"),
    ("TSMixer", "series together, mixed layers"),
    ("TSMixerx", "series together, with columns"),
    ("XLinear", "series together, gated lines"),
    ("RMoK", "series together, mixed experts"),
    ("StemGNN", "series together, as a graph"),
    ("TimeMixer", "series together, many scales"),
    ("SOFTS", "many series together, fast"),
    ("SOFTSSharp", "SOFTS with more layers"),
    ("Autoformer", "attention to what repeats"),
    ("FEDformer", "attention to frequencies"),
    ("VanillaTransformer", "attention, the plain form"),
    ("Informer", "attention to few steps, long"),
    ("TFT", "columns, and which count"),
    ("PatchTST", "long histories in stretches"),
    ("TimesNet", "periods as pictures, slow"),
    ("TimeLLM", "a language model, slow"),
    ("iTransformer", "series together, attention"),
    ("TimeXer", "series together, with columns"),
    ("Naive", "baseline: the last value"),
    ("SeasonalNaive", "baseline: the last season"),
    ("HistoricAverage", "values that only scatter"),
    ("WindowAverage", "the mean of late values"),
    ("SeasonalWindowAverage", "the mean of late seasons"),
    ("RandomWalkWithDrift", "steady growth, no season"),
    ("AutoETS", "no setting: trend and season"),
    ("ETS", "smoothing of a named form"),
    ("Holt", "level and trend"),
    ("HoltWinters", "level, trend and season"),
    ("AutoARIMA", "no setting: the best alone"),
    ("ARIMA", "named orders"),
    ("AutoCES", "no setting, one smooth form"),
    ("MSTL", "several or long seasons"),
    ("MFLES", "long seasons, robust trend"),
    ("AutoTheta", "no setting: simple and robust"),
    ("Theta", "simple and hard to beat"),
    ("OptimizedTheta", "Theta with a fitted slope"),
    ("DynamicTheta", "Theta with a moving slope"),
    ("DynamicOptimizedTheta", "Theta, fitted and moving"),
    ("CrostonClassic", "demand with many zeros"),
    ("CrostonOptimized", "Croston, fitted"),
    ("CrostonSBA", "Croston without its bias"),
    ("ADIDA", "rare demand, longer periods"),
    ("IMAPA", "rare demand, several periods"),
    ("TSB", "demand that dies out"),
    ("Prophet", "days with holidays and breaks"),
    ("FLAIR", "no setting: shape times level"),
    ("Foretell0", "no training: pretrained"),
    ("Pretrained", "weights of others, in folders"),
    ("Auto", "all that suit, combined"),
    ("Temporal", "hours with days, reconciled"),
];

/// What a model is for; nothing of one that is not foretell's.
pub(crate) fn use_of(model: &str) -> &'static str {
    USES.iter().find(|(name, _)| *name == model).map_or("", |(_, is_for)| is_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_its_use_in_a_few_words() {
        for name in foretell::model_names() {
            let is_for = use_of(name);
            assert!((2..=6).contains(&is_for.split_whitespace().count()), "{name}: {is_for:?}");
            assert!(is_for.len() <= 30, "{name}: {is_for:?}");
        }
    }
}
