//! Tests of the workspace through its public interfaces
