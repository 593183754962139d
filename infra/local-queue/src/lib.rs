//! infra-local-queue.
