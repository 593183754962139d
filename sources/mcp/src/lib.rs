//! source-mcp.
