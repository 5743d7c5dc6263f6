# Builds for 64-bit ARM on another machine: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake ...
# Needs the cross compiler and the libraries of that architecture, on Debian gcc-aarch64-linux-gnu and lib...-dev:arm64,
# and for the tests qemu-user-static.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# Tests and the programs that they start run in the emulator.
find_program(FSL_EMULATOR qemu-aarch64-static)
if(FSL_EMULATOR)
	set(CMAKE_CROSSCOMPILING_EMULATOR ${FSL_EMULATOR})
endif()
