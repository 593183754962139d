//! Arguments on their way back to the original schema.

use domain::dialect::{Dialect, project, restore};
use domain::schema::Schema;
use serde_json::{Value, json};

fn sample() -> Value {
    json!({
        "type": "object",
        "required": ["must"],
        "properties": {
            "must": {"type": ["string", "null"]},
            "opt": {"type": "integer"},
            "may_be_null": {"type": ["integer", "null"]},
            "any": {},
            "filter[name]": {"type": "string"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/item"}},
            "union": {"anyOf": [{"$ref": "#/$defs/item"}, {"type": "string"}]},
            "whole": {"allOf": [{"$ref": "#/$defs/item"}, {"properties": {"more": {"type": "string"}}}]},
            "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/item"}}
        },
        "$defs": {"item": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "$b": {"type": "string"}, "next": {"$ref": "#/$defs/item"}}
        }}
    })
}

#[test]
fn nulls_that_stand_for_nothing_are_dropped() {
    let table = [
        (json!({"must": null, "opt": null}), json!({"must": null})),
        (
            json!({"must": "x", "may_be_null": null, "any": null}),
            json!({"must": "x", "may_be_null": null, "any": null}),
        ),
        (json!({"list": [{"a": null, "next": {"a": null}}]}), json!({"list": [{"next": {}}]})),
        (json!({"union": {"a": null}}), json!({"union": {}})),
        (json!({"whole": {"a": null, "more": null}}), json!({"whole": {}})),
        (json!({"map": {"k": {"a": null}}}), json!({"map": {"k": {}}})),
        (json!({"unknown": null}), json!({"unknown": null})),
        (json!(null), json!(null)),
    ];
    for (written, wanted) in table {
        let mut args = written.clone();
        restore(&mut args, &sample(), Dialect::OpenAiStrict);
        assert_eq!(args, wanted, "from {written}");
    }
}

#[test]
fn names_come_back() {
    for dialect in [Dialect::Anthropic, Dialect::Bedrock] {
        let shown = project(&sample(), dialect).unwrap().schema;
        let name_of = |schema: &Value, start: &str| {
            let properties = schema["properties"].as_object().unwrap();
            properties.keys().find(|name| name.starts_with(start)).unwrap().clone()
        };
        let filter = name_of(&shown, "filter_name_");
        let item = name_of(&project(&sample()["$defs"]["item"], dialect).unwrap().schema, "b_");
        let mut args = json!({
            "must": "x", &filter: "f", "list": [{&item: "c"}], "whole": {&item: "d"}, "map": {"k": {&item: "e"}}
        });
        restore(&mut args, &sample(), dialect);
        let wanted = json!({
            "must": "x", "filter[name]": "f", "list": [{"$b": "c"}], "whole": {"$b": "d"}, "map": {"k": {"$b": "e"}}
        });
        assert_eq!(args, wanted);
        assert!(Schema::new(sample()).is_valid(&args).unwrap());
    }
}

#[test]
fn a_tangled_schema_ends() {
    let tangled = json!({
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/t"}},
        "$defs": {"t": {"anyOf": [{"$ref": "#/$defs/t"}, {"allOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}]}]}}
    });
    let mut args = json!({"x": null});
    restore(&mut args, &tangled, Dialect::OpenAiStrict);
    assert_eq!(args, json!({"x": null}));
}
