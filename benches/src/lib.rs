//! What the benchmarks stand on: a real store with tools of each kind in it, and a count of its reads.

mod counting;
mod mcp_server;
mod world;

pub use counting::CountingTable;
pub use mcp_server::serve;
pub use world::World;
