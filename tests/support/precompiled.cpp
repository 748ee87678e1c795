// What tests include most is compiled once, with this file.
