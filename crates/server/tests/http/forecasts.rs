//! Forecasts over HTTP are those of the library, to the last bit.

use std::path::Path;
use std::thread;

use foretell::{
    Attribution, ExplainOptions, FileFormat, Fitted, Forecaster, Frame, Freq, MemoryTable, Panel,
    PredictOptions, ReadOptions,
};
use foretell_auto::Auto;
use foretell_server::{EngineSettings, ServeSettings};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::test_server::{H, TestServer, columns, model_dir, values};

/// The library's forecasts for these columns.
fn expected(data: &Value, options: &PredictOptions<'_>) -> Frame {
    let table = MemoryTable::of_columns("data", serde_json::from_value(data.clone()).unwrap());
    let fitted = Fitted::load(model_dir()).unwrap();
    let read = ReadOptions::new().freq(fitted.freq());
    fitted.predict_with(&Panel::from_memory(&table, &read).unwrap(), options).unwrap()
}

/// The bits of a column of JSON.
fn bits(column: &Value) -> Vec<u32> {
    let number = |value: &Value| value.to_string().parse::<f32>().unwrap().to_bits();
    column.as_array().unwrap().iter().map(number).collect()
}

fn assert_same(answer: &Value, expected: &Frame) {
    let columns = answer["columns"].as_object().unwrap();
    let ids: Vec<&str> =
        columns["unique_id"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids, expected.ids.iter().map(|id| &**id).collect::<Vec<_>>());
    assert_eq!(columns["ds"], json!(expected.times));
    assert_eq!(columns.len(), 2 + expected.columns.len(), "{:?}", columns.keys());
    for (name, values) in &expected.columns {
        assert_eq!(bits(&columns[name]), values.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), "{name}");
    }
}

/// Columns as the lines of a CSV file.
fn to_csv(data: &Value) -> String {
    let cells = |name: &str| data[name].as_array().unwrap().clone();
    let (ids, times, y) = (cells("unique_id"), cells("ds"), cells("y"));
    let mut text = "unique_id,ds,y\n".to_owned();
    for ((id, time), y) in ids.iter().zip(times).zip(y) {
        text += &format!("{},{time},{y}\n", id.as_str().unwrap());
    }
    text
}

#[test]
fn json_and_csv_are_answered_with_the_bits_of_the_library() {
    let server = TestServer::new();
    let mut client = server.client();
    let data = columns(&[0, 3], 40);
    let answer = client.post("/v1/forecast", "application/json", json!({ "data": data }).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let expected_frame = expected(&data, &PredictOptions::new());
    assert_same(&answer.json(), &expected_frame);
    assert_eq!(answer.json()["model"], "sales");

    let text = to_csv(&data);
    let answer = client.post("/v1/forecast?model=sales", "text/csv", &text);
    let mut csv = Vec::new();
    expected_frame.write_csv(&mut csv).unwrap();
    assert_eq!(answer.header("content-type"), Some("text/csv"));
    assert_eq!(answer.text(), std::str::from_utf8(&csv).unwrap());

    let headers = [("content-type", "text/csv"), ("accept", "application/json")];
    let answer = client.ask("POST", "/v1/forecast", &headers, text.as_bytes());
    assert_same(&answer.json(), &expected_frame);
}

#[test]
fn intervals_quantiles_and_further_steps_are_those_of_the_library() {
    let server = TestServer::new();
    let mut client = server.client();
    let data = columns(&[0, 1], 40);
    let mut ask = |fields: Value| {
        let mut request = json!({ "data": data });
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let answer = client.post("/v1/forecast", "application/json", request.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let answer = ask(json!({"h": 2 * H, "model": "sales"}));
    assert_same(&answer, &expected(&data, &PredictOptions::new().h(2 * H)));
    let level = expected(&data, &PredictOptions::new().level(&[60.0]));
    let answer = ask(json!({"level": [60]}));
    assert_same(&answer, &level);
    let intervals = json!([{"level": 60.0, "low": "NLinear-lo-60", "high": "NLinear-hi-60"}]);
    let forecast = json!({"model": "NLinear", "point": "NLinear", "intervals": intervals});
    assert!(answer["forecasts"].as_array().unwrap().contains(&forecast), "{}", answer["forecasts"]);
    let quantiles = expected(&data, &PredictOptions::new().quantiles(&[0.2, 0.5]));
    assert!(quantiles.columns.iter().any(|(name, _)| name == "NLinear-ql0.2"), "{quantiles:?}");
    assert_same(&ask(json!({"quantiles": [0.2, 0.5]})), &quantiles);
}

#[test]
fn a_form_carries_tables_and_fields() {
    let server = TestServer::new();
    let data = columns(&[2], 30);
    let form = format!(
        "--b\r\ncontent-disposition: form-data; name=\"data\"; filename=\"sales.csv\"\r\n\r\n{}\r\n\
         --b\r\ncontent-disposition: form-data; name=\"h\"\r\n\r\n2\r\n--b--\r\n",
        to_csv(&data)
    );
    let answer = server.client().post("/v1/forecast", "multipart/form-data; boundary=b", &form);
    assert_same(&answer.json(), &expected(&data, &PredictOptions::new().h(2)));
    let answer = server.client().post(
        "/v1/forecast",
        "multipart/form-data; boundary=b",
        form.replace("\r\n\r\n2\r\n", "\r\n\r\n4\r\n"),
    );
    assert_same(&answer.json(), &expected(&data, &PredictOptions::new()));
}

#[test]
fn requests_side_by_side_are_answered_as_alone() {
    let server = TestServer::new();
    thread::scope(|scope| {
        for number in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let data = columns(&[number, number + 8], 20 + number);
                let expected = expected(&data, &PredictOptions::new());
                let mut client = server.client();
                for _ in 0..20 {
                    let body = json!({ "data": data }).to_string();
                    assert_same(&client.post("/v1/forecast", "application/json", body).json(), &expected);
                }
            });
        }
    });
}

#[test]
fn past_windows_are_forecast_beside_the_truth() {
    let server = TestServer::new();
    let data = columns(&[0], 30);
    let body = json!({"data": data, "n_windows": 2, "step_size": 3}).to_string();
    let answer = server.client().post("/v1/cross-validate", "application/json", body);
    let columns = answer.json()["columns"].clone();
    assert_eq!(columns["cutoff"], json!([22, 22, 22, 22, 25, 25, 25, 25]));
    assert_eq!(bits(&columns["y"])[7], bits(&data["y"])[29]);
    assert_eq!(columns["LSTM"].as_array().unwrap().len(), 2 * H);
}

#[test]
fn models_are_listed_with_what_requests_need() {
    let server = TestServer::new();
    let models = server.client().get("/v1/models").json();
    let model = &models["models"][0];
    assert_eq!((&model["name"], &model["h"], &model["freq"]), (&json!("sales"), &json!(H), &json!("1")));
    assert_eq!(model["columns"], json!(["LSTM", "NLinear"]));
}

#[test]
fn mistakes_are_told_as_on_the_command_line() {
    let server = TestServer::new();
    let mut client = server.client();
    let mut ask = |body: Value| client.post("/v1/forecast", "application/json", body.to_string());
    let mut data = columns(&[0], 12);
    let unknown = ask(json!({"data": data, "model": "other"})).detail(404);
    assert!(unknown.contains("\"other\"") && unknown.contains("sales"), "{unknown}");
    data["y"][5] = json!("abc");
    let bad = ask(json!({ "data": data })).detail(422);
    assert!(bad.starts_with("data, row 5, column `y`: \"abc\""), "{bad}");
    data["y"] = json!([1, 2]);
    assert!(ask(json!({ "data": data })).detail(422).contains("2 values where 12"));
    assert!(ask(json!({ "data": {"unique_id": []} })).detail(422).contains("no column"));
    assert!(ask(json!({ "date": {} })).detail(400).contains("unknown field `date`"));
    let sound = columns(&[0], 12);
    let none = ask(json!({"data": sound, "h": 0})).detail(400);
    assert!(none.contains("h, the steps to forecast, must be at least 1, found 0"), "{none}");
    let both = ask(json!({"data": sound, "level": [80], "quantiles": [0.1]})).detail(400);
    assert!(both.contains("either intervals of some levels or some quantiles, found both"), "{both}");
    let server_lines = client.post("/v1/forecast", "text/csv", "unique_id,ds,y\na,1,2\na,2,x\n").detail(422);
    assert!(server_lines.starts_with("data, line 3, column `y`: \"x\""), "{server_lines}");
    let empty = client.post("/v1/forecast?level=", "text/csv", "unique_id,ds,y\na,1,2\n").detail(400);
    assert!(empty.starts_with("level must be numbers with commas between them"), "{empty}");
    assert!(client.post("/v1/forecast", "text/html", "x").detail(415).contains("text/csv"));
    let headers = [("content-type", "text/csv"), ("accept", "image/png")];
    assert!(client.ask("POST", "/v1/forecast", &headers, b"x").detail(406).contains("text/csv"));
    assert!(client.get("/v1/forecast").detail(405).contains("POST"));
    assert!(client.get("/etc/passwd").detail(404).contains("/v1/forecast"));
}

#[test]
fn columns_that_are_missing_are_told_with_those_that_are_there_and_how_to_name_them() {
    let server = TestServer::new();
    let mut client = server.client();
    let data = columns(&[0, 1], 12);
    let known = client.post("/v1/forecast", "application/json", json!({ "data": data }).to_string()).json();
    let renamed = json!({"shop": data["unique_id"], "day": data["ds"], "sold": data["y"]});
    let mut reading = Map::new();
    for (field, name, others) in [
        (
            "time_col",
            "day",
            "`shop`, `day`, `sold`; say which column has the times (`reading.time_col`), and which the values",
        ),
        (
            "target_col",
            "sold",
            "say which column has the values to forecast (`reading.target_col`), and which the ids",
        ),
        ("id_col", "shop", "say which column has their ids (`reading.id_col`)"),
    ] {
        let body = json!({"data": renamed, "reading": reading});
        let detail = client.post("/v1/forecast", "application/json", body.to_string()).detail(422);
        assert!(detail.contains(others), "{detail}");
        reading.insert(field.to_owned(), name.into());
    }
    let body = json!({"data": renamed, "reading": reading}).to_string();
    assert_eq!(client.post("/v1/forecast", "application/json", body).json()["columns"], known["columns"]);
}

#[test]
fn a_request_may_say_how_its_tables_are_read() {
    let server = TestServer::new();
    let mut client = server.client();
    let mut data = columns(&[0], 12);
    data["y"][5] = Value::Null;
    let ask = |reading: Value| json!({"data": data, "reading": reading}).to_string();
    let gap = client.post("/v1/forecast", "application/json", ask(json!({}))).detail(422);
    assert!(gap.contains("row 5"), "{gap}");
    let filled = json!({"fill": "forward", "keep_partial": true});
    let filled = client.post("/v1/forecast", "application/json", ask(filled));
    assert_eq!(filled.status, 200, "{}", filled.text());
    let fixed = client.post("/v1/forecast", "application/json", ask(json!({"max_memory": 1}))).detail(400);
    assert!(fixed.contains("reading.max_memory"), "{fixed}");
}

#[test]
fn parquet_and_arrow_are_answered_in_kind() {
    let server = TestServer::new();
    let data = columns(&[0, 3], 40);
    let wanted = expected(&data, &PredictOptions::new());
    let (ids, y) = (data["unique_id"].as_array().unwrap(), data["y"].as_array().unwrap());
    let table = Frame {
        ids: ids.iter().map(|id| id.as_str().unwrap().into()).collect(),
        times: data["ds"].as_array().unwrap().iter().map(|time| time.as_i64().unwrap()).collect(),
        columns: vec![("y".into(), y.iter().map(|y| y.to_string().parse().unwrap()).collect())],
        ..Frame::new(wanted.freq)
    };
    for (media, name) in
        [("application/vnd.apache.parquet", "t.parquet"), ("application/vnd.apache.arrow.stream", "t.arrows")]
    {
        let (format, mut file) = (FileFormat::of(name), Vec::new());
        let mut writer = format.writer(Box::new(&mut file), table.time_style(), '.').unwrap();
        writer.write(&table).unwrap();
        writer.finish().unwrap();
        let answer = server.client().post("/v1/forecast", media, &file);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some(media)),
            "{}",
            answer.body.len()
        );
        // The answer read back: the columns of the models have the names of targets.
        for (name, values) in &wanted.columns {
            let table = MemoryTable::new("answer", format, answer.body.clone());
            let options = ReadOptions::new().target_col(name).columns([""; 0]);
            let panel = Panel::from_memory(&table, &options).unwrap();
            assert_eq!([panel.y(0), panel.y(1)].concat(), *values, "{name}");
        }
    }
}

#[test]
fn contributions_are_those_of_the_library() {
    let server = TestServer::new();
    let mut client = server.client();
    let data = columns(&[0, 1], 40);
    let table = MemoryTable::of_columns("data", serde_json::from_value(data.clone()).unwrap());
    let fitted = Fitted::load(model_dir()).unwrap();
    let panel = Panel::from_memory(&table, &ReadOptions::new().freq(fitted.freq())).unwrap();
    let only = ["NLinear".to_owned()];
    let shapley = Attribution::ShapleySampling { permutations: 3, seed: 7 };
    let asked = [
        (json!({}), ExplainOptions::default()),
        (json!({"h": 2 * H + 1}), ExplainOptions::default().h(2 * H + 1)),
        (json!({"method": "input-x-gradient"}), ExplainOptions::new(Attribution::InputXGradient)),
        (
            json!({"method": "shapley-sampling", "samples": 3, "seed": 7, "only": ["NLinear"]}),
            ExplainOptions::new(shapley).models(&only),
        ),
    ];
    for (fields, options) in asked {
        let mut request = json!({ "data": data });
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let answer = client.post("/v1/explain", "application/json", request.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_same(&answer.json(), &fitted.explain(&panel, &options).unwrap());
    }
    let answer = client.post("/v1/explain?method=input-x-gradient&only=NLinear", "text/csv", to_csv(&data));
    assert!(answer.text().starts_with("unique_id,ds,NLinear:baseline,NLinear:y@"), "{}", answer.text());
    for (fields, words) in [
        (r#""points": 0"#, "from 1 to 1000, found 0"),
        (r#""method": "lime""#, "shapley-sampling"),
        (r#""seed": 1"#, "another method"),
        (r#""level": [80]"#, "/v1/forecast"),
        (r#""only": ["MLP"]"#, "MLP"),
    ] {
        let detail = client
            .post("/v1/explain", "application/json", format!(r#"{{"data": {data}, {fields}}}"#))
            .detail(400);
        assert!(detail.contains(words), "{fields}: {detail}");
    }
}

/// Folders of small networks of random weights.
#[test]
fn folders_of_pretrained_networks_are_served() {
    let kinds = ["bolt", "chronos2", "fracast", "fracast-int8", "timesfm", "tirex"];
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pretrained/tests/fixtures");
    let models = kinds.map(|kind| (kind, fixtures.join(kind)));
    let server = TestServer::with(&models, EngineSettings::default(), ServeSettings::default());
    let mut client = server.client();
    let listed = client.get("/v1/models").json();
    assert!(listed["models"].as_array().unwrap().iter().all(|model| model["freq"].is_null()), "{listed}");
    let data = columns(&[0, 1], 40);
    let table = MemoryTable::of_columns("data", serde_json::from_value(data.clone()).unwrap());
    let panel = Panel::from_memory(&table, &ReadOptions::new()).unwrap();
    for kind in kinds {
        let body = json!({ "model": kind, "data": data, "h": 5, "level": [80] });
        let answer = client.post("/v1/forecast", "application/json", body.to_string());
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
        let options = PredictOptions::new().h(5).level(&[80.0]);
        let fitted = Fitted::load(fixtures.join(kind)).unwrap();
        assert_same(&answer.json(), &fitted.predict_with(&panel, &options).unwrap());
    }
}

#[test]
fn models_that_are_combined_are_explained() {
    Auto::register();
    let dir = TempDir::new().unwrap();
    let freq = Freq::parse("1").unwrap();
    let panel = Panel::from_series(freq, [("s0", 0, values(0, 60))]).unwrap();
    let auto = Auto::new(H).with("models", vec!["DynamicOptimizedTheta"]).unwrap();
    let path = dir.path().join("model");
    Forecaster::new([auto.into()]).unwrap().fit(&panel).unwrap().save(&path, false).unwrap();
    let server = TestServer::with(&[("best", path)], EngineSettings::default(), ServeSettings::default());
    let mut client = server.client();
    let data = json!({ "data": columns(&[0], 60) }).to_string();
    let [explained, forecast] = ["/v1/explain", "/v1/forecast"].map(|path| {
        let answer = client.post(path, "application/json", &data);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["columns"].clone()
    });
    let all = explained.as_object().unwrap();
    let names: Vec<&str> = all.keys().map(String::as_str).filter(|name| name.contains(':')).collect();
    assert!(names.contains(&"Auto:baseline") && names.contains(&"Auto:limits"), "{names:?}");
    let sum: f64 = names.iter().map(|name| all[*name][0].as_f64().unwrap()).sum();
    assert!((sum - forecast["Auto"][0].as_f64().unwrap()).abs() < 1e-4, "{explained} {forecast}");
}

#[test]
fn data_that_are_written_otherwise_than_those_of_the_training_are_read_by_their_rows() {
    let server = TestServer::new();
    let mut client = server.client();
    let of = |separator: &str, decimal: &str| {
        let row = |id: usize, time: usize| {
            let y = format!("{:.2}", 20.25 + (time * (id + 3) % 7) as f64).replace('.', decimal);
            ["s".to_owned() + &id.to_string(), time.to_string(), y].join(separator) + "\n"
        };
        let rows = (0..2).flat_map(|id| (0..12).map(move |time| row(id, time)));
        ["unique_id", "ds", "y"].join(separator) + "\n" + &rows.collect::<String>()
    };
    let mut ask = |path: &str, text: String| {
        let headers = [("content-type", "text/csv"), ("accept", "application/json")];
        client.ask("POST", path, &headers, text.as_bytes())
    };
    let expected = ask("/v1/forecast", of(",", "."));
    assert_eq!(expected.status, 200, "{}", expected.text());
    let answer = ask("/v1/forecast", of(";", ","));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["columns"], expected.json()["columns"]);
    // What the request says is not looked at.
    let said = r#"/v1/forecast?reading={"numbers":[".",null]}"#.replace('"', "%22");
    assert!(ask(&said, of(";", ",")).detail(422).contains("has a decimal comma"));
}
