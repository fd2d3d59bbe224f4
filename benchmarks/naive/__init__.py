"""Each paper's pseudocode to the letter, in pandas: what one would write first. No code of ours."""
