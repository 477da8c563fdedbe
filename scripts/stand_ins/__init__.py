"""Public workflows with stand-ins for their tools, run as templates and by cwltool."""
