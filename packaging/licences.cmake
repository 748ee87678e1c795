# Licences of the libraries that the programs are built with. Code of all of them is in the programs, be it of headers
# alone; wheels hold those that are shared, too. Debian keeps each text in its package; elsewhere only that of Chart.js
# is installed.
file(STRINGS ${PROJECT_SOURCE_DIR}/packages.txt lines REGEX "^[a-z[]")
set(section "")
foreach(line ${lines})
  if(line MATCHES "^\\[(.*)\\]$")
    set(section ${CMAKE_MATCH_1})
  elseif(section STREQUAL "build" AND line MATCHES "-dev$" AND EXISTS "/usr/share/doc/${line}/copyright")
    install(FILES /usr/share/doc/${line}/copyright DESTINATION share/doc/corun/licences RENAME ${line}.txt
      COMPONENT programs)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/packaging/licences/chart.js.txt DESTINATION share/doc/corun/licences
  COMPONENT programs)
