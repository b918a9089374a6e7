"""C compiled, its failures read (``reading``), classified (``classifying``) and cured where facts allow (``curing``)."""
