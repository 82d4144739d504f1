#include <device_headers.h>

int main() { return mirage::device_headers_hash().size() == 32 ? 0 : 1; }
