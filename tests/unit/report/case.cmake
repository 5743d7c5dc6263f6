# The case of every bundled data set against its JSON Schema. Included by tests/CMakeLists.txt.
find_program(PYTHON3 python3)
if(PYTHON3)
	add_test(NAME unit.case_schema COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/check_case.py
		${CMAKE_BINARY_DIR}/failslow ${CMAKE_SOURCE_DIR})
	set_tests_properties(unit.case_schema PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
