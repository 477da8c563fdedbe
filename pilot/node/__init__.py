"""What the node has: cores, memory, disk, GPUs, engines of containers, groups limiting memory."""
