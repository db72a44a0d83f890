//! Requests that are computed together have the answers that each has alone.

use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel, TableColumns};
use foretell_server::{
    EngineError, EngineSettings, ForecastAnswer, ForecastEngine, ForecastKind, ForecastRequest,
};
use tempfile::TempDir;

use crate::test_server::{H, columns, values};

/// A directory of networks of several kinds.
fn models() -> TempDir {
    let panel =
        Panel::from_series(Freq::parse("1").unwrap(), [("s0", 0, values(0, 60)), ("s1", 0, values(1, 60))]);
    let panel = panel.unwrap();
    let dir = TempDir::new().unwrap();
    for (name, sizes) in
        [("MLP", vec![("hidden_size", 64)]), ("LSTM", vec![("encoder_hidden_size", 16)]), ("NHITS", vec![])]
    {
        let spec = ModelSpec::new(name, H, 24).unwrap().set("max_steps", 3).unwrap();
        let spec = sizes.into_iter().fold(spec, |spec, (key, value)| spec.set(key, value).unwrap());
        let fitted: Fitted = Forecaster::new([spec]).unwrap().fit(&panel).unwrap();
        fitted.save(dir.path().join(name), false).unwrap();
    }
    dir
}

fn request(model: &str, series: usize, h: usize) -> ForecastRequest {
    let data: TableColumns = serde_json::from_value(columns(&[series], 40 + series)).unwrap();
    let mut request = ForecastRequest::new(data);
    request.model = Some(model.to_owned());
    let ForecastKind::Ahead(asked) = &mut request.asks else { unreachable!("the default") };
    asked.h = Some(h);
    request
}

/// Something that keeps a thread at work while others come.
fn long(model: &str) -> ForecastRequest {
    let mut request = ForecastRequest::new(serde_json::from_value(columns(&[0, 1, 2], 4000)).unwrap());
    request.model = Some(model.to_owned());
    request.asks = ForecastKind::Windows { n_windows: 1000, step_size: 1 };
    request
}

fn bits(answer: &ForecastAnswer) -> Vec<u32> {
    answer.frame.columns.iter().flat_map(|(_, values)| values.iter().map(|y| y.to_bits())).collect()
}

#[test]
fn answers_do_not_depend_on_who_else_asks() {
    let dir = models();
    let names = ["MLP", "LSTM", "NHITS"];
    let engine = ForecastEngine::load(
        names.map(|name| (name, dir.path().join(name))),
        EngineSettings::with(|settings| {
            settings.threads = 1;
        }),
    )
    .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in names {
        // Two horizons, and one id twice: not all can be computed together.
        let asked: Vec<(usize, usize)> =
            (0..12).map(|series| (series, H)).chain([(3, H), (20, 2 * H), (21, 2 * H), (22, H)]).collect();
        let alone: Vec<Vec<u32>> = asked
            .iter()
            .map(|(series, h)| bits(&runtime.block_on(engine.forecast(request(name, *series, *h))).unwrap()))
            .collect();
        let before = engine.together();
        for round in (0..4).cycle().take(24) {
            // Rounds have different numbers of requests, and each number comes often enough to be trusted.
            let asked = &asked[round..];
            let answers = runtime.block_on(async {
                let first = engine.forecast(long(name));
                let others = asked.iter().map(|(series, h)| engine.forecast(request(name, *series, *h)));
                let (_, answers) = tokio::join!(first, all(others));
                answers
            });
            for ((answer, alone), (series, h)) in answers.iter().zip(&alone[round..]).zip(asked) {
                assert_eq!(bits(answer), *alone, "{name}, series {series}, {h} steps, round {round}");
                assert_eq!(answer.frame.n_rows(), *h);
                assert!(answer.frame.ids.iter().all(|id| **id == format!("s{series}")));
            }
        }
        assert!(engine.together() > before || name == "LSTM", "none of {name} was computed together");
    }
}

#[test]
fn what_is_too_much_is_refused_also_of_requests_that_wait() {
    let dir = models();
    let settings = EngineSettings::with(|settings| {
        settings.threads = 1;
        settings.max_levels = 2;
    });
    let engine = ForecastEngine::load([("MLP", dir.path().join("MLP"))], settings).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let asks = |series: usize| {
        let mut request = request("MLP", series, H);
        let ForecastKind::Ahead(asked) = &mut request.asks else { unreachable!("the default") };
        asked.level = vec![50.0, 60.0, 70.0];
        request
    };
    let (_, one, other) = runtime.block_on(async {
        tokio::join!(engine.forecast(long("MLP")), engine.forecast(asks(0)), engine.forecast(asks(1)))
    });
    for answer in [one, other] {
        assert!(matches!(answer, Err(EngineError::TooMany { most: 2, found: 3, .. })), "{answer:?}");
    }
}

/// Waits for all at once.
async fn all<T>(
    futures: impl Iterator<Item = impl Future<Output = Result<T, foretell_server::EngineError>>>,
) -> Vec<T> {
    let mut waiting: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, done) in waiting.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(answer) = future.as_mut().poll(cx)
            {
                *done = Some(answer.expect("an answer"));
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
