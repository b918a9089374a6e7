"""Labels, thresholds and exports: what is learnt from the calls of earlier runs."""
