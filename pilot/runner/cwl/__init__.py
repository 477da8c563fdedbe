"""cwltool as a library: documents loaded, its access to files and its sentences made ours."""
