# SPDX-License-Identifier: BSD-3-Clause
#[[
find_package(vftrace [COMPONENTS openmpi|mpich]) defines

  vftrace::vftrace   the library; what links to it is compiled with instrumented functions
  vftrace::api       the library alone, for regions, MPI and OpenMP
  vftrace::openmpi, vftrace::openmpi_api    the same for programs that use Open MPI
  vftrace::mpich, vftrace::mpich_api        ... MPICH or one that is like it
  vftrace_MODULE_SOURCE   Fortran's module, for other compilers than gfortran

In target_link_libraries() they stand before the MPI. The folder may be moved.
]]
get_filename_component(_vftrace_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(vftrace_MODULE_SOURCE "${_vftrace_prefix}/share/vftrace/vftrace.f90")
set(_vftrace_hooks
	$<$<COMPILE_LANG_AND_ID:C,NVHPC,PGI>:-Minstrument=functions>
	$<$<COMPILE_LANG_AND_ID:CXX,NVHPC,PGI>:-Minstrument=functions>
	$<$<COMPILE_LANG_AND_ID:Fortran,NVHPC,PGI>:-Minstrument=functions>
	$<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<C_COMPILER_ID:NVHPC,PGI>>>:-finstrument-functions>
	$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-finstrument-functions>
	# a file: in it is a name with < that shells and generators would take for theirs
	$<$<COMPILE_LANG_AND_ID:CXX,GNU>:@${_vftrace_prefix}/share/vftrace/gcc-c++.options>
	$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang,IntelLLVM>:-finstrument-functions-after-inlining>
	$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CXX_COMPILER_ID:NVHPC,PGI,GNU,Clang,AppleClang,IntelLLVM>>>:-finstrument-functions>
	$<$<AND:$<COMPILE_LANGUAGE:Fortran>,$<NOT:$<Fortran_COMPILER_ID:NVHPC,PGI,LLVMFlang,Flang>>>:-finstrument-functions>)

# NAME of the target, LIBRARY without lib and .so
function(_vftrace_target NAME LIBRARY)
	set(file "${_vftrace_prefix}/lib/lib${LIBRARY}.so")
	if(TARGET vftrace::${NAME} OR NOT EXISTS "${file}")
		return()
	endif()
	if(NAME STREQUAL "vftrace")
		set(api api)
	else()
		set(api ${NAME}_api)
	endif()
	add_library(vftrace::${api} INTERFACE IMPORTED)
	set_target_properties(vftrace::${api} PROPERTIES
		INTERFACE_INCLUDE_DIRECTORIES "${_vftrace_prefix}/include"
		# as-needed linkers would drop it: the C library has hooks, too
		INTERFACE_LINK_LIBRARIES "-Wl,--no-as-needed;${file}")
	add_library(vftrace::${NAME} INTERFACE IMPORTED)
	set_target_properties(vftrace::${NAME} PROPERTIES
		INTERFACE_COMPILE_OPTIONS "${_vftrace_hooks}"
		INTERFACE_LINK_LIBRARIES vftrace::${api})
endfunction()

_vftrace_target(vftrace vftrace)
_vftrace_target(openmpi vftrace-openmpi)
_vftrace_target(mpich vftrace-mpich)

foreach(_vftrace_component ${vftrace_FIND_COMPONENTS})
	set(vftrace_${_vftrace_component}_FOUND FALSE)
	if(TARGET vftrace::${_vftrace_component})
		set(vftrace_${_vftrace_component}_FOUND TRUE)
	elseif(vftrace_FIND_REQUIRED_${_vftrace_component})
		set(vftrace_FOUND FALSE)
		set(vftrace_NOT_FOUND_MESSAGE "vftr was built without ${_vftrace_component}")
	endif()
endforeach()
