// Memory limit and use of the container that this process runs in.
#ifndef AGENT_CONTAINER_MEMORY_H_
#define AGENT_CONTAINER_MEMORY_H_

#include <cstdint>
#include <string>

namespace dynatrain::agent {

struct ContainerMemory {
  uint64_t limit_bytes = 0;  // 0 if there is none
  uint64_t used_bytes = 0;   // without what the kernel can drop at once
};

// Reads cgroup v2's memory.max and memory.current, or v1's
// memory.limit_in_bytes and memory.usage_in_bytes, of this process's own group
// below `root` or, as a container sees its own at the top, of `root` itself.
// Inactive file pages are subtracted from the use, as kubelet does.
// `membership` is the text of /proc/self/cgroup. All zero if there is neither.
ContainerMemory ReadContainerMemory(const std::string& root,
                                    const std::string& membership);

// Of this process: /sys/fs/cgroup and /proc/self/cgroup.
ContainerMemory ReadContainerMemory();

}  // namespace dynatrain::agent

#endif  // AGENT_CONTAINER_MEMORY_H_
