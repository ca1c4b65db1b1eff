"""The data sets that ship as presets, a TOML file each; `segbench.loaders.presets` reads them."""
