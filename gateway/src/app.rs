//! The whole product in one router.

use crate::{
    data::{self, DataDir},
    local_routes,
};
use anyhow::Context as _;
use axum::Router;
use boot::{Config, Services};
use domain::AccountId;
use fn_api_tools::ApiToolsState;
use fn_apps::{AppsState, DeclaredField, StudioState};
use fn_assembly::{AssemblyState, Description};
use fn_debugger::DebuggerState;
use fn_mcp_tools::McpToolsState;
use fn_workflows::WorkflowsState;
use secrecy::SecretString;
use utoipa::openapi::{
    Info, OpenApi, Paths,
    security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
};
use utoipa_axum::router::OpenApiRouter;

/// Everything, ready to be served.
pub struct App {
    /// All routes, with the layers around them.
    pub router: Router,
    /// What stands behind them.
    pub services: Services,
    /// The first account.
    pub account: AccountId,
    /// Its admin key.
    pub admin_key: SecretString,
    /// The installation was made just now.
    pub is_new: bool,
}

impl App {
    /// Opens the store that the configuration names; on the first start, makes account and admin key.
    pub async fn open(config: &Config, data: &DataDir) -> anyhow::Result<Self> {
        let services = Services::start(config).await.context("the services do not start")?;
        let first = data::first_start(&services, data, config.admin_key.as_ref()).await?;
        let router = router(&services)?;
        Ok(Self {
            router,
            services,
            account: first.account,
            admin_key: first.admin_key,
            is_new: first.is_new,
        })
    }

    /// Writes what waits to be written and ends the processes that were started.
    pub async fn close(&self) {
        self.services.shutdown().await;
    }
}

/// The OpenAPI description of all routes, as pretty JSON with a final newline.
pub fn description_of(api: &OpenApi) -> anyhow::Result<String> {
    Ok(api.to_pretty_json()? + "\n")
}

fn router(services: &Services) -> anyhow::Result<Router> {
    let description = Description::default();
    let functions = OpenApiRouter::with_openapi(base())
        .merge(fn_assembly::router(assembly_state(services, description.clone())))
        .merge(fn_api_tools::router(ApiToolsState { service: services.api_tools.clone() }))
        .merge(fn_mcp_tools::router(McpToolsState {
            servers: services.mcp_servers.clone(),
            assembler: services.assembler.clone(),
        }))
        .merge(fn_workflows::router(WorkflowsState { service: services.workflows.clone() }))
        .merge(fn_apps::router(apps_state(services)))
        .merge(fn_apps::studio_router(studio_state(services)))
        .merge(fn_debugger::router(DebuggerState { chat: services.studio.chat.clone() }))
        .merge(local_routes::router(services));
    let (router, api) = functions.split_for_parts();
    description.set(description_of(&api)?);
    Ok(http_kit::stack(router, services.keys.clone()))
}

fn assembly_state(services: &Services, description: Description) -> AssemblyState {
    AssemblyState {
        assembler: services.assembler.clone(),
        listers: services.listers.clone(),
        blobs: services.blobs.clone(),
        table: services.table.clone(),
        clock: services.clock.clone(),
        description,
    }
}

fn apps_state(services: &Services) -> AppsState {
    AppsState {
        keys: services.keys.clone(),
        credentials: services.credentials.clone(),
        declared: |provider| {
            let fields = providers::catalogue::credentials(provider)?;
            let field = |f: &providers::runtime::Param| DeclaredField { name: f.name, required: f.required };
            Some(fields.iter().map(field).collect())
        },
    }
}

fn studio_state(services: &Services) -> StudioState {
    StudioState {
        apps: services.studio.apps.clone(),
        models: services.studio.models.clone(),
        knowledge: services.studio.knowledge.clone(),
        keys: services.keys.clone(),
        blobs: services.blobs.clone(),
    }
}

fn base() -> OpenApi {
    let mut info = Info::new("Haft", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "One handle for every tool of an agent: builtin tools, HTTP APIs, MCP servers and workflows, assembled by reference \
         and called on one road. Refusals are problem documents (RFC 9457) with a stable `code`."
            .to_owned(),
    );
    let mut api = OpenApi::new(info, Paths::new());
    let mut key = Http::new(HttpAuthScheme::Bearer);
    key.description = Some("An API key: `Authorization: Bearer KEY`".to_owned());
    let components = api.components.get_or_insert_default();
    components.schemas.extend(http_kit::ProblemDocument::components());
    components.add_security_scheme("key", SecurityScheme::Http(key));
    api.security = Some(vec![SecurityRequirement::new("key", Vec::<String>::new())]);
    api
}
