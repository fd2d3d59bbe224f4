"""The pages of the workbench: each parses what was sent, asks `jobs`, and shows what came."""
