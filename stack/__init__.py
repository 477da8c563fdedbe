"""The system of docker-compose.yml as plain processes of this machine: the same commands with the
same settings, no containers.

``python -m stack up --folder F`` runs it. What a container engine would give is given by:
``network`` and ``links`` (the network and its names), ``orders`` (paths, names and secrets inside a
container → outside), ``supervisor`` (restart policy, health checks).
"""
