"""Each paper's procedure in plain pandas, some simplified: what one would write first."""
