# `./dev package` makes a .deb of the whole install tree. dpkg-shlibdeps writes which libraries it needs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME corun)
set(CPACK_PACKAGE_CONTACT "Corun maintainers <maintainers@corun.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulates programs that share one GPU")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Programs are captured alone and replayed together against a model of the GPU, under sharing policies.
 Holds simcli, simtrace, the Python package and what C++ policies are built with.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(TARGET corun_python)  # compiled for one version of Python
  math(EXPR next_minor "${CORUN_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.${CORUN_PYTHON_MINOR}), python3 (<< 3.${next_minor})")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-pandas, python3-matplotlib")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libfmt-dev, python3-tqdm")
include(CPack)
