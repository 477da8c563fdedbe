"""The checks of cwltool, used as a library, with its messages reworded."""
