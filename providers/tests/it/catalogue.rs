//! What the registry offers, as it is shown.

use providers::catalogue;
use serde_json::Value;

#[test]
fn the_catalogue_is_complete_and_in_order() {
    let providers: Vec<_> = catalogue::providers().collect();
    let names: Vec<_> = providers.iter().map(|provider| provider.name).collect();
    assert!(names.starts_with(&["time", "calculator"]), "in the order of providers.yaml: {names:?}");
    for provider in &providers {
        assert!(catalogue::categories().iter().any(|category| category.category == provider.category));
        let icon = catalogue::icon(provider.name).unwrap();
        assert!(icon.bytes.starts_with(b"<svg") && icon.media_type == "image/svg+xml");
        for tool in &provider.tools {
            let detail = catalogue::tool(provider.name, tool.name).unwrap();
            assert_eq!(detail.provider.name, provider.name);
            assert!(tool.inputs.iter().all(|input| !input.description.is_empty()), "{}", tool.name);
        }
    }
    assert!(catalogue::icon("nothing").is_none() && catalogue::tool("time", "nothing").is_none());
    assert_eq!(
        catalogue::specs().count(),
        providers.iter().map(|provider| provider.tools.len()).sum::<usize>()
    );
}

#[test]
fn a_tool_is_shown_with_params_inputs_and_schema() {
    insta::assert_json_snapshot!("current_time", catalogue::tool("time", "current_time").unwrap());
    insta::assert_json_snapshot!("fetch_page", catalogue::tool("web", "fetch_page").unwrap());
}

#[test]
fn schemas_are_closed_objects_that_compile() {
    for (provider, spec) in catalogue::specs() {
        let schema = spec.args_schema.value();
        spec.args_schema.check().unwrap();
        assert_eq!(schema["type"], "object", "{provider}/{}", spec.name);
        assert_eq!(schema["additionalProperties"], Value::Bool(false), "{provider}/{}", spec.name);
        assert!(schema.get("title").is_none());
    }
}
