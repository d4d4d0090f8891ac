// Gives a fuzz target the files that are named, each once: what libFuzzer's own
// main does with them, for builds without it.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    // In case it dies: this is the input that did it.
    std::fprintf(stderr, "%s\n", argv[i]);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()),
                           text.size());
  }
  std::printf("%d inputs\n", argc - 1);
  return argc > 1 ? 0 : 1;
}
