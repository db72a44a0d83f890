//! The list of models.

use crate::architecture::ModelEntry;

/// One line per model, `family::file::Config`: it adds the model to [`MODELS`], tests it against neuralforecast and runs the
/// conformance tests on it.
macro_rules! zoo {
    ($($family:ident::$file:ident::$config:ident,)*) => {
        /// All models, in the order in which they are listed to users.
        pub static MODELS: &[ModelEntry] = &[$(ModelEntry::of::<crate::$family::$file::$config>()),*];

        #[cfg(test)]
        mod tests {$(
            mod $file {
                const NAME: &str = <crate::$family::$file::$config as crate::architecture::Architecture>::NAME;

                #[test]
                fn conforms() {
                    crate::conformance::check(NAME);
                }

                #[test]
                fn agrees_with_neuralforecast() {
                    crate::parity::check(NAME);
                }
            }
        )*}
    };
}

zoo! {
    linear::nlinear::NLinear,
    linear::dlinear::DLinear,
    linear::rlinear::RLinear,
    linear::mlp::Mlp,
    linear::nbeats::Nbeats,
    linear::nbeatsx::Nbeatsx,
    linear::nhits::Nhits,
    linear::tide::Tide,
    linear::deep_npts::DeepNpts,
    linear::kan::Kan,
    recurrent::rnn::Rnn,
    recurrent::lstm::Lstm,
    recurrent::gru::Gru,
    recurrent::lstm_attention::LstmAttention,
    recurrent::dilated_rnn::DilatedRnn,
    recurrent::xlstm::XLstm,
    convolution::tcn::Tcn,
    convolution::bitcn::BiTcn,
    recurrent::deepar::DeepAr,
    mixer::mlp_multivariate::MlpMultivariate,
    mixer::tsmixer::TsMixer,
    mixer::tsmixerx::TsMixerx,
    mixer::xlinear::XLinear,
    mixer::rmok::Rmok,
    mixer::stemgnn::StemGnn,
    mixer::timemixer::TimeMixer,
    mixer::softs::Softs,
    mixer::softs_sharp::SoftsSharp,
    transformer::autoformer::Autoformer,
    transformer::fedformer::Fedformer,
    transformer::vanilla_transformer::VanillaTransformer,
    transformer::informer::Informer,
    transformer::tft::Tft,
    transformer::patch_tst::PatchTst,
    transformer::timesnet::TimesNet,
    transformer::timellm::TimeLlm,
    mixer::itransformer::ITransformer,
    mixer::timexer::TimeXer,
}
