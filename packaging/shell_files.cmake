# corun_install_shell_files(PROGRAM): the manual page and the completions that the program writes of itself, made when
# it is installed.
function(corun_install_shell_files program)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/shell)
  foreach(file_and_words "${program}.1|man" "${program}|completion|bash" "${program}.fish|completion|fish")
    string(REPLACE "|" ";" words "${file_and_words}")
    list(POP_FRONT words file)
    string(REPLACE ";" " " words "${words}")
    string(APPEND commands "execute_process(COMMAND \"$<TARGET_FILE:${program}>\" ${words}
      OUTPUT_FILE \"${made}/${file}\" COMMAND_ERROR_IS_FATAL ANY)\n")
  endforeach()
  install(CODE "file(MAKE_DIRECTORY \"${made}\")\n${commands}" COMPONENT shell)
  install(FILES ${made}/${program}.1 DESTINATION share/man/man1 COMPONENT shell)
  install(FILES ${made}/${program} DESTINATION share/bash-completion/completions COMPONENT shell)
  install(FILES ${made}/${program}.fish DESTINATION share/fish/vendor_completions.d COMPONENT shell)
endfunction()
