"""Resources of the node: cores, memory, disk, GPUs, container engines and control groups."""
