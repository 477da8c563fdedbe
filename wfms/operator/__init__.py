"""The operator service of the WfMS.

It stores the templates, shows people and scripts the state of the other services, and forwards
their requests to these services.
"""
