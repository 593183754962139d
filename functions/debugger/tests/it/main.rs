//! The routes of apps, models, datasets and the debugger, behind the layers that every function has.

mod routes;
mod support;
