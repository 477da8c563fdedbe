"""The checks that cwltool makes, used as a library, with its messages in our words."""
