"""The requirement of a tool that asks for network access."""

ASKING = {"NetworkAccess": {"networkAccess": True}}
