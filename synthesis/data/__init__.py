"""Files that are installed with the package; ``NOTICE`` says where they come from."""
