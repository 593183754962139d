//! fn-mcp-tools.
