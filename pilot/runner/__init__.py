"""The processes that run jobs: one that loads cwltool once and forks the others, and one for each
slot."""
