//! The example workflows of the documentation, run as they stand but for the ids of providers.

use crate::support::World;
use domain::{ToolError, ToolOutput};
use serde_json::{Value, json};
use source_workflow::{NodeStatus, validate};

fn example(name: &str) -> Value {
    let path = format!("{}/../../docs/examples/workflows/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Stores and publishes an example under its own name.
async fn publish(world: &World, name: &str, ids: &[(&str, &str)]) -> String {
    let mut file = example(name);
    let mut graph = file["graph"].take();
    for (provider, id) in ids {
        graph = serde_json::from_str(
            &graph
                .to_string()
                .replace(&format!("\"provider_id\":\"{provider}\""), &format!("\"provider_id\":\"{id}\"")),
        )
        .unwrap();
    }
    file.as_object_mut().unwrap().remove("graph");
    let workflow = world.service.create(&world.account, serde_json::from_value(file).unwrap()).await.unwrap();
    let (_, problems) = world.service.put_draft(&world.account, &workflow.id, graph).await.unwrap();
    assert_eq!(problems, [], "{name}");
    world.service.publish(&world.account, &workflow.id).await.unwrap();
    workflow.id
}

/// A world with the tools that the examples call.
fn world() -> World {
    let world = World::new();
    world.api.add("catalogue", "get_item", &["id"], |args, _| async move {
        match args["id"].as_str().unwrap() {
            "kettle" => {
                let item = json!({"name": "Kettle", "price": 24.5, "currency": "EUR"});
                Ok(ToolOutput::structured(item.to_string(), item))
            }
            _ => Err(ToolError::Upstream { status: 404, body: "no such item".into() }),
        }
    });
    world.builtin.add("calculator", "evaluate", &["expression"], |args, _| async move {
        assert_eq!(args["expression"], "30 / 12 to fraction");
        Ok(ToolOutput::text_of("2 1/2"))
    });
    world.mcp.add("everything", "echo", &["message"], |args, _| async move {
        match args["message"].as_str().unwrap() {
            "" => Ok(ToolOutput::failed("nothing to echo")),
            note => Ok(ToolOutput::text_of(format!("Echo: {note}"))),
        }
    });
    world
}

async fn run(world: &World, id: &str, inputs: Value) -> Value {
    let mut run = world.service.run(&world.account, id, inputs, &world.cx()).await.unwrap();
    let output = run.output().await.unwrap();
    assert!(!output.is_error, "{}", output.text());
    output.structured.unwrap()
}

#[test]
fn each_example_is_valid() {
    for name in ["price_of_item", "order_summary", "price_basket"] {
        assert_eq!(validate::check(&example(name)["graph"]).1, [], "{name}");
    }
}

#[tokio::test]
async fn a_line_of_an_api_tool_and_a_template() {
    let world = world();
    let id = publish(&world, "price_of_item", &[]).await;
    let got = run(&world, &id, json!({"item_id": "kettle"})).await;
    assert_eq!(got, json!({"sentence": "Kettle costs 24.50 EUR.", "price": 24.5}));
}

#[tokio::test]
async fn three_tools_of_different_kinds_side_by_side() {
    let world = world();
    let id = publish(&world, "order_summary", &[]).await;
    let got = run(&world, &id, json!({"item_id": "kettle", "quantity": 30, "note": "soon"})).await;
    assert_eq!(got, json!({"summary": "30 x Kettle (2 1/2 dozen) = 735.00 EUR\nEcho: soon"}));
    let got = run(&world, &id, json!({"item_id": "kettle", "quantity": 30})).await;
    assert!(got["summary"].as_str().unwrap().ends_with("\n(no note)"));
}

#[tokio::test]
async fn an_iteration_with_a_condition_calls_another_workflow_as_a_tool() {
    let world = world();
    let price = publish(&world, "price_of_item", &[]).await;
    let id = publish(&world, "price_basket", &[("price_of_item", &price)]).await;
    let basket = json!([{"id": "kettle", "quantity": 2}, {"id": "kettle", "quantity": 11}, {"id": "unicorn", "quantity": 1}]);
    let got = run(&world, &id, json!({"basket": basket})).await;
    assert_eq!(got["list"], "- Kettle costs 24.50 EUR.\n- kettle: 11 are too many, at most 10.\nLeft out: 2");
    assert_eq!(got["left_out"][0]["node_id"], "price");
    let (runs, _) = world.service.runs(&world.account, &id, 1, None).await.unwrap();
    let record = world.service.run_record(&world.account, &id, &runs[0].id).await.unwrap();
    let failed: Vec<_> = record.nodes.iter().filter(|n| n.status == NodeStatus::Failed).collect();
    assert_eq!((failed.len(), failed[0].iteration.to_vec()), (1, vec![2]));
}
