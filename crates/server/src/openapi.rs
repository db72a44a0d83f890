//! The description of the addresses that `/openapi.json` gives.

use serde_json::{Map, Value, json};

use crate::address::{ADDRESSES, Address};
use crate::media_type::MediaType;

/// The description of all addresses, OpenAPI 3.1.
pub(crate) fn document() -> Value {
    let paths: Map<String, Value> = ADDRESSES
        .into_iter()
        .map(|address| (address.path.to_owned(), json!({ (address.method): operation(address) })))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "foretell",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Forecasts of time series with saved models",
        },
        "paths": paths,
        "components": {
            "schemas": { "Request": request(), "Answer": answer(), "Problem": problem() },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(address: Address) -> Value {
    let (summary, ok) = match address.path {
        "/v1/forecast" => ("Forecast the steps after the end of each series", tables()),
        "/v1/cross-validate" => {
            ("Forecast the end of each series, beside the truth; models are not trained", tables())
        }
        "/v1/explain" => ("What each input contributes to the forecasts of networks", tables()),
        "/v1/models" => ("The models, with what requests need to know of them", content("application/json")),
        "/healthz" => ("Whether the process is alive", content("application/json")),
        "/readyz" => ("Whether requests are taken", content("application/json")),
        "/metrics" => ("Counters for Prometheus", content("text/plain")),
        "/openapi.json" => ("This description", content("application/json")),
        _ => ("A page to forecast with", content("text/html")),
    };
    let mut operation = json!({
        "summary": summary,
        "responses": {
            "200": ok,
            "default": {
                "description": "An error; `detail` says what to do",
                "content": {
                    "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } },
                },
            },
        },
    });
    if address.method == "post" {
        operation["requestBody"] = json!({ "required": true, "content": bodies() });
    }
    if address.guarded {
        // A server without a token wants none.
        operation["security"] = json!([{ "token": [] }, {}]);
    }
    operation
}

fn content(media: &str) -> Value {
    json!({ "description": "It is so", "content": { (media): {} } })
}

fn tables() -> Value {
    let content: Map<String, Value> = MediaType::built()
        .map(|media| {
            let schema = match media {
                MediaType::Json => json!({ "schema": { "$ref": "#/components/schemas/Answer" } }),
                _ => json!({}),
            };
            (media.name().to_owned(), schema)
        })
        .collect();
    json!({ "description": "The forecasts, a row per series and step", "content": content })
}

fn bodies() -> Value {
    let mut content: Map<String, Value> = MediaType::built()
        .map(|media| {
            let schema = match media {
                MediaType::Json => json!({ "schema": { "$ref": "#/components/schemas/Request" } }),
                _ => json!({}),
            };
            (media.name().to_owned(), schema)
        })
        .collect();
    content.insert("multipart/form-data".to_owned(), json!({ "schema": { "type": "object" } }));
    Value::Object(content)
}

fn request() -> Value {
    let columns = |description: &str| {
        json!({
            "type": "object",
            "description": description,
            "additionalProperties": {
                "type": "array",
                "items": { "type": ["string", "number", "boolean", "null"] },
            },
        })
    };
    let numbers = |description: &str| json!({ "type": "array", "items": { "type": "number" }, "description": description });
    let of = |kind: &str, description: &str| json!({ "type": kind, "description": description });
    json!({
        "type": "object",
        "required": ["data"],
        "additionalProperties": false,
        "description": "Beside tables in other forms, fields stand in the query or in the form",
        "properties": {
            "model": of("string", "The model; not needed where there is only one. auto: models that suit the data are fitted for the request"),
            "data": columns("The series, a row per series and time, columns named as in training"),
            "static": columns("A row per series, with the columns that do not change over time"),
            "future": columns("Future rows of the columns that are known in advance"),
            "h": of("integer", "Steps to forecast or explain, the model's own by default (not /v1/cross-validate)"),
            "level": numbers("Central intervals in percent, as 80"),
            "quantiles": numbers("Quantiles between 0 and 1, in place of level"),
            "intervals": of("string", "Calibrates intervals on these data: N[:METHOD[:STEP]]"),
            "budget": of("string", "Time for the search of model auto, as 10s (/v1/forecast alone)"),
            "strict": of("boolean", "Whether too short a history is an error"),
            "end": of("string", "Series that end before others: common, masked or drop"),
            "reading": of("object", "How the tables are read, where that is not as in training"),
            "n_windows": of("integer", "Forecasts of each series (/v1/cross-validate alone)"),
            "step_size": of("integer", "Steps from one forecast to the next (/v1/cross-validate alone)"),
            "method": of("string", "integrated-gradients, the default, input-x-gradient or shapley-sampling (/v1/explain alone)"),
            "points": of("integer", "Points of integrated gradients (/v1/explain alone)"),
            "samples": of("integer", "Orders that are drawn, of Shapley values (/v1/explain alone)"),
            "seed": of("integer", "Seed of these orders (/v1/explain alone)"),
            "output": of("integer", "The output that is explained, from 0 (/v1/explain alone)"),
            "only": json!({
                "type": "array",
                "items": { "type": "string" },
                "description": "The networks that are explained, by their columns (/v1/explain alone)",
            }),
        },
    })
}

fn answer() -> Value {
    json!({
        "type": "object",
        "required": ["model", "columns", "forecasts", "warnings"],
        "properties": {
            "model": { "type": "string" },
            "forecasts": {
                "type": "array",
                "description": "The columns of each model: its point forecast, and the ends of its intervals, the widest first",
                "items": {
                    "type": "object",
                    "required": ["model", "point", "intervals"],
                    "properties": {
                        "model": { "type": "string" },
                        "point": { "type": ["string", "null"] },
                        "intervals": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["level", "low", "high"],
                                "properties": {
                                    "level": { "type": "number", "description": "In percent" },
                                    "low": { "type": "string" },
                                    "high": { "type": "string" },
                                },
                            },
                        },
                    },
                },
            },
            "columns": {
                "type": "object",
                "description": "Ids, times, and a column per output of the model; what is no finite number is null",
                "additionalProperties": { "type": "array" },
            },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
    })
}

fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "code", "message"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string", "description": "What was expected, what was found, where, and what to do" },
            "code": { "type": "string", "description": "The kind of the error, as docs/errors.md lists them" },
            "setting": { "type": ["string", "null"], "description": "The field or hyper-parameter to change" },
            "file": { "type": ["string", "null"] },
            "row": { "type": ["integer", "null"], "description": "The line of a text from 1, else the row from 0" },
            "column": { "type": ["string", "null"] },
            "series": { "type": ["string", "null"] },
            "advice": { "type": ["string", "null"], "description": "What to do: the end of the message" },
            "message": { "type": "string", "description": "The detail" },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields;

    #[test]
    fn the_description_has_the_fields_of_requests() {
        let document = document();
        let properties = document["components"]["schemas"]["Request"]["properties"].as_object().unwrap();
        let mut described: Vec<String> = properties.keys().cloned().collect();
        let mut read = fields::names();
        described.sort();
        read.sort();
        assert_eq!(described, read);
    }
    #[test]
    fn the_description_has_all_addresses() {
        let document = document();
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.len(), ADDRESSES.len());
        for Address { method, path, guarded } in ADDRESSES {
            let operation = &paths[path][method];
            assert_eq!(operation["security"].is_array(), guarded, "{path}");
            assert_eq!(operation["requestBody"].is_object(), method == "post", "{path}");
        }
    }
}
