//! The description of the addresses that `/openapi.json` gives.

use serde_json::{Map, Value, json};

use crate::address::{ADDRESSES, Address};
use crate::fields::{FIELDS, FieldEntry, FieldKind};
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
        "/v1/explain" => {
            ("What each input of networks, or each model of Auto, contributes to forecasts", tables())
        }
        "/v1/look" => {
            ("How the data are read, and the last rows of each series; nothing is forecast", tables())
        }
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
    let content: Map<String, Value> = MediaType::written()
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
    let properties: Map<String, Value> =
        FIELDS.iter().map(|entry| (entry.name.to_owned(), schema(entry))).collect();
    json!({
        "type": "object",
        "required": ["data"],
        "additionalProperties": false,
        "description": "Beside tables in other forms, fields stand in the query or in the form",
        "properties": properties,
    })
}

fn schema(entry: &FieldEntry) -> Value {
    let mut schema = match entry.kind {
        FieldKind::Table => json!({
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": { "type": ["string", "number", "boolean", "null"] },
            },
        }),
        FieldKind::Text => json!({ "type": "string" }),
        FieldKind::Whole => json!({ "type": "integer" }),
        FieldKind::Flag => json!({ "type": "boolean" }),
        FieldKind::Numbers => json!({ "type": "array", "items": { "type": "number" } }),
        FieldKind::Names => json!({ "type": "array", "items": { "type": "string" } }),
        FieldKind::Object => json!({ "type": "object" }),
    };
    schema["description"] = entry.description().into();
    schema
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
            "understood": understood(),
            "board": board(),
        },
    })
}

fn understood() -> Value {
    let text = |meaning: &str| json!({ "type": ["string", "null"], "description": meaning });
    let texts =
        |meaning: &str| json!({ "type": "array", "items": { "type": "string" }, "description": meaning });
    let count = |meaning: &str| json!({ "type": "integer", "description": meaning });
    json!({
        "type": "object",
        "description": "How the data were read: of /v1/look, and of a forecast without a model",
        "properties": {
            "id_col": text("The column of the ids, if there is one"),
            "time_col": text("The column of the times, if it is one"),
            "target_col": text("The column of the values, if it is one"),
            "columns": texts("All columns of the data"),
            "unread": texts("Those that were not read"),
            "freq": { "type": "string", "description": "The frequency, in the words of pandas" },
            "seasons": {
                "type": "array",
                "items": { "type": "integer" },
                "description": "In steps, the main one first; 1 for none",
            },
            "series": count("Series"),
            "rows": count("Rows of all series"),
            "fewest": count("Rows of the shortest series"),
            "notes": texts("What a reader of the data should know"),
        },
    })
}

fn board() -> Value {
    json!({
        "type": "object",
        "description": "What was tried for a forecast without a model",
        "properties": {
            "sentence": { "type": "string", "description": "What to expect" },
            "rows": {
                "type": "array",
                "description": "What is combined, then the models from the best to the worst",
                "items": {
                    "type": "object",
                    "properties": {
                        "model": { "type": "string" },
                        "mase": { "type": ["number", "null"] },
                        "scaled_crps": { "type": ["number", "null"] },
                        "coverage": { "type": ["number", "null"], "description": "Of the interval of 80 %" },
                        "seconds": { "type": "number" },
                        "weight": { "type": "number", "description": "In the forecast" },
                    },
                },
            },
            "is_honest": { "type": "boolean", "description": "Whether the scores are of a window that chose nothing" },
            "left_out": { "type": "array", "description": "Models that were not tried, and why" },
            "told": { "type": "array", "items": { "type": "string" } },
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
            "columns": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The columns that may be meant, of `unclear_column` and `missing_column`",
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_described_with_their_addresses() {
        let document = document();
        let properties = &document["components"]["schemas"]["Request"]["properties"];
        assert_eq!(properties.as_object().unwrap().len(), FIELDS.len());
        for (field, kind, end) in [
            ("h", "integer", "by default (/v1/forecast, /v1/explain)"),
            ("static", "object", "over time"),
            ("only", "array", "(/v1/explain alone)"),
        ] {
            let description = properties[field]["description"].as_str().unwrap();
            assert!(
                properties[field]["type"] == kind && description.ends_with(end),
                "{field}: {description}"
            );
        }
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
