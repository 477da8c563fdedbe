"""The system of docker-compose.yml as plain processes: same commands and settings, no containers.

``python -m stack up --folder F`` runs it. These modules replace a container engine: ``network`` and
``links`` (the network and its names), ``process_spec`` (paths, names and secrets of a container),
``supervisor`` (restart policy, health checks).
"""
